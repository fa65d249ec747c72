/** Bugs in the client SDK. */
import type { Mutant } from "./mutant.ts";

export const SDK: readonly Mutant[] = [
  {
    bug: "a write is not shown until it is answered",
    file: "src/sdk/client/stores/entries.ts",
    code: "writes === undefined ? confirmed : writes.reduce(applyTo, confirmed)",
    by: "confirmed",
    tests: ["test/sdk/entries.test.ts"],
  },
  {
    bug: "an answered write hides those that are not",
    file: "src/sdk/client/stores/entries.ts",
    code: `if (others.length > 0) this.#pending.set(write.key, others);
    else `,
    by: "",
    tests: ["test/sdk/entries.test.ts"],
  },
];
