/** `atrium.tgz`, the package as npm installs it from a service: built when it is first asked for after a source has changed. */
import { type ExecFileException, execFile } from "node:child_process";
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { createTarGzip } from "nanotar";
import { CommandError } from "../process/command.ts";
import { draftIn, removeOthers } from "../process/drafts.ts";
import { fingerprintSources } from "../process/sources.ts";
import { ROOT } from "../process/supervisor.ts";

const BUILD = path.join(ROOT, "src/cli/build.ts");
/** Holds the latest tarball, which is named by the fingerprint of its sources. */
const TARBALLS = path.join(ROOT, ".wrangler/package");

/**
 * The path of the tarball of the present sources, which is built unless it is there. Throws a CommandError with what the
 * build has printed when it fails.
 */
export async function packPackage(stop: AbortSignal): Promise<string> {
  const sources = await fingerprintSources();
  const tarball = path.join(TARBALLS, `${sources.slice(0, 16)}.tgz`);
  const isThere = await access(tarball).then(
    () => true,
    () => false,
  );
  if (isThere) return tarball;
  await mkdir(TARBALLS, { recursive: true });
  const draft = draftIn(TARBALLS);
  const packed = `${draft}.tgz`;
  const removeDrafts = () =>
    Promise.all([draft, packed].map((one) => rm(one, { recursive: true, force: true })));
  await removeDrafts(); // a crashed process may have had the same ID, as in a container
  try {
    await promisify(execFile)(process.execPath, [BUILD, "--out", draft], { signal: stop }).catch(explain);
    await writeFile(packed, await packFolder(draft));
    await rename(packed, tarball); // a tarball under its final name is complete
  } finally {
    await removeDrafts();
  }
  await removeOthers(TARBALLS, tarball);
  return tarball;
}

function explain({ stdout, stderr, message }: ExecFileException): never {
  throw new CommandError(`The package could not be built: ${stderr?.trim() || stdout?.trim() || message}`);
}

/** The same files give the same bytes, so that locks of npm hold until a source changes. */
async function packFolder(folder: string): Promise<Uint8Array> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const packed = files.sort().map(async (file) => ({
    name: path.posix.join("package", path.relative(folder, file).replaceAll(path.sep, "/")),
    data: await readFile(file),
  }));
  return createTarGzip(await Promise.all(packed), { attrs: { mode: "644", mtime: 0 } });
}

/** Answers the Worker with the tarball. Requests that come together wait for one build; after a failure, the next one tries again. */
export function packageService(stop: AbortSignal): () => Promise<Response> {
  let packing: Promise<string> | undefined;
  return async () => {
    try {
      packing ??= packPackage(stop).finally(() => {
        packing = undefined;
      });
      return new Response(await readFile(await packing), {
        headers: { "Content-Type": "application/gzip", "Cache-Control": "no-store" },
      });
    } catch (error) {
      console.error(error instanceof CommandError ? error.message : error);
      return new Response("The package could not be built. The terminal of npm start says why.\n", {
        status: 500,
      });
    }
  };
}
