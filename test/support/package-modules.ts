/** The modules of a built package, and how large they are for those who load them. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";

/** The modules that an entry needs something of, by their names: the package has no other side effects. */
export async function modulesOf(dist: string, entry: string): Promise<Map<string, string>> {
  const modules = new Map<string, string>();
  const load = async (name: string): Promise<void> => {
    if (modules.has(name)) return;
    const text = await readFile(path.join(dist, name), "utf8");
    modules.set(name, text);
    for (const [, specifier = ""] of text.matchAll(/\bfrom\s*"(\.[^"]+)"/g))
      await load(path.join(path.dirname(name), specifier));
  };
  await load(`${entry}.js`);
  return modules;
}

/** The bytes of the modules, compressed together. */
export const gzippedBytes = (modules: ReadonlyMap<string, string>): number =>
  gzipSync([...modules.values()].join("\n")).byteLength;

/** The modules that are not among the others. */
export const without = (
  modules: ReadonlyMap<string, string>,
  others: ReadonlyMap<string, string>,
): Map<string, string> => new Map([...modules].filter(([name]) => !others.has(name)));
