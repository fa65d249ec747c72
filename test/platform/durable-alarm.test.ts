/** The durable alarm of an object: set by the earliest time, replaced only by an earlier one. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { DurableAlarm } from "../../src/platform/durable-alarm.ts";

/** Far ahead of the real time, so that no alarm goes off. */
const START = Date.UTC(2100, 0, 1);

it("is set to the earliest time, and moved only forward", () =>
  runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), async (_, ctx) => {
    const alarm = new DurableAlarm(ctx);
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
    const alarm = new DurableAlarm(ctx);
    await ctx.blockConcurrencyWhile(async () => undefined);
    alarm.scheduleBy([START + 100]);
    expect(await ctx.storage.getAlarm()).toBe(START);
  }));
