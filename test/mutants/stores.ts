/** Bugs in a room's stores, comments and receipts. */
import type { Mutant } from "./mutant.ts";

export const STORES: readonly Mutant[] = [
  {
    bug: "a viewer changes the room",
    file: "src/realtime/requests.ts",
    code: 'if (by.role === "viewer" && EDITOR_MESSAGES.has(request.type)) throw VIEWER_REFUSED;',
    by: "",
    tests: ["test/realtime/stores.test.ts"],
  },
  {
    bug: "users share their receipts",
    file: "src/realtime/requests.ts",
    code: "userId ?? ORGANIZATION;",
    by: 'userId === "" ? "" : ORGANIZATION;',
    tests: ["test/realtime/stores.test.ts", "test/realtime/receipts.test.ts"],
  },
  {
    bug: "changes that were undone are sent",
    file: "src/realtime/content/changes.ts",
    code: `this.reset();
      throw error;`,
    by: "throw error;",
    tests: ["test/realtime/stores.test.ts"],
  },
  {
    bug: "a request that is sent again is carried out again",
    file: "src/realtime/content/changes.ts",
    code: "if (answered !== null) return new JsonText(answered);",
    by: "",
    tests: ["test/realtime/stores.test.ts"],
  },
  {
    bug: "no receipt is written",
    file: "src/realtime/content/changes.ts",
    code: "this.#receipts.write({ userId: sender, requestId, fingerprint, answer: textOf(data) });",
    by: "void data;",
    tests: ["test/realtime/stores.test.ts"],
  },
  {
    bug: "another request under a used id gets the earlier answer",
    file: "src/realtime/content/receipts.ts",
    code: "if (receipt?.fingerprint !== fingerprint) return null;",
    by: "if (receipt === null) return null;",
    tests: ["test/realtime/stores.test.ts", "test/realtime/receipts.test.ts"],
  },
  {
    bug: "receipts are kept for half the time",
    file: "src/realtime/content/receipts.ts",
    code: "at: this.#now() - RECEIPT_LIFETIME_MS,",
    by: "at: this.#now() - RECEIPT_LIFETIME_MS / 2,",
    tests: ["test/realtime/receipts.test.ts"],
  },
  {
    bug: "receipts are not bounded by their size",
    file: "src/realtime/content/receipts.ts",
    code: "total: total - MAX_RECEIPT_BYTES,",
    by: "total: 0,",
    tests: ["test/realtime/receipts.test.ts"],
  },
  {
    bug: "a client that missed changes which are no longer kept is not reset",
    file: "src/realtime/content/changes.ts",
    code: "if (seq > last || seq < this.#droppedSeq) return null;",
    by: "if (seq > last) return null;",
    tests: ["test/realtime/stores.test.ts"],
  },
  {
    bug: "a client that has seen changes which the room does not know is not reset",
    file: "src/realtime/content/changes.ts",
    code: "if (seq > last || seq < this.#droppedSeq) return null;",
    by: "if (seq < this.#droppedSeq) return null;",
    tests: ["test/realtime/stores.test.ts"],
  },
  {
    bug: "a client is not reset when the room's history was replaced by a backup",
    file: "src/realtime/content/epochs.ts",
    code: "return lastSeq !== null && seq <= lastSeq;",
    by: "return lastSeq !== null;",
    tests: ["test/realtime/convergence/convergence.test.ts"],
  },
  {
    bug: "a write ignores the version that it expects",
    file: "src/realtime/content/stores.ts",
    code: "if (ifVersion !== undefined && ifVersion !== (found?.version ?? 0))",
    by: "if (ifVersion === -1)",
    tests: ["test/realtime/stores.test.ts"],
  },
  {
    bug: "a batch that should be whole is applied in part",
    file: "src/realtime/content/stores.ts",
    code: "atomic ? this.#apply(operation, by, sizes) : this.#attempt(operation, by, sizes),",
    by: "this.#attempt(operation, by, sizes),",
    tests: ["test/realtime/stores.test.ts"],
  },
  {
    bug: "unexpected failures count as refusals",
    file: "src/realtime/content/stores.ts",
    code: `if (!(error instanceof AppError)) throw error;
      const { code`,
    by: "const { code",
    tests: ["test/bugs/failing-storage.test.ts"],
  },
  {
    bug: "anyone edits and deletes the comments of others",
    file: "src/realtime/content/comments.ts",
    code: "if (by === null || comment.user_id === by) return comment;",
    by: 'if (by !== "") return comment;',
    tests: ["test/realtime/comments.test.ts"],
  },
];
