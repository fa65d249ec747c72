/** When a failed run is made again. */
import { expect, it } from "vitest";
import { MAX_RETRIES, planRetry } from "../../src/workflows/run-retries.ts";

it("a failed run is made again after growing pauses, until there are no retries left", () => {
  const pauses = (retries: number) =>
    Array.from({ length: 7 }, (_, index) => planRetry(index + 1, retries, 1_000)).map(
      (at) => at && (at - 1_000) / 1_000,
    );
  expect(pauses(0)).toEqual([null, null, null, null, null, null, null]);
  expect(pauses(2)).toEqual([5, 30, null, null, null, null, null]);
  expect(pauses(MAX_RETRIES)).toEqual([5, 30, 120, 600, 1_800, null, null]);
});
