/** A fingerprint of everything that the bundles are made from, so that a start can skip what an earlier one made. */
import { createHash } from "node:crypto";
import { access, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { ROOT } from "../process/wrangler.ts";

/** Beside the sources: the configuration, and the file that npm writes when it installs packages. */
const OTHERS = ["wrangler.toml", "node_modules/.package-lock.json"].map((file) => path.join(ROOT, file));

/** Changes with the name, size or modification time of any source, and with the installed packages. */
export async function fingerprintSources(): Promise<string> {
  const entries = await readdir(path.join(ROOT, "src"), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
  const hash = createHash("sha256");
  for (const file of [...files.sort(), ...OTHERS]) {
    const facts = await stat(file).catch(() => null); // other package managers write other files
    hash.update(`${path.relative(ROOT, file)} ${facts?.size} ${facts?.mtimeMs}\n`);
  }
  return hash.digest("hex");
}

/** Whether all of the files exist. */
export const filesExist = (files: readonly string[]): Promise<boolean> =>
  Promise.all(files.map((file) => access(file))).then(
    () => true,
    () => false,
  );
