/** Dates in filters: RFC 3339 and nothing else. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { parseTime, presentTime } from "@atrium/contract/time.ts";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { runTasks } from "../../src/platform/flow/concurrency.ts";
import { DurableAlarm } from "../../src/platform/objects/durable-alarm.ts";

describe("date filters", () => {
  it.each([
    ["2026-02-03T04:05:06Z", "2026-02-03T04:05:06.000Z"],
    ["2026-02-03t04:05:06z", "2026-02-03T04:05:06.000Z"],
    ["2026-02-03T04:05:06.7Z", "2026-02-03T04:05:06.700Z"],
    ["2026-02-03T04:05:06+05:30", "2026-02-02T22:35:06.000Z"],
    ["2026-02-03T04:05:06-00:00", "2026-02-03T04:05:06.000Z"],
    ["0099-12-31T00:00:00Z", "0099-12-31T00:00:00.000Z"],
  ])("reads %s as %s", (text, expected) => {
    const parsed = parseTime(text, "from");
    expect(parsed === null ? null : presentTime(parsed)).toBe(expected);
  });

  it("takes a bare date as the whole UTC day", () => {
    expect(parseTime("2026-02-28", "from")).toBe(Date.UTC(2026, 1, 28));
    expect(parseTime("2026-02-28", "to")).toBe(Date.UTC(2026, 2, 1) - 1);
  });

  it.each([
    ["2016-12-31T23:59:60Z", "2017-01-01"],
    ["2016-12-31T18:59:60.5-05:00", "2017-01-01"],
    ["2017-01-01T05:29:60+05:30", "2017-01-01"],
    ["1972-06-30T23:59:60Z", "1972-07-01"],
    ["2015-06-30t23:59:60.999z", "2015-07-01"],
  ])("takes the leap second %s as the end of a day", (text, next) => {
    expect(parseTime(text, "from")).toBe(Date.parse(next));
    expect(parseTime(text, "to")).toBe(Date.parse(next) - 1);
  });

  it.each([
    "2016-12-31T23:59:61Z",
    "2016-12-31T23:58:60Z",
    "2016-12-31T22:59:60Z",
    "2016-12-31T23:59:60+01:00",
    "2017-12-31T23:59:60Z",
    "2016-06-30T23:59:60Z",
    "2015-12-31T23:59:60Z",
    "2025-06-30T23:59:60Z",
  ])("refuses %s, for there was no such leap second", (text) => {
    expect(parseTime(text, "to")).toBeNull();
  });

  it("rounds what is finer than a millisecond inwards", () => {
    expect(parseTime("2026-01-01T00:00:00.0001Z", "from")).toBe(Date.UTC(2026, 0, 1) + 1);
    expect(parseTime("2026-01-01T00:00:00.0009Z", "to")).toBe(Date.UTC(2026, 0, 1));
    expect(parseTime("2026-01-01T00:00:00.5000Z", "from")).toBe(Date.UTC(2026, 0, 1) + 500);
  });

  it.each([
    "",
    "now",
    "2026",
    "2026-02",
    "2026-02-30",
    "2025-02-29",
    "2026-13-01",
    "2026-00-10",
    "2026-1-1",
    "2026-02-03T04:05:06",
    "2026-02-03T04:05Z",
    "2026-02-03 04:05:06Z",
    "2026-02-03T24:00:00Z",
    "2026-02-03T23:60:00Z",
    "2026-02-03T23:59:60Z",
    "2026-02-03T04:05:06+24:00",
    "2026-02-03T04:05:06.Z",
    "+002026-02-03T04:05:06Z",
    "2026-02-03T04:05:06Z ",
    "1770091506",
    "२०२६-०१-०१",
  ])("refuses %j", (text) => {
    expect(parseTime(text, "from")).toBeNull();
  });

  it("writes every time, in any order, as the runtime does", () => {
    fc.assert(
      fc.property(fc.array(fc.date({ noInvalidDate: true })), (dates) => {
        for (const date of dates) expect(presentTime(date.getTime())).toBe(date.toISOString());
      }),
    );
    expect(() => presentTime(Number.NaN)).toThrow(RangeError);
  });

  it("reads back every time that it shows", () => {
    const time = fc.date({
      min: new Date("0000-01-01T00:00:00.000Z"),
      max: new Date("9999-12-31T23:59:59.999Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(time, (date) => {
        expect(parseTime(presentTime(date.getTime()), "from")).toBe(date.getTime());
        expect(parseTime(presentTime(date.getTime()), "to")).toBe(date.getTime());
      }),
    );
  });
});

// Work that fails or hangs costs the work beside it nothing.

const HANGS = () => new Promise<never>(() => {});

it("tasks that fail or hang keep no other from its end, and are all named in the error", async () => {
  const ended: string[] = [];
  const end = async () => void ended.push("ended");
  const fail = async () => Promise.reject(new Error("It failed"));
  await runTasks({ end }, 60_000);
  await expect(runTasks({ fail, end }, 60_000)).rejects.toThrow(/^It failed$/);
  const both = runTasks({ hangs: HANGS, fail, end }, 20);
  await expect(both).rejects.toThrow("Error: It failed; Error: The task hangs did not end in time");
  expect(ended).toEqual(["ended", "ended", "ended"]);
});

// The durable alarm of an object: set by the earliest time, replaced only by an earlier one.

/** Far ahead of the real time, so that no alarm goes off. */
const START = Date.UTC(2100, 0, 1);

const unexpected = (error: unknown): void => {
  throw error;
};

it("is set to the earliest time, and moved only forward", () =>
  runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), async (_, ctx) => {
    const alarm = new DurableAlarm(ctx, unexpected);
    await ctx.blockConcurrencyWhile(async () => undefined);
    alarm.scheduleBy([null, null]);
    expect(await ctx.storage.getAlarm()).toBeNull();
    alarm.scheduleBy([START + 500, null, START + 300]);
    expect(await ctx.storage.getAlarm()).toBe(START + 300);
    alarm.scheduleBy([START + 400]);
    expect(await ctx.storage.getAlarm()).toBe(START + 300);
    alarm.scheduleBy([START + 200]);
    expect(await ctx.storage.getAlarm()).toBe(START + 200);
    alarm.markFired();
    alarm.scheduleBy([START + 900]);
    expect(await ctx.storage.getAlarm()).toBe(START + 900);
  }));

it("knows the alarm that was set before the object restarted", () =>
  runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), async (_, ctx) => {
    await ctx.storage.setAlarm(START);
    const alarm = new DurableAlarm(ctx, unexpected);
    await ctx.blockConcurrencyWhile(async () => undefined);
    alarm.scheduleBy([START + 100]);
    expect(await ctx.storage.getAlarm()).toBe(START);
  }));

it("that could not be set is reported, and set by the next plan", () =>
  runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), async (_, ctx) => {
    const reported = Promise.withResolvers<unknown>();
    const alarm = new DurableAlarm(ctx, reported.resolve);
    await ctx.blockConcurrencyWhile(async () => undefined);
    const spy = vi.spyOn(ctx.storage, "setAlarm").mockRejectedValueOnce(new Error("no alarm today"));
    alarm.scheduleBy([START + 200]);
    expect(await reported.promise).toMatchObject({ message: "no alarm today" });
    alarm.scheduleBy([START + 300]);
    expect(await ctx.storage.getAlarm()).toBe(START + 300);
    spy.mockRestore();
  }));
