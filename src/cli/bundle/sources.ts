/** A fingerprint of everything that the bundles are made from, so that a start can skip what an earlier one made. */
import { createHash } from "node:crypto";
import { access, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { ROOT } from "../process/wrangler.ts";

/** The sources, and the documentation that /docs serves. */
const FOLDERS = ["src", "docs"].map((folder) => path.join(ROOT, folder));
/** Beside them: the documentation's other pages, the configuration, and the file that npm writes when it installs. */
const OTHERS = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "wrangler.toml",
  "node_modules/.package-lock.json",
].map((file) => path.join(ROOT, file));

/** Changes with the name, size or modification time of any source, and with the installed packages. */
export async function fingerprintSources(): Promise<string> {
  const entries = await Promise.all(
    FOLDERS.map((folder) => readdir(folder, { recursive: true, withFileTypes: true })),
  );
  const files = entries
    .flat()
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
