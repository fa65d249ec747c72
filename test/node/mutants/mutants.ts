/** Reads the planted bugs of `security.diff`. */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Mutant } from "./mutant.ts";

const FILE = path.join(import.meta.dirname, "security.diff");

/** Lines of the file: `@ source tests`, then for each bug its description, `- code` and, unless it only deletes, `+ code`. */
function readMutants(): Mutant[] {
  const mutants: { -readonly [Key in keyof Mutant]: Mutant[Key] }[] = [];
  let [source = "", ...tests]: string[] = [];
  for (const line of readFileSync(FILE, "utf8").split("\n")) {
    const [mark, text, latest] = [line.slice(0, 2), line.slice(2), mutants.at(-1)];
    if (mark === "@ ") [source = "", ...tests] = text.split(" ");
    else if (mark === "- " && latest !== undefined) latest.code = text;
    else if (mark === "+ " && latest !== undefined) latest.by = text;
    else if (mark !== "# " && line !== "") mutants.push({ bug: line, file: source, code: "", by: "", tests });
  }
  return mutants;
}

export const MUTANTS: readonly Mutant[] = readMutants();
