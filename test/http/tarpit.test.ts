/** Refusals that wait: what a client pays that goes on although it is refused. */
import { describe, expect, it } from "vitest";
import { Tarpit } from "../../src/http/authenticate.ts";

const delays = (tarpit: Tarpit, count: number, client = "a", isUpgrade = false, now = 0) =>
  Array.from({ length: count }, () => tarpit.delayMs(client, isUpgrade, now));

describe("a client that is refused", () => {
  it("20 times in ten seconds is answered at once, then later each time, up to a second", () => {
    const tarpit = new Tarpit();
    expect(delays(tarpit, 23)).toEqual([...Array<number>(20).fill(0), 50, 100, 150]);
    expect(Math.max(...delays(tarpit, 100))).toBe(1_000);
    expect(delays(tarpit, 1, "b")).toEqual([0]);
    expect(delays(tarpit, 1, "a", false, 10_000)).toEqual([0]);
  });

  it("an upgrade is answered up to five seconds later", () => {
    expect(Math.max(...delays(new Tarpit(), 200, "a", true))).toBe(5_000);
  });

  it("is answered at once while 4,000 others wait, which take memory", () => {
    const tarpit = new Tarpit();
    const many = delays(tarpit, 4_021);
    expect(many.filter((ms) => ms > 0)).toHaveLength(4_000);
    expect(many.at(-1)).toBe(0);
    const [later = 0] = delays(tarpit, 1, "a", false, 5_000);
    expect(later).toBeGreaterThanOrEqual(500);
  });

  it.each([
    ["requests", false, 500, 1_000],
    ["upgrades", true, 2_500, 5_000],
  ])("with a thousand %s at once does not get all answers at the same moment", (_, isUpgrade, from, to) => {
    const longest = delays(new Tarpit(), 1_120, "a", isUpgrade).slice(120);
    const tenths = Array<number>(10).fill(0);
    for (const ms of longest) {
      const tenth = Math.min(9, Math.floor((10 * (ms - from)) / (to - from)));
      tenths[tenth] = (tenths[tenth] ?? Number.NaN) + 1;
    }
    for (const count of tenths) expect(count).toBeGreaterThan(90);
    expect(Math.min(...longest)).toBeGreaterThanOrEqual(from);
  });
});
