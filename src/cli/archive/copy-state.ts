/** Copies a state folder while a service uses it. The copy is a state folder as well: a service can be started on it. */
import { copyFile, mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { unusedNumber } from "@atrium/contract/time.ts";
import { skipNumbers } from "./copied-object-store.ts";

/** Guards against hanging; a service writes for milliseconds. */
const BUSY_MS = 60_000;
/** Copies a database in one step, as of one moment. Writers do not wait for it. */
const ALL_PAGES = 2 ** 31 - 1;

const DATABASE = ".sqlite";
/** SQLite's companions of a database, which it restores itself, and files of one running service. */
const OMITTED = /\.sqlite-(?:wal|shm|journal)$|^lock\.(?:sqlite|json)$|^v3\/(?:cache|ratelimit)\//;

/**
 * Sources before their consumers: a change on its way is then in the copy of the first or of both, where the second ignores
 * it. D1 feeds rooms, rooms feed subscribers and the event log; the bytes of files follow their rows.
 */
const ORDER = [
  /^v3\/d1\//,
  /^v3\/do\/[^/]*RoomObject\//,
  /^v3\/do\//,
  /^v3\/r2\/miniflare-R2BucketObject\//,
  /^v3\/r2\//,
];

/** The place of a file in the order; other kinds come last. */
const rankOf = (file: string): number => {
  const rank = ORDER.findIndex((pattern) => pattern.test(file));
  return rank === -1 ? ORDER.length : rank;
};

/** The files of a state folder in the order of the copy. */
export const inOrder = (files: readonly string[]): string[] =>
  files.filter((file) => !OMITTED.test(file)).toSorted((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1));

/** Copies `from` to `to`, kind by kind. Returns the number of copied files. */
export async function copyState(
  from: string,
  to: string,
  { onProgress, stop }: { readonly onProgress: (files: number) => void; readonly stop: AbortSignal },
): Promise<number> {
  const copied = new Set<string>();
  for (let rank = 0; rank <= ORDER.length; rank += 1) {
    for (const file of inOrder(await filesIn(from)).filter((each) => rankOf(each) === rank)) {
      stop.throwIfAborted();
      if (await copyOne(from, to, file)) copied.add(file);
      onProgress(copied.size);
    }
  }
  return copied.size;
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/"));
}

/** False when the file was deleted meanwhile. */
async function copyOne(from: string, to: string, file: string): Promise<boolean> {
  const [source, target] = [path.join(from, file), path.join(to, file)];
  await mkdir(path.dirname(target), { recursive: true });
  try {
    await (file.endsWith(DATABASE) ? copyDatabase(source, target) : copyFile(source, target));
    if (NUMBERED.test(file)) skipNumbers(target, unusedNumber(Date.now()));
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || message.includes("unable to open database file")) return false;
    throw error;
  }
}

/** Objects that number changes, which inboxes, clients and cursors know. */
const NUMBERED = /^v3\/do\/[^/]*(?:RoomObject|EventLogObject|InboxObject)\/.*\.sqlite$/;

async function copyDatabase(source: string, target: string): Promise<void> {
  const database = new DatabaseSync(source, { readOnly: true, timeout: BUSY_MS });
  try {
    await backup(database, target, { rate: ALL_PAGES });
  } finally {
    database.close();
  }
}
