/** Schedules of workflows: what is accepted, and when their slots come, also when clocks change. */
import { describe, expect, it } from "vitest";
import {
  findCronProblem,
  isSlot,
  isTimeZone,
  latestSlot,
  nextSlot,
  type Schedule,
} from "../../src/features/workflows/schedule.ts";

const MINUTE_MS = 60_000;
const time = (iso: string): number => Date.parse(iso);

/** The next slots after a time, in UTC. */
function slots(cron: string, timezone: string, after: string, count: number): string[] {
  const found: string[] = [];
  for (let at = time(after); found.length < count; ) {
    const next = nextSlot({ cron, timezone }, at);
    if (next === null) break;
    found.push(new Date(next).toISOString().slice(5, 16));
    at = next;
  }
  return found;
}

describe("a cron expression", () => {
  it.each(["* * * * *", "*/7 * * * *", "0 9 * * 1-5", "0 9 * * MON,FRI", "0 0 29 2 *", " 5  4 * JAN 0 "])(
    "is accepted: %j",
    (cron) => expect(findCronProblem(cron)).toBe(null),
  );

  it.each([
    ["* * * * * *", /five fields/],
    ["* * * *", /five fields/],
    ["@daily", /five fields/],
    ["60 * * * *", /cron expression .*minute: 60/],
    ["a * * * *", /cron expression/],
    ["*/0 * * * *", /cron expression/],
    ["0 22-4 * * *", /cron expression/],
    ["0 0 30 2 *", /never comes/],
  ])("is refused: %j", (cron, problem) => expect(findCronProblem(cron)).toMatch(problem));

  it("has a slot in each minute at most", () => {
    expect(slots("* * * * *", "UTC", "2026-01-31T09:30:00.001Z", 2)).toEqual(["01-31T09:31", "01-31T09:32"]);
    expect(slots("* * * * *", "UTC", "2026-01-31T09:30:00.000Z", 1)).toEqual(["01-31T09:31"]);
  });

  it("is met by either day, if both are given", () => {
    expect(slots("0 9 13 * 5", "UTC", "2026-11-05T12:00Z", 3)).toEqual([
      "11-06T09:00",
      "11-13T09:00",
      "11-20T09:00",
    ]);
  });
});

it("a time zone has an IANA name", () => {
  expect(["UTC", "Europe/Berlin", "America/New_York"].filter((name) => !isTimeZone(name))).toEqual([]);
  expect(["", "Nowhere", "Europe/Atlantis", "9"].filter(isTimeZone)).toEqual([]);
});

describe("when clocks go forward (Berlin, 29 March 2026, from 2:00 to 3:00)", () => {
  it.each([
    ["30 2 * * *", ["03-28T01:30", "03-29T01:00", "03-30T00:30"]],
    ["30 2,14 * * *", ["03-28T01:30", "03-28T13:30", "03-29T01:00", "03-29T12:30"]],
    ["0 2,3 * * *", ["03-28T01:00", "03-28T02:00", "03-29T01:00", "03-30T00:00"]],
  ])("a fixed time that is skipped comes once, when the clock goes on: %s", (cron, expected) => {
    expect(slots(cron, "Europe/Berlin", "2026-03-28T00:00Z", expected.length)).toEqual(expected);
  });

  it("a step goes on as the clock does", () => {
    expect(slots("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:00Z", 4)).toEqual([
      "03-29T00:30",
      "03-29T01:00",
      "03-29T01:30",
      "03-29T02:00",
    ]);
    expect(slots("0 */2 * * *", "Europe/Berlin", "2026-03-28T22:00Z", 2)).toEqual([
      "03-28T23:00",
      "03-29T02:00",
    ]);
  });
});

describe("when clocks go back (Berlin, 25 October 2026, from 3:00 to 2:00)", () => {
  it.each([
    ["30 2 * * *", ["10-24T00:30", "10-25T00:30", "10-26T01:30"]],
    ["30 2,14 * * *", ["10-24T00:30", "10-24T12:30", "10-25T00:30", "10-25T13:30"]],
  ])("a fixed time that is repeated comes once, the first time: %s", (cron, expected) => {
    expect(slots(cron, "Europe/Berlin", "2026-10-24T00:00Z", expected.length)).toEqual(expected);
  });

  it("a step comes in both hours", () => {
    expect(slots("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:59Z", 5)).toEqual([
      "10-25T00:00",
      "10-25T00:30",
      "10-25T01:00",
      "10-25T01:30",
      "10-25T02:00",
    ]);
  });
});

describe("after a stop", () => {
  const latest = (schedule: Schedule, first: string, now: string) =>
    new Date(latestSlot(schedule, time(first), time(now))).toISOString().slice(0, 16);

  it.each([
    ["0 * * * *", "2026-01-31T09:00Z", "2026-01-31T09:00:00.000Z", "2026-01-31T09:00"],
    ["0 * * * *", "2026-01-31T09:00Z", "2026-01-31T09:59:59.999Z", "2026-01-31T09:00"],
    ["0 * * * *", "2026-01-31T09:00Z", "2026-02-03T12:30:00.000Z", "2026-02-03T12:00"],
    ["* * * * *", "2026-01-31T09:00Z", "2027-01-31T09:30:10.000Z", "2027-01-31T09:30"],
    ["0 9 1 1 *", "2026-01-01T09:00Z", "2031-12-31T23:59:59.000Z", "2031-01-01T09:00"],
    ["*/5 9 * * 1", "2026-11-16T09:00Z", "2026-11-22T18:00:00.000Z", "2026-11-16T09:55"],
  ])("the latest slot of %s from %s to %s is %s", (cron, first, now, expected) => {
    expect(latest({ cron, timezone: "UTC" }, first, now)).toBe(expected);
  });

  it("is found among all slots, whatever the zone", () => {
    const schedule = { cron: "*/20 1-3 * * *", timezone: "Europe/Berlin" };
    const first = nextSlot(schedule, time("2026-10-24T12:00Z")) ?? 0;
    for (let slot = first; slot < time("2026-10-27T00:00Z"); ) {
      const following = nextSlot(schedule, slot) ?? 0;
      expect(isSlot(schedule, slot)).toBe(true);
      expect(isSlot(schedule, slot + MINUTE_MS)).toBe(following === slot + MINUTE_MS);
      expect(latestSlot(schedule, first, slot)).toBe(slot);
      expect(latestSlot(schedule, first, following - 1)).toBe(slot);
      slot = following;
    }
  });
});
