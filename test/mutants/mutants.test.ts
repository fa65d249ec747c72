/** The planted bugs fit the source as it is, so that `npm run mutants` can plant each of them. */
import { access, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { plant } from "./mutant.ts";
import { MUTANTS } from "./mutants.ts";

const ROOT = path.join(import.meta.dirname, "../..");

it.each(MUTANTS)("$file: $bug", async (mutant) => {
  expect(plant(mutant, await readFile(path.join(ROOT, mutant.file), "utf8"))).toContain(mutant.by);
  for (const test of mutant.tests) await access(path.join(ROOT, test));
});

it("describes each bug once", () => {
  expect(new Set(MUTANTS.map(({ bug }) => bug)).size).toBe(MUTANTS.length);
});
