/** Events go in the order of what happened, wait while nobody can be reached, and are given to each who is owed them. */
import { beforeEach, expect, it } from "vitest";
import { OutboxDrain } from "../../../src/realtime/outbox/outbox-drain.ts";
import { MemoryStorage } from "../../../src/realtime/storage/storage-memory.ts";

let now: number;
let storage: MemoryStorage;
let handover: OutboxDrain;
/** The ids of each batch that was handed over. */
let batches: string[][];
/** What is answered to the next batches, in turn; all is well when there is nothing. */
let answers: (ReadonlyMap<string, string> | Error)[];
let failures: number;

const happen = (...ids: string[]) => {
  for (const id of ids)
    storage.events.append({ id, event: "participant.joined", occurredAt: now, body: "{}" });
  handover.drain();
};
const waiting = () =>
  storage.events.list(99).map(({ id, pendingSubscriptions }) => [id, pendingSubscriptions]);

beforeEach(() => {
  [now, storage, batches, answers, failures] = [1_000_000, new MemoryStorage(), [], [], 0];
  handover = new OutboxDrain({
    now: () => now,
    storage,
    async fanOut(events) {
      batches.push(events.map(({ id }) => id));
      const answer = answers.shift() ?? new Map<string, string>();
      if (answer instanceof Error) throw answer;
      return answer;
    },
    keepAlive: () => undefined,
    failed: () => {
      failures += 1;
    },
  });
});

it("hands over what one turn has brought at once, and what comes meanwhile after it", async () => {
  happen("a", "b");
  expect(handover.dueAt()).not.toBeNull();
  await Promise.resolve();
  happen("c");
  await handover.settled();
  expect(batches).toEqual([["a", "b"], ["c"]]);
  expect([waiting(), handover.dueAt()]).toEqual([[], null]);
});

it("tries again what failed, ever less often, before what came after it", async () => {
  answers = Array(7).fill(new Error("on purpose"));
  const delays: number[] = [];
  happen("a");
  for (let attempt = 0; attempt < 7; attempt += 1) {
    await handover.settled();
    delays.push((handover.dueAt() ?? 0) - now);
    handover.retryIfDue();
    now = handover.dueAt() ?? 0;
    handover.retryIfDue();
  }
  await handover.settled();
  expect(delays).toEqual([1, 2, 4, 8, 16, 30, 30].map((seconds) => seconds * 1_000));
  expect(failures).toBe(7);
  expect(batches).toEqual(Array(8).fill(["a"]));
  happen("b");
  await handover.settled();
  expect([waiting(), handover.dueAt()]).toEqual([[], null]);
});

it("keeps those whom it could not reach with the event, and gives it to them first", async () => {
  answers = [new Map([["a", "[1]"]])];
  happen("a", "b");
  await handover.settled();
  expect(waiting()).toEqual([["a", "[1]"]]);
  happen("c");
  await handover.settled();
  expect(batches).toEqual([
    ["a", "b"],
    ["a", "c"],
  ]);
  expect([waiting(), handover.dueAt()]).toEqual([[], null]);
});

it("is finished when nothing is left, and says when something is", async () => {
  await handover.finish();
  answers = [new Error("on purpose"), new Error("on purpose")];
  happen("a");
  await expect(handover.finish()).rejects.toThrow("could not be passed on");
  await handover.finish();
  expect(waiting()).toEqual([]);
});
