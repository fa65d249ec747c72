/** Token buckets, one by one and by key. */
import { expect, it } from "vitest";
import { KeyedLimits, type Rate, TokenBucket, takeTurn } from "../../../src/platform/flow/token-bucket.ts";

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
  expect(takeTurn(buckets, 500, 0)).toBe(0);
  expect(takeTurn(buckets, 1_000, 0)).toBe(1);
  expect(takeTurn(buckets, 1_000, 0)).toBe(1_001);
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
