/** The drain passes events on in order, retries failures, and remembers the subscriptions still to be reached. */
import { expect } from "vitest";
import { newCallBudget } from "../../../../src/platform/flow/work-budget.ts";
import { OutboxDrain, type Unreached } from "../../../../src/room/engine/outbox/outbox-drain.ts";
import type { SqliteStorage } from "../../../../src/room/storage/storage.ts";
import { test } from "../../support/with-storage.ts";

let now: number;
let storage: SqliteStorage;
let drain: OutboxDrain;
/** The ids of each batch that was fanned out. */
let batches: string[][];
/** The results of the next fan-outs, in turn; later ones reach everyone. */
let results: (Unreached | Error)[];
/** Reported failures. */
let failures: string[];
/** The calls that the next fan-outs make, in turn; later ones make none. */
let calls: number[];
/** Whether each batch could wait for attempts. */
let canWait: boolean[];

const record = (...ids: string[]) => {
  for (const id of ids)
    storage.events.append({ id, event: "participant.joined", occurredAt: now, body: "{}" });
  drain.drain();
};
const pending = () =>
  storage.events.list(99).map(({ id, pendingSubscriptions }) => [id, pendingSubscriptions]);

/** A test of a room that has just begun. */
const it = (title: string, work: () => unknown) =>
  test(title, (tables) => {
    storage = tables.storage;
    [now, batches, results, failures, calls, canWait] = [1_000_000, [], [], [], [], []];
    drain = new OutboxDrain({
      now: () => now,
      storage,
      outbox: storage.events,
      newCalls: () => newCallBudget("paid").calls,
      async fanOut(events, budget, mayWait) {
        canWait.push(mayWait);
        batches.push(events.map(({ id }) => id));
        for (let left = calls.shift() ?? 0; left > 0; left -= 1) budget.spend();
        const result = results.shift() ?? { left: new Map(), failures: [] };
        if (result instanceof Error) throw result;
        return result;
      },
      keepAlive: () => undefined,
      failed: (error) => {
        failures.push(String(error));
      },
    });
    return work();
  });

it("passes on the events of one turn at once, and those recorded in the meantime after them", async () => {
  record("a", "b");
  expect(drain.dueAt()).not.toBeNull();
  await Promise.resolve();
  record("c");
  await drain.settled();
  expect(batches).toEqual([["a", "b"], ["c"]]);
  expect([pending(), drain.dueAt()]).toEqual([[], null]);
});

it("keeps the events of a transaction in one row, each with the subscriptions that it has yet to reach", async () => {
  const event = { event: "participant.left", occurredAt: now, body: "{}" } as const;
  storage.transaction(() => {
    for (const id of ["a", "b", "c"]) storage.events.append({ ...event, id });
  });
  expect(storage.events.list(1).map(({ id, seq }) => [id, seq])).toEqual(
    ["a", "b", "c"].map((id) => [id, 1]),
  );
  results = [{ left: new Map([["b", "[1]"]]), failures: [] }];
  drain.drain();
  await drain.settled();
  expect(pending()).toEqual([
    ["a", "[]"],
    ["b", "[1]"],
    ["c", "[]"],
  ]);
  now = drain.dueAt() ?? 0;
  drain.retryIfDue();
  await drain.settled();
  expect([batches, pending()]).toEqual([Array(2).fill(["a", "b", "c"]), []]);
});

it("writes events with long bodies to several rows", () => {
  const event = { event: "participant.left", occurredAt: now, body: "x".repeat(100_000) } as const;
  storage.transaction(() => {
    for (const id of ["a", "b", "c", "d", "e"]) storage.events.append({ ...event, id });
  });
  expect(storage.events.list(99).map(({ id, seq }) => [id, seq])).toEqual([
    ["a", 1],
    ["b", 1],
    ["c", 2],
    ["d", 2],
    ["e", 3],
  ]);
});

