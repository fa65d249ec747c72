/** When failed deliveries are retried, and when a webhook is hopeless. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  JITTER,
  judgeFailing,
  MAX_FAILING_MS,
  MAX_RETRY_AFTER_MS,
  planRetry,
  RETRY_DELAYS_MS,
} from "../../src/features/webhooks/receiver-health.ts";

const HOUR_MS = 3_600_000;
const failure = { outcome: "failed", retryAfterMs: null } as const;
const middle = () => 0.5;

describe("a delivery that fails", () => {
  it("is attempted after 0 s, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, and then no more", () => {
    const delays = RETRY_DELAYS_MS.map(
      (_, index) => planRetry({ attempts: index + 1, result: failure, now: 0, random: middle })?.at ?? null,
    );
    const [hours, minutes] = [(count: number) => count * HOUR_MS, (count: number) => count * 60_000];
    const expected = [
      5000,
      minutes(5),
      minutes(30),
      hours(2),
      hours(5),
      hours(10),
      hours(14),
      hours(20),
      hours(24),
    ];
    expect(delays).toEqual([...expected, null]);
    expect(RETRY_DELAYS_MS[0]).toBe(0);
    expect(planRetry({ attempts: 11, result: failure, now: 0, random: middle })).toBeNull();
  });

  it("varies by a fifth in both directions, and waits as long as the receiver asks, up to a day", () => {
    const asked = fc.option(fc.oneof(fc.nat(3 * 24 * HOUR_MS), fc.constant(Number.MAX_SAFE_INTEGER)));
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.nat(),
        chance,
        asked,
        (attempts, now, random, retryAfterMs) => {
          const result = { outcome: "failed", retryAfterMs } as const;
          const wait = (planRetry({ attempts, result, now, random: () => random })?.at ?? 0) - now;
          const base = RETRY_DELAYS_MS[attempts] ?? 0;
          const [shortest, longest] = [base * (1 - JITTER), base * (1 + JITTER)];
          const wished = Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
          expect(Number.isInteger(wait)).toBe(true);
          expect(wait).toBeGreaterThanOrEqual(Math.max(Math.floor(shortest), wished));
          expect(wait).toBeLessThanOrEqual(Math.max(Math.ceil(longest), wished));
        },
      ),
    );
  });

  it("uses the whole range of jitter", () => {
    const at = (random: number) =>
      planRetry({ attempts: 1, result: failure, now: 1000, random: () => random })?.at;
    expect([at(0), at(0.5), at(0.999_999)]).toEqual([5000, 6000, 7000]);
  });
});

it.each(["delivered", "gone"] as const)("a delivery that is %s is not retried", (outcome) => {
  const result = { outcome, retryAfterMs: 1000 };
  expect(planRetry({ attempts: 1, result, now: 0, random: middle })).toBeNull();
});

it("a webhook is hopeless after five days of failures alone; a success or a change of its row starts anew", () => {
  expect(MAX_FAILING_MS).toBe(120 * HOUR_MS);
  const after = (failingSince: number | null, now: number, fields: object = {}) =>
    judgeFailing({ failingSince, version: 1 }, { hasFailed: true, version: 1, now, ...fields });
  expect(after(null, 7)).toEqual({ failingSince: 7, version: 1, isHopeless: false });
  expect(after(7, 7 + MAX_FAILING_MS - 1)).toEqual({ failingSince: 7, version: 1, isHopeless: false });
  expect(after(7, 7 + MAX_FAILING_MS)).toEqual({ failingSince: 7, version: 1, isHopeless: true });
  const [success, change] = [{ hasFailed: false }, { version: 2 }];
  expect(after(7, 7 + MAX_FAILING_MS, success)).toEqual({
    failingSince: null,
    version: 1,
    isHopeless: false,
  });
  const sinceChange = { failingSince: 7 + MAX_FAILING_MS, version: 2, isHopeless: false };
  expect(after(7, 7 + MAX_FAILING_MS, change)).toEqual(sinceChange);
});
