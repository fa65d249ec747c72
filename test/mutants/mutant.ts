/** A planted bug: one small change of a source file, and the tests that must notice it. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

export interface Mutant {
  /** The bug, as a change log would say it: "a removed member keeps access". Unique. */
  readonly bug: string;
  /** The source file, from the repository's root. */
  readonly file: string;
  /** The code to replace, which occurs once in the file. */
  readonly code: string;
  readonly by: string;
  /** The test files of which at least one test must fail. */
  readonly tests: readonly string[];
}

/** The source with the bug. Throws when the code to replace does not occur exactly once. */
export function plant({ bug, file, code, by }: Mutant, source: string): string {
  const found = source.split(code).length - 1;
  if (found !== 1)
    throw new Error(`${file} contains the code of "${bug}" ${found} times instead of once: ${code}`);
  if (code === by) throw new Error(`The mutant "${bug}" changes nothing`);
  return source.replace(code, () => by);
}

/** Plants the bug in a copy of the repository. Returns a function that takes it out. */
export async function plantIn(root: string, mutant: Mutant): Promise<() => Promise<void>> {
  const file = path.join(root, mutant.file);
  const source = await readFile(file, "utf8");
  await writeFile(file, plant(mutant, source));
  return () => writeFile(file, source);
}
