/** R49 as a planner of its own: at once in a calm room, in ticks in a busy one. */
import { expect, it } from "vitest";
import { Pace } from "../../src/realtime/pace.ts";

/** The time from one flush to the next when each millisecond asks for so many deliveries. */
function gapAt(perSecond: number): number {
  const pace = new Pace();
  let flushedAt = 0;
  let gap = 0;
  for (let now = 0; now < 10_000; now += 1) {
    pace.count(perSecond / 1000, now);
    if (pace.dueAt(now) > now) continue;
    gap = now - flushedAt;
    flushedAt = now;
    pace.flushed(now);
  }
  return gap;
}

it("a tick stretches with what is asked to be delivered (R49)", () => {
  expect([1_000, 2_500, 8_000, 48_000, 200_000].map(gapAt)).toEqual([1, 1, 16, 16, 33]);
});

it("a room that has calmed down speaks at once again (R49)", () => {
  const pace = new Pace();
  pace.count(1_000_000, 0);
  pace.flushed(0);
  expect(pace.dueAt(1)).toBe(33);
  expect(pace.dueAt(8_000)).toBe(8_000);
  pace.flushed(8_000);
  expect(pace.dueAt(8_000)).toBe(8_000);
});
