/** Bugs in workflows. */
import type { Mutant } from "./mutant.ts";

export const WORKFLOWS: readonly Mutant[] = [
  {
    bug: "a run uses its bindings after its end",
    file: "src/workflows/run-bindings.ts",
    code: 'if (this.#isOver) throw refusal("the run is over");',
    by: "",
    tests: ["test/workflows/revocation.test.ts"],
  },
  {
    bug: "a run deletes the files of another room",
    file: "src/workflows/run-bindings.ts",
    code: "if (!this.#isOwnKey(key)) return false;",
    by: "",
    tests: ["test/workflows/revocation.test.ts"],
  },
  {
    bug: "a program reaches internal addresses",
    file: "src/workflows/public-fetch.ts",
    code: `if (problem !== null) throw refusal(\`The URL \${problem}\`);`,
    by: "",
    tests: ["test/workflows/public-fetch.test.ts"],
  },
  {
    bug: "credentials go to another origin with a redirect",
    file: "src/workflows/public-fetch.ts",
    code: "for (const name of next.origin === new URL(hop.url).origin ? [] : SECRET_HEADERS) headers.delete(name);",
    by: "",
    tests: ["test/workflows/public-fetch.test.ts"],
  },
];
