/** A planted bug: one small change of a source file, and the tests that must notice it. */
import { globSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

export interface Mutant {
  /** The bug, as a change log would say it: "a removed member keeps access". Unique. */
  readonly bug: string;
  /** The source file, from the repository's root. The code is searched in all of `src` when it has moved. */
  readonly file: string;
  /** The code to replace, which occurs once in the file, however it is formatted. */
  readonly code: string;
  readonly by: string;
  /** The test files of which at least one test must fail. */
  readonly tests: readonly string[];
}

/** Where a planted bug belongs today. */
interface Place {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** The code with any white space between its characters, and with the commas that a formatter adds before brackets. */
function patternOf(code: string): RegExp {
  const characters = [...code.replace(/\s+/g, "").replace(/,(?=[)\]}])/g, "")];
  const parts = characters.map((character, index) => {
    const escaped = character.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
    return index > 0 && /[)\]}]/.test(character) ? `,?\\s*${escaped}` : escaped;
  });
  return new RegExp(parts.join("\\s*"), "g");
}

function placesIn(root: string, file: string, pattern: RegExp): Place[] {
  const source = readFileSync(path.join(root, file), "utf8");
  return [...source.matchAll(pattern)].map(({ 0: found, index }) => ({
    file,
    start: index,
    end: index + found.length,
  }));
}

/** The one place that has the mutant's code: in its file, or else in all of `src`. Throws when there is none, or several. */
export function findPlace(root: string, { bug, file, code, by }: Mutant): Place {
  if (code === by) throw new Error(`The mutant "${bug}" changes nothing`);
  const pattern = patternOf(code);
  const named = globSync(file, { cwd: root }).flatMap((known) => placesIn(root, known, pattern));
  const places =
    named.length > 0
      ? named
      : globSync("{src,packages/contract}/**/*.{ts,tsx}", { cwd: root }).flatMap((any) =>
          placesIn(root, any, pattern),
        );
  const [place, ...others] = places;
  if (place === undefined || others.length > 0)
    throw new Error(`${file}: the code of "${bug}" occurs ${places.length} times instead of once: ${code}`);
  return place;
}

/** Plants the bug in a copy of the repository. Returns a function that takes it out. */
export async function plantIn(root: string, mutant: Mutant): Promise<() => Promise<void>> {
  const place = findPlace(root, mutant);
  const file = path.join(root, place.file);
  const source = await readFile(file, "utf8");
  await writeFile(file, source.slice(0, place.start) + mutant.by + source.slice(place.end));
  return () => writeFile(file, source);
}
