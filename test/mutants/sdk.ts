/** Bugs in the client SDK. */
import type { Mutant } from "./mutant.ts";

export const SDK: readonly Mutant[] = [
  {
    bug: "a write is not shown until it is answered",
    file: "src/sdk/client/stores/entries.ts",
    code: "writes.reduce(applyTo, entry.value)",
    by: "entry.value",
    tests: ["test/sdk/entries.test.ts"],
  },
  {
    bug: "an answered write hides those that are not",
    file: "src/sdk/client/stores/entries.ts",
    code: "this.#writesOf(write.key).filter((other) => other !== write)",
    by: "[]",
    tests: ["test/sdk/entries.test.ts"],
  },
  {
    bug: "a download takes back what has changed since it began",
    file: "src/sdk/client/stores/replica.ts",
    code: " || load.current.has(key)",
    by: "",
    tests: ["test/sdk/mirrors.test.ts"],
  },
];
