/** Bugs in the delivery of events to subscribers. */
import type { Mutant } from "./mutant.ts";

export const DELIVERY: readonly Mutant[] = [
  {
    bug: "two first attempts of one room run at the same time",
    file: "src/delivery/subscriber/scheduler.ts",
    code: "if (job.attempts === 0) this.#busyLanes.add(job.lane);",
    by: "",
    tests: ["test/delivery/scheduler.test.ts"],
  },
  {
    bug: "a rest that was asked for never ends",
    file: "src/delivery/subscriber/scheduler.ts",
    code: "Math.min(Math.max(this.#pausedUntil, now) + ms, now + maxMs)",
    by: "Math.max(this.#pausedUntil, now) + ms",
    tests: ["test/delivery/scheduler.test.ts"],
  },
  {
    bug: "the sweep relays what its own request is still relaying",
    file: "src/delivery/outbox-relay.ts",
    code: "const before = now - ABANDONED_AFTER_MS;",
    by: "const before = now;",
    tests: ["test/delivery/outbox.test.ts"],
  },
  {
    bug: "a sweep ends after its first page",
    file: "src/delivery/outbox-relay.ts",
    code: "isFull = rows.length === PAGE_SIZE;",
    by: "isFull = false;",
    tests: ["test/delivery/outbox.test.ts"],
  },
  {
    bug: "a sweep never gets past entries that cannot be relayed",
    file: "src/delivery/outbox-relay.ts",
    code: "if (isGone !== true) offset += 1;",
    by: "",
    tests: ["test/delivery/outbox.test.ts"],
  },
  {
    bug: "of two subscribers that fail at once only one gets the event later",
    file: "src/delivery/fan-out.ts",
    code: "unreached.set(eventId, [...(unreached.get(eventId) ?? []), subscription]);",
    by: "unreached.set(eventId, [subscription]);",
    tests: ["test/delivery/fan-out.test.ts"],
  },
  {
    bug: "an attempt whose outcome is not recorded yet is made again",
    file: "src/delivery/subscriber/scheduler.ts",
    code: "this.#overFirsts.set(job.lane, job.seq);",
    by: "",
    tests: ["test/delivery/scheduler.test.ts"],
  },
  {
    bug: "what waits is not counted any more once it was retried",
    file: "src/delivery/subscriber/delivery-table.ts",
    code: "AFTER UPDATE OF status, log, body",
    by: "AFTER UPDATE OF body",
    tests: ["test/delivery/delivery-storage.test.ts"],
  },
  {
    bug: "a subscriber for which too much waits is never suspended",
    file: "src/delivery/subscriber/backlog-guard.ts",
    code: "await handler.suspend();",
    by: "",
    tests: ["test/delivery/delivery-storage.test.ts"],
  },
  {
    bug: "disabling a webhook also ends what is enqueued after it was enabled again",
    file: "src/delivery/subscriber/delivery-retention.ts",
    code: "AND seq <= ? ORDER BY seq",
    by: "AND 0 < ? ORDER BY seq",
    tests: ["test/delivery/delivery-storage.test.ts"],
  },
  {
    bug: "a run's start is not recorded before its first effect",
    file: "src/delivery/subscriber/delivery-queue.ts",
    code: "if (isOnce) await this.#store.markStarted(job.seq, this.#now());",
    by: "",
    tests: ["test/workflows/workflow-queue.test.ts"],
  },
];
