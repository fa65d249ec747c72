/** Bugs in signing in and up. */
import type { Mutant } from "./mutant.ts";

export const PEOPLE: readonly Mutant[] = [
  {
    bug: "a pause after wrong passwords is not waited for",
    file: "src/people/sign-in-limits.ts",
    code: "const waitMs = await stub.guess(key, rule);",
    by: "const waitMs: any = stub.guess(key, rule);",
    tests: ["test/people/guessing.test.ts"],
  },
  {
    bug: "one guess too many is free",
    file: "src/people/limits/pause.ts",
    code: "const pauseMs = beyond < 0 ?",
    by: "const pauseMs = beyond <= 0 ?",
    tests: ["test/people/guessing.test.ts"],
  },
];
