/** Work in the background on Cloudflare's free plan, which allows an invocation 50 calls of any kind. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { roomService } from "../../src/features/room-content/room-service.ts";
import type { OutboxEvent } from "../../src/room/storage/sqlite-outbox.ts";
import { runHere, runScheduledTasks } from "../../src/scheduled.ts";
import { RecordingSubscriber } from "../delivery/recording-subscriber.ts";
import { type Account, account } from "../support/api.ts";

const ALLOWED = 50;
const WEBHOOKS = 40;
const NAMESPACES = ["ROOMS", "SUBSCRIBERS", "EVENT_LOGS", "INBOXES", "REQUEST_LOGS"] as const;

/** A proxy of `target` that counts the calls of its methods, or of those of `only`. */
const counting = <Target extends object>(target: Target, count: () => void, only?: string): Target =>
  new Proxy(target, {
    get(from, name) {
      const value: unknown = Reflect.get(from, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (only === undefined || only === name) count();
        return Reflect.apply(value, from, args);
      };
    },
  });

/** A deployment of one database: of several, tasks share invocations. */
const { DB_2: _second, DB_3: _third, ...deployment } = { ...env, PLAN: "free" };

/** The bindings of a deployment on the free plan, in one invocation, with the number of its calls so far. */
function invocation() {
  let calls = 0;
  const count = () => {
    calls += 1;
  };
  const objects = Object.fromEntries(
    NAMESPACES.map((name) => [name, { getByName: (id: string) => counting(env[name].getByName(id), count) }]),
  );
  const stores = { DB: counting(env.DB, count, "batch"), FILES: counting(env.FILES, count) };
  return { bindings: { ...deployment, ...objects, ...stores }, calls: () => calls };
}

/** An organization whose webhooks listen to the ends of rooms and to who comes. */
async function ownerWithWebhooks(): Promise<Account> {
  const owner = await account();
  const create = () =>
    RecordingSubscriber.create(owner.api, { events: ["room.deleted", "participant.joined"] });
  await Promise.all(Array.from({ length: WEBHOOKS }, create));
  return owner;
}

it("the cron trigger expires rooms and relays their events to many webhooks within the calls of each invocation", async () => {
  const owner = await ownerWithWebhooks();
  for (let number = 0; number < 6; number += 1) await owner.api.createRoom();
  const now = Date.now();
  await env.DB.prepare("UPDATE rooms SET ends_at = ? WHERE account_id = ?").bind(now, owner.id).run();
  const left = async () => (await owner.api.get<{ total: number }>("/rooms")).data.total;
  const counts: number[] = [];
  const run = (at: number) =>
    runScheduledTasks(deployment, at, async (names) => {
      const { bindings, calls } = invocation();
      await runHere(bindings, names, at);
      counts.push(calls());
    });
  for (let minute = 1; (await left()) > 0; minute += 1) await run(now + minute * 60_000);
  expect(Math.max(...counts)).toBeGreaterThan(20);
  expect(Math.max(...counts)).toBeLessThanOrEqual(ALLOWED);
});

it("a room passes an event on to many webhooks within the calls of one invocation, and keeps the others for the next", async () => {
  const owner = await ownerWithWebhooks();
  const room = { accountId: owner.id, roomId: (await owner.api.createRoom()).id };
  const event: Omit<OutboxEvent, "pendingSubscriptions"> = {
    seq: 1,
    id: crypto.randomUUID(),
    event: "participant.joined",
    occurredAt: Date.now(),
    body: "{}",
    trace: null,
  };
  let pending: string | null = null;
  const left: number[] = [];
  do {
    const { bindings, calls } = invocation();
    const service = roomService(bindings);
    const events = [{ ...event, pendingSubscriptions: pending }];
    const unreached = await service.fanOut(room, events, service.newCalls(), false);
    pending = unreached.left.get(event.id) ?? null;
    left.push(JSON.parse(pending ?? "[]").length);
    expect(calls()).toBeLessThanOrEqual(ALLOWED);
  } while (pending !== null);
  expect(left).toEqual([17, 0]);
});