it("keeps nothing of a transaction that is undone, whole or in part", () => {
  const append = (id: string) =>
    storage.events.append({ id, event: "participant.left", occurredAt: now, body: "{}" });
  const fails = (work: () => void) =>
    expect(() =>
      storage.transaction(() => {
        work();
        throw new Error("undone");
      }),
    ).toThrow("undone");
  fails(() => append("a"));
  storage.transaction(() => {
    append("b");
    fails(() => append("c"));
    append("d");
  });
  expect(storage.events.list(99).map(({ id, seq }) => [id, seq])).toEqual([
    ["b", 1],
    ["d", 1],
  ]);
});

it("tells whether a response waits for the entries", async () => {
  record("a");
  await drain.settled();
  await drain.settledAfter(async () => record("b"));
  record("c");
  await drain.settled();
  record("d");
  await drain.finish();
  expect(canWait).toEqual([true, false, true, false]);
});

it("retries a failed batch with growing delays, before later events", async () => {
  results = Array(7).fill(new Error("on purpose"));
  const delays: number[] = [];
  record("a");
  for (let attempt = 0; attempt < 7; attempt += 1) {
    await drain.settled();
    delays.push((drain.dueAt() ?? 0) - now);
    drain.retryIfDue();
    now = drain.dueAt() ?? 0;
    drain.retryIfDue();
  }
  await drain.settled();
  expect(delays).toEqual([1, 2, 4, 8, 16, 30, 30].map((seconds) => seconds * 1_000));
  expect(failures).toEqual(["Error: on purpose"]);
  expect(batches).toEqual(Array(8).fill(["a"]));
  record("b");
  await drain.settled();
  expect([pending(), drain.dueAt()]).toEqual([[], null]);
});

it("keeps the subscriptions that it could not reach with the event, which goes first next time", async () => {
  results = [{ left: new Map([["a", "[1]"]]), failures: [] }];
  record("a", "b");
  await drain.settled();
  expect(pending()).toEqual([["a", "[1]"]]);
  expect(drain.dueAt()).toBe(now + 1_000);
  record("c");
  await drain.settled();
  expect(batches).toEqual([
    ["a", "b"],
    ["a", "c"],
  ]);
  expect([pending(), drain.dueAt()]).toEqual([[], null]);
});

it("stops when its invocation may make no further call, and goes on with an alarm a second later each time", async () => {
  calls = [8_000, 8_000];
  record(...Array.from({ length: 401 }, (_, index) => `event ${index}`));
  for (const passedOn of [1, 2]) {
    await drain.settled();
    expect(batches.map(({ length }) => length)).toEqual(Array(passedOn).fill(200));
    expect(drain.dueAt()).toBe(now + 1_000);
    now += 1_000;
    drain.retryIfDue();
  }
  await drain.settled();
  expect(batches.map(({ length }) => length)).toEqual([200, 200, 1]);
  expect([pending(), drain.dueAt(), failures]).toEqual([[], null, []]);
});

it("finishes when the outbox is empty, and rejects while it is not", async () => {
  await drain.finish();
  results = [new Error("on purpose"), new Error("on purpose")];
  record("a");
  await expect(drain.finish()).rejects.toThrow("could not be passed on");
  await drain.finish();
  expect(pending()).toEqual([]);
});

it("reports a streak of failures once with its causes, and a defect at each retry", async () => {
  const unreached = (...failures: unknown[]) => ({ left: new Map([["a", "[1]"]]), failures });
  const lost = new Error("connection lost");
  results = [unreached(lost, new Error("reset"), lost), unreached(lost), new Error("no database")];
  record("a");
  const retry = async () => {
    await drain.settled();
    now = drain.dueAt() ?? now;
    drain.retryIfDue();
    await drain.settled();
  };
  for (let retries = 0; retries < 3; retries += 1) await retry();
  expect([pending(), failures]).toEqual([[], ["AggregateError: Error: connection lost; Error: reset"]]);
  results = [unreached(lost), unreached(new TypeError("x is no function")), new RangeError("too deep")];
  record("a");
  for (let retries = 0; retries < 3; retries += 1) await retry();
  expect(failures.slice(1)).toEqual([
    "Error: connection lost",
    "TypeError: x is no function",
    "RangeError: too deep",
  ]);
});
