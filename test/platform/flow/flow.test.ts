/** Exponential backoff: growth, maximum, and jitter of delays. */

import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import { KeyedLimits, type Rate, reserve, TokenBucket } from "@atrium/contract/pacing/token-bucket.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { roundRobin } from "../../../src/platform/flow/concurrency.ts";
import { FairQueue } from "../../../src/platform/flow/fair-queue.ts";
import { WorkBudget } from "../../../src/platform/flow/work-budget.ts";

const OPTIONS = { firstMs: 250, maxMs: 10_000 };

it("doubles from the first delay up to the longest", () => {
  const delays = [1, 2, 3, 6, 7, 1_000].map((failures) => backoffMs(failures, OPTIONS));
  expect(delays).toEqual([250, 500, 1_000, 8_000, 10_000, 10_000]);
});

it("takes the given random part of the delay", () => {
  expect(backoffMs(3, OPTIONS, 0)).toBe(0);
  expect(backoffMs(3, OPTIONS, 0.25)).toBe(250);
});

it("never shrinks, and never exceeds its bound", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (n, random) => {
        expect(backoffMs(n + 1, OPTIONS)).toBeGreaterThanOrEqual(backoffMs(n, OPTIONS));
        expect(backoffMs(n, OPTIONS, random)).toBeLessThanOrEqual(OPTIONS.maxMs);
      },
    ),
  );
});

// Work for many in turns.

/** Runs pieces of work by their names, each for a number of turns, and returns the order of the turns. */
async function turnsOf(pieces: Readonly<Record<string, number>>, turns: number, concurrency: number) {
  const taken: string[] = [];
  const first = Object.entries(pieces).map(([name, left]) => ({ name, left }));
  await roundRobin(first, { turns, concurrency }, async ({ name, left }) => {
    taken.push(name);
    await null;
    return left > 1 ? { name, left: left - 1 } : null;
  });
  return taken.join("");
}

it("what needs more turns has them behind all others", async () => {
  expect(await turnsOf({ a: 3, b: 1, c: 2 }, 99, 1)).toBe("abcaca");
});

it("no more turns begin than may", async () => {
  expect(await turnsOf({ a: 3, b: 1, c: 2 }, 4, 1)).toBe("abca");
  expect(await turnsOf({ a: 3, b: 1, c: 2 }, 0, 1)).toBe("");
});

it("one that never ends its turn takes one place of those at the same time, and holds up no other", async () => {
  const taken: string[] = [];
  const ends = new Set<() => void>();
  const all = roundRobin(["stuck", "a", "b", "c"], { turns: 9, concurrency: 2 }, (name) => {
    taken.push(name);
    return name === "stuck" ? new Promise((resolve) => ends.add(() => resolve(null))) : Promise.resolve(null);
  });
  await expect.poll(() => taken).toEqual(["stuck", "a", "b", "c"]);
  for (const end of ends) end();
  await all;
});

// Fair queues: keys take turns.

function queueOf(items: Readonly<Record<string, number>>): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const [key, count] of Object.entries(items))
    for (let number = 1; number <= count; number += 1) queue.add(key, `${key}${number}`);
  return queue;
}

it("keys with waiting items take turns (R66)", () => {
  const queue = queueOf({ a: 3, b: 2 });
  expect([queue.take(), queue.take()]).toEqual(["a1", "b1"]);
  queue.add("c", "c1");
  expect(queue.takeAll((item) => item === "b2" || item === "a3")).toEqual(["a3", "b2"]);
  expect([queue.take(), queue.take(), queue.take()]).toEqual(["a2", "c1", undefined]);
});

it("a key whose oldest item is not ready keeps its place and its order", () => {
  const queue = queueOf({ a: 2, b: 2 });
  const isReady = (item: string) => item !== "a1";
  expect([queue.take(isReady), queue.take(isReady), queue.take(isReady)]).toEqual(["b1", "b2", undefined]);
  expect([...queue.heads()]).toEqual(["a1"]);
  expect([queue.take(), queue.itemsOf("a"), queue.itemsOf("b")]).toEqual(["a1", ["a2"], []]);
  expect([queue.takeOf("a"), queue.takeOf("a"), queue.take()]).toEqual([["a2"], [], undefined]);
});

// Token buckets, one by one and by key.

const RATE: Rate = { perSecond: 10, burst: 5 };

it("a bucket refills up to its burst, and says when something is left again", () => {
  const bucket = new TokenBucket(RATE, 0);
  expect(bucket.spend(5, 0)).toBe(0);
  expect([bucket.affordableIn(0), bucket.affordableIn(1)]).toEqual([1, 0]);
  expect(bucket.spend(3, 100)).toBe(-2);
  expect(bucket.affordableIn(100)).toBe(201);
  expect([bucket.left(300), bucket.isFull(799), bucket.isFull(800), bucket.left(9_999)]).toEqual([
    0,
    false,
    true,
    5,
  ]);
});

it("a debt has a limit where the rate says so", () => {
  const bucket = new TokenBucket({ ...RATE, maxDebt: 3 }, 0);
  expect([bucket.spend(7, 0), bucket.spend(7, 0), bucket.spend(1, 100)]).toEqual([-2, -3, -3]);
});

it("a turn comes when each bucket has something left, and is spent unless that is too late", () => {
  const buckets = [new TokenBucket(RATE, 0), new TokenBucket({ perSecond: 1, burst: 1 }, 0)];
  expect(reserve(buckets, 500, 0)).toBe(0);
  expect(reserve(buckets, 1_000, 0)).toBe(1);
  expect(reserve(buckets, 1_000, 0)).toBe(1_001);
  expect(buckets.map((bucket) => bucket.left(0))).toEqual([3, -1]);
});

it("limits by key keep what is owed, and forget what is full as further keys come", () => {
  const created: number[] = [];
  const limits = new KeyedLimits((now) => {
    created.push(now);
    return new TokenBucket(RATE, now);
  });
  limits.of("debtor", 0).spend(100, 0);
  for (let key = 0; key < 1_000; key += 1) limits.of(`${key}`, key).spend(1, key);
  expect(limits.of("debtor", 1_000).left(1_000)).toBe(-85);
  expect(limits.of("0", 1_000).left(1_000)).toBe(5);
  expect(created).toHaveLength(1_002); // the debtor, the others, and the forgotten first one again
});

it("limits by key hold at most as many keys as they may", () => {
  const limits = new KeyedLimits((now) => new TokenBucket(RATE, now), 2);
  for (const key of ["a", "b", "c"]) limits.of(key, 0).spend(5, 0);
  expect(["b", "c"].map((key) => limits.of(key, 0).left(0))).toContain(0);
  expect(limits.of("a", 0).left(0)).toBe(5);
});

// Work budgets: chunks until the work is done or the budget is spent.

const chunks = (count: number) => {
  let left = count;
  return async () => {
    left -= 1;
    return left > 0;
  };
};

it("work ends after its last chunk, or when the budget is spent", async () => {
  const budget = new WorkBudget(5);
  expect(await budget.run(chunks(3))).toBe(true);
  expect(await budget.run(chunks(3))).toBe(false);
  expect([budget.hasLeft, await budget.run(chunks(1))]).toEqual([false, false]);
});

it("a part spends from the whole, and stops with it", async () => {
  const whole = new WorkBudget(3);
  const part = new WorkBudget(2, whole);
  expect(await part.run(chunks(9))).toBe(false);
  expect(whole.hasLeft).toBe(true);
  whole.spend();
  expect(new WorkBudget(2, whole).hasLeft).toBe(false);
});
