/** Exponential backoff: how delays grow, where they stop, and what jitter does to them. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { backoffMs } from "../../../src/platform/flow/backoff.ts";

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
