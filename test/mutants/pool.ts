/** Bugs in the pool of processes for programs, and in how they are reached. */
import type { Mutant } from "./mutant.ts";

export const POOL: readonly Mutant[] = [
  {
    bug: "a process that earlier runs have filled takes the next one, which is killed for it",
    file: "src/cli/service/pool/program-pool.ts",
    code: "if (isSpent || member.isFull) member.retire();",
    by: "if (isSpent) member.retire();",
    tests: ["test/cli/program-pool.test.ts"],
  },
  {
    bug: "a connection is kept that its process has ended",
    file: "src/sandbox/runners/pool-connections.ts",
    code: "if (this.#kept?.address === address) this.#kept = null;",
    by: "",
    tests: ["test/sandbox/pool-connections.test.ts"],
  },
  {
    bug: "a run reaches the process of another program",
    file: "src/sandbox/runners/pool-connections.ts",
    code: "if (this.#kept?.key !== key) {",
    by: "if (this.#kept === null) {",
    tests: ["test/sandbox/pool-connections.test.ts"],
  },
];
