/** Writes declarations: those that the package's entries reach, and those that a workflow's author sees. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { PlainTypes } from "./plain-types.ts";

const SPECIFIER = /(\bfrom |\bimport\(|\bimport )"([^"]+)"/g;

export interface DeclarationOptions {
  /** The folder to which the compiler has emitted the declarations of `src`. */
  readonly emitted: string;
  /** The folder to write to; files keep their paths below `src`. */
  readonly outdir: string;
  /** The modules to begin with, as paths below `src`. */
  readonly entries: readonly string[];
  /** The packages that declarations may import. */
  readonly packages: readonly string[];
}

/** Writes the declarations of the entries and of all modules that they import. */
export async function writeDeclarations(options: DeclarationOptions): Promise<void> {
  const { emitted, outdir, entries, packages } = options;
  const plainTypes = new PlainTypes();
  const reached = new Set(entries);
  for (const file of reached) {
    const declaration = file.replace(/\.tsx?$/, ".d.ts");
    const text = (await plainTypes.print(file)) ?? (await readFile(path.join(emitted, declaration), "utf8"));
    for (const [, , specifier = ""] of text.matchAll(SPECIFIER)) {
      if (specifier.startsWith(".")) reached.add(path.join(path.dirname(file), specifier));
      else if (!packages.some((name) => specifier === name || specifier.startsWith(`${name}/`)))
        throw new Error(`${file} declares types of "${specifier}", which the package does not depend on.`);
    }
    const target = path.join(outdir, declaration);
    await mkdir(path.dirname(target), { recursive: true });
    // As compilers before TypeScript 5 expect it.
    await writeFile(target, text.replaceAll(/"(\.[^"]+)\.tsx?"/g, '"$1.js"'));
  }
}

const SRC = path.join(import.meta.dirname, "../..");
const SCHEMAS = ["wire/room.ts", "wire/user.ts", "wire/file.ts", "wire/events.ts"];

export async function workflowDeclarations(): Promise<string> {
  const plainTypes = new PlainTypes();
  const printed = await Promise.all(SCHEMAS.map((file) => plainTypes.print(file)));
  const bindings = await readFile(path.join(SRC, "sandbox/guest/types.ts"), "utf8");
  return [...printed, bindings].join("\n");
}
