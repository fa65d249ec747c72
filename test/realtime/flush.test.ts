/** R49 and R58 as planners of their own: at once in a calm room, in ticks and with rests in a busy one. */
import { expect, it } from "vitest";
import { RestPolicy, TickPolicy } from "../../src/realtime/transport/flush.ts";

/** The time from one flush to the next when each millisecond asks for so many deliveries. */
function gapAt(perSecond: number): number {
  const pace = new TickPolicy();
  let flushedAt = 0;
  let gap = 0;
  for (let now = 0; now < 10_000; now += 1) {
    pace.count(perSecond / 1000, now);
    if (pace.dueAt(now) > now) continue;
    gap = now - flushedAt;
    flushedAt = now;
    pace.recordFlush(now);
  }
  return gap;
}

it("a tick stretches with what is asked to be delivered (R49)", () => {
  expect([1_000, 2_500, 8_000, 48_000, 200_000].map(gapAt)).toEqual([1, 1, 16, 16, 33]);
});

it("a room that has calmed down speaks at once again (R49)", () => {
  const pace = new TickPolicy();
  pace.count(1_000_000, 0);
  pace.recordFlush(0);
  expect(pace.dueAt(1)).toBe(33);
  expect(pace.dueAt(8_000)).toBe(8_000);
  pace.recordFlush(8_000);
  expect(pace.dueAt(8_000)).toBe(8_000);
});

it("what must arrive goes at once after a flush that reached few, and later the more it reached (R58)", () => {
  const rest = new RestPolicy();
  expect(rest.dueAt(1_000)).toBe(1_000);
  rest.recordFlush(1_000, 1);
  expect(rest.dueAt(1_001)).toBe(1_001);
  rest.recordFlush(1_001, 100);
  expect(rest.dueAt(1_001)).toBe(1_004);
  rest.recordFlush(2_000, 1_000);
  expect(rest.dueAt(2_001)).toBe(2_030);
  expect(rest.dueAt(2_031)).toBe(2_031);
});
