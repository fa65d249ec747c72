/** Bugs in workflows. */
import type { Mutant } from "./mutant.ts";

export const WORKFLOWS: readonly Mutant[] = [
  {
    bug: "a run uses its bindings after its end",
    file: "src/features/workflows/run-bindings.ts",
    code: 'if (this.#isOver) throw refusal("the run is over");',
    by: "",
    tests: ["test/workflows/revocation.test.ts"],
  },
  {
    bug: "a run deletes the files of another room",
    file: "src/features/workflows/run-bindings.ts",
    code: "if (!this.#isOwnKey(key)) return false;",
    by: "",
    tests: ["test/workflows/revocation.test.ts"],
  },
  {
    bug: "a program reaches internal addresses",
    file: "src/features/workflows/public-fetch.ts",
    code: `if (problem !== null) throw refusal(\`The URL \${problem}\`);`,
    by: "",
    tests: ["test/workflows/public-fetch.test.ts"],
  },
  {
    bug: "credentials go to another origin with a redirect",
    file: "src/features/workflows/public-fetch.ts",
    code: "for (const name of next.origin === new URL(hop.url).origin ? [] : SECRET_HEADERS) headers.delete(name);",
    by: "",
    tests: ["test/workflows/public-fetch.test.ts"],
  },
  {
    bug: "a run's requests go on after its end",
    file: "src/features/workflows/run-bindings.ts",
    code: 'this.#requests?.abort(new Error("The run is over"));',
    by: "",
    tests: ["test/workflows/revocation.test.ts", "test/workflows/public-fetch.test.ts"],
  },
  {
    bug: "a run reads the files of another room",
    file: "src/features/files/queries.ts",
    code: "row === undefined || row.roomId !== roomId",
    by: "row === undefined",
    tests: ["test/workflows/revocation.test.ts"],
  },
  {
    bug: "a redirect takes a program to an internal address",
    file: "src/features/workflows/public-fetch.ts",
    code: "if (problem !== null) throw",
    by: "if (problem !== null && redirects === 0) throw",
    tests: ["test/workflows/public-fetch.test.ts"],
  },
  {
    bug: "one version of a workflow too many is kept",
    file: "src/features/workflows/version-store.ts",
    code: "AND version <= (SELECT",
    by: "AND version < (SELECT",
    tests: ["test/workflows/workflows.test.ts"],
  },
  {
    bug: "an organization reads the code of another one's workflow",
    file: "src/features/workflows/version-store.ts",
    code: 'WHERE account_id = ? AND workflow_id = ?";',
    by: 'WHERE ? IS NOT NULL AND workflow_id = ?";',
    tests: ["test/workflows/workflows.test.ts"],
  },
  {
    bug: "a run that may have had effects is made again",
    file: "src/features/workflows/workflow-handler.ts",
    code: "return row === null || row.retries > 0;",
    by: "return true;",
    tests: ["test/workflows/workflow-queue.test.ts"],
  },
  {
    bug: "a run by hand is made again",
    file: "src/features/workflows/workflow-handler.ts",
    code: "event.isOnce ? null : planRetry(",
    by: 'event.eventId === "" ? null : planRetry(',
    tests: ["test/workflows/workflow-queue.test.ts"],
  },
  {
    bug: "a disabled workflow runs",
    file: "src/features/workflows/workflow-handler.ts",
    code: "if (row.enabled === 0) {",
    by: "if (row.enabled === 2) {",
    tests: ["test/workflows/workflow-queue.test.ts"],
  },
];
