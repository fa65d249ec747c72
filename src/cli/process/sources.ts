/** The fingerprint of the sources, which names what was built from them. */
import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { ROOT } from "./supervisor.ts";

const FOLDERS = ["src", "packages", "examples/demo", "docs"].map((folder) => path.join(ROOT, folder));
/** Other pages of the documentation, the configuration, and npm's record of installed packages. */
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
    const facts = await stat(file).catch(orMissing);
    hash.update(`${path.relative(ROOT, file)} ${facts?.size} ${facts?.mtimeMs}\n`);
  }
  return hash.digest("hex");
}

/** Other package managers write other files, and a file may go meanwhile. */
function orMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
