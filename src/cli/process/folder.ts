/** The folders and files that the commands write: one clear line when they cannot be written. */
import { createReadStream } from "node:fs";
import { chmod, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { CommandError } from "./command.ts";

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of its path is a file, not a folder",
  EEXIST: "it is a file, not a folder",
  EISDIR: "it is a folder, not a file",
  ENOENT: "its file system does not allow it",
  ERR_FS_FILE_TOO_LARGE: "it is too large",
};

/** One line about the file or folder; any other error stays as it is. */
function toCommandError(error: unknown, what: string, act = "write to"): unknown {
  const { code = "", syscall } = (error ?? {}) as NodeJS.ErrnoException;
  const reason = REASONS[code] ?? (syscall && "the system refuses it");
  if (reason === undefined) return error;
  return new CommandError(`Cannot ${act} ${what}: ${reason} (${code}).`);
}

/** The text of a file; null where there is none. Throws a CommandError for one that cannot be read. */
export const readIfThere = (file: string): Promise<string | null> =>
  readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw toCommandError(error, file, "read");
  });

/** The lines of a file that each end with a line feed. `node:readline` would also split at U+2028, which JSON may contain. */
export async function* linesOf(file: string): AsyncGenerator<string, void, void> {
  let partial = "";
  for await (const chunk of createReadStream(file, { encoding: "utf8", highWaterMark: 1024 * 1024 })) {
    const lines = (partial + chunk).split("\n");
    partial = lines.pop() ?? "";
    yield* lines;
  }
  if (partial !== "") yield partial;
}

/** Writes a file that only its owner can read. Throws a CommandError when that is not possible. */
export async function writePrivateFile(file: string, content: string): Promise<void> {
  try {
    await writeFile(file, content, { mode: 0o600 });
    await chmod(file, 0o600); // the mode above only counts for a new file
  } catch (error) {
    throw toCommandError(error, file);
  }
}

/** Makes files of this process and its children readable for their owner only, from now on. */
export const createPrivately = (): void => {
  process.umask(0o077);
};

/** Like {@link makeWritableFolder}, also private where an earlier version made it. */
export async function makePrivateFolder(folder: string): Promise<void> {
  await makeWritableFolder(folder);
  await chmod(folder, 0o700).catch(() => undefined); // a volume may be another user's
}

/** Makes the folder and its parents where they are missing. Throws a CommandError when it cannot be written to. */
export async function makeWritableFolder(folder: string): Promise<void> {
  const probe = path.join(folder, `.probe-${process.pid}`);
  try {
    await makeFolder(folder);
    await writeFile(probe, "");
    await rm(probe, { force: true }); // another check of the same folder may have removed it
  } catch (error) {
    throw toCommandError(error, `the folder ${folder}`);
  }
}

/** `mkdir` with `recursive` never returns below /proc, where parents exist but take no folders. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const parent = path.dirname(folder);
    if (code === "ENOENT" && !(await exists(parent))) {
      await makeFolder(parent);
      await mkdir(folder);
    } else if (!(await isFolder(folder))) throw error;
  }
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

const isFolder = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isDirectory(),
    () => false,
  );
