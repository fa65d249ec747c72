/** R49 for the flush policy alone: at once in a calm room, in ticks in a busy one. */
import { expect, it } from "vitest";
import { TickPolicy } from "../../../src/room/transport/batching.ts";

/** The time between two flushes at a steady rate of requested deliveries. */
function gapAt(perSecond: number): number {
  const policy = new TickPolicy();
  let flushedAt = 0;
  let gap = 0;
  for (let now = 0; now < 10_000; now += 1) {
    policy.count(perSecond / 1000, now);
    if (policy.dueAt(now) > now) continue;
    gap = now - flushedAt;
    flushedAt = now;
    policy.recordFlush(now);
    policy.recordSent(now);
  }
  return gap;
}

it("a tick gets longer with the deliveries requested (R49)", () => {
  expect([1_000, 2_500, 8_000, 48_000, 200_000].map(gapAt)).toEqual([1, 1, 16, 16, 33]);
});

it("a room that has calmed down sends at once again (R49)", () => {
  const policy = new TickPolicy();
  policy.count(1_000_000, 0);
  policy.recordFlush(0);
  policy.recordSent(0);
  expect(policy.dueAt(1)).toBe(33);
  expect(policy.dueAt(8_000)).toBe(8_000);
  policy.recordFlush(8_000);
  expect(policy.dueAt(8_000)).toBe(8_000);
});

it("a tick waits until the one before is sent, and then for a part of that time, but not for more than a second (R49)", () => {
  const policy = new TickPolicy();
  const flushAt = (now: number) => {
    policy.count(1_000_000, now);
    policy.recordFlush(now);
  };
  flushAt(0);
  expect(policy.dueAt(1)).toBe(1_000);
  expect([policy.recordSent(200), policy.recordSent(201)]).toEqual([true, false]);
  policy.count(1_000_000, 200);
  expect([policy.intervalAt(200), policy.dueAt(200)]).toEqual([260, 260]);
  flushAt(260);
  policy.recordSent(270);
  expect([policy.intervalAt(270), policy.dueAt(270)]).toEqual([33, 293]);
  flushAt(293);
  expect([policy.dueAt(1_200), policy.dueAt(1_400)]).toEqual([1_293, 1_400]);
  policy.recordSent(1_400);
  expect(policy.intervalAt(20_000)).toBe(0);
});

it("a tick that has nothing to send does not show how long the next one takes (R49)", () => {
  const policy = new TickPolicy();
  policy.count(1_000_000, 0);
  policy.recordFlush(0);
  policy.recordSent(200);
  policy.recordFlush(260);
  policy.recordEmpty();
  expect([policy.recordSent(260), policy.intervalAt(260), policy.dueAt(260)]).toEqual([false, 260, 520]);
});
