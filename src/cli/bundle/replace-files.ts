/** Brings a folder of bundled files up to date, file by file, while another process may be serving it. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

/** Writes the files that differ and removes those that are not among them; the others stay untouched. */
export async function replaceFiles(
  directory: string,
  files: ReadonlyMap<string, string | Uint8Array>,
): Promise<void> {
  for (const [name, content] of files) {
    const file = path.join(directory, name);
    const known = await readFile(file).catch(() => null);
    if (known?.equals(Buffer.from(content))) continue;
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && !files.has(path.relative(directory, file))) await rm(file, { force: true });
  }
}
