/** The durable alarm of an object: set by the earliest time, replaced only by an earlier one. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { DurableAlarm } from "../../src/platform/objects/durable-alarm.ts";

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
