/** Refusals that wait: what a client pays that goes on although it is refused. */
import { describe, expect, it } from "vitest";
import { LateRefusals } from "../../src/http/late-refusals.ts";

const delays = (refusals: LateRefusals, count: number, client = "a", isUpgrade = false, now = 0) =>
  Array.from({ length: count }, () => refusals.delayMs(client, isUpgrade, now));

describe("a client that is refused", () => {
  it("20 times in ten seconds is answered at once, then later each time, up to a second", () => {
    const refusals = new LateRefusals();
    expect(delays(refusals, 23)).toEqual([...Array<number>(20).fill(0), 50, 100, 150]);
    expect(Math.max(...delays(refusals, 100))).toBe(1_000);
    expect(delays(refusals, 1, "b")).toEqual([0]);
    expect(delays(refusals, 1, "a", false, 10_000)).toEqual([0]);
  });

  it("an upgrade is answered up to five seconds later", () => {
    expect(Math.max(...delays(new LateRefusals(), 200, "a", true))).toBe(5_000);
  });

  it("is answered at once while 4,000 others wait, which take memory", () => {
    const refusals = new LateRefusals();
    const many = delays(refusals, 4_021);
    expect(many.filter((ms) => ms > 0)).toHaveLength(4_000);
    expect(many.at(-1)).toBe(0);
    expect(delays(refusals, 1, "a", false, 5_000)).toEqual([1_000]);
  });
});
