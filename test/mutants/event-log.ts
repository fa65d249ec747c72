/** Bugs in the event log. */
import type { Mutant } from "./mutant.ts";

export const EVENT_LOG: readonly Mutant[] = [
  {
    bug: "the log of an organization has other shards than before, so that rooms change theirs",
    file: "src/delivery/event-log/shards.ts",
    code: "export const SHARDS = 8;",
    by: "export const SHARDS = 9;",
    tests: ["test/platform/rpc-fixtures.test.ts"],
  },
  {
    bug: "a clock that is set back disturbs the order of a log",
    file: "src/delivery/event-log/event-log-store.ts",
    code: "lastAt = Math.max(lastAt, now);",
    by: "lastAt = now;",
    tests: ["test/event-log/event-log-object.test.ts"],
  },
  {
    bug: "an append that failed leaves a gap in the numbers of a log",
    file: "src/delivery/event-log/event-log-store.ts",
    code: "this.#known = null;\n      throw error;",
    by: "throw error;",
    tests: ["test/event-log/event-log-object.test.ts"],
  },
  {
    bug: "events that are no longer kept are passed over in silence",
    file: "src/delivery/event-log/event-log-store.ts",
    code: "(after < log.prunedSeq || after > log.lastSeq)",
    by: "after > log.lastSeq",
    tests: ["test/event-log/event-log-object.test.ts"],
  },
  {
    bug: "the cursor of another log is accepted",
    file: "src/delivery/event-log/cursor.ts",
    code: "if (tag !== tagOf(scope)) return null;",
    by: "",
    tests: ["test/event-log/reading.test.ts", "test/event-log/event-log.test.ts"],
  },
  {
    bug: "a page of the log loses what it had no room for",
    file: "src/delivery/event-log/page-reader.ts",
    code: "this.#position = first === undefined ? slice.position : first.seq - 1;",
    by: "this.#position = slice.position;",
    tests: ["test/event-log/reading.test.ts"],
  },
  {
    bug: "subscribers receive the events of rooms that they have not asked for",
    file: "src/delivery/event-log/event-log-object.ts",
    code: ".filter((each) => each.roomId === null || each.roomId === roomId)",
    by: ".filter((each) => each.roomId !== undefined)",
    tests: ["test/delivery/emitted-events.test.ts", "test/event-log/event-log-object.test.ts"],
  },
  {
    bug: "a log forgets events before their time",
    file: "src/delivery/event-log/event-log-object.ts",
    code: "this.#store.prune(this.clock() - keptMs, maxBytes);",
    by: "this.#store.prune(this.clock(), maxBytes);",
    tests: ["test/event-log/event-log-object.test.ts"],
  },
];
