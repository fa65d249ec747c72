/** The archive of a subscriber's object: what waits, and what was delivered, is restored, and nothing is enqueued twice. */

import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { OutgoingEvent, SubscriberKey } from "../../src/delivery/outbox/subscription.ts";
import type { SubscriberObject } from "../../src/delivery/subscriber/subscriber-object.ts";
import { openDelivery } from "../../src/delivery/subscribers.ts";
import { toAppError } from "../../src/http/envelope.ts";
import { archivedObject } from "../../src/platform/objects/object-archive.ts";
import { account } from "../support/api.ts";
import { collectSlices, restoreSlices } from "../support/archive.ts";
import { RecordingSubscriber } from "./recording-subscriber.ts";

/** Far ahead of the real time, so that no alarm ever fires unless a test runs it. */
const START = Date.UTC(2100, 0, 1);
const PAGE = { limit: 100, offset: 0 };

const { subscribers } = openDelivery(env);

const eventOf = (number: number): OutgoingEvent => ({
  eventId: `event ${number}`,
  event: "user.created",
  roomId: `room ${number % 3}`,
  body: JSON.stringify({ number }),
  occurredAt: START,
});

it("a webhook's queue is restored with its history, and goes on where it was", async () => {
  const owner = await account();
  const { webhook } = await RecordingSubscriber.create(owner.api, { behaviour: "status/500" });
  const key: SubscriberKey = { kind: "webhook", accountId: owner.id, id: webhook.id };
  const object = archivedObject("Webhooks", () => subscribers(key));
  const stub = env.SUBSCRIBERS.getByName(`webhook:${key.id}`);
  const at = (now: number, rows = 3) =>
    runInDurableObject(stub, (subscriber: SubscriberObject) => {
      subscriber.clock = () => now;
      subscriber.archived.reader.limits = { rows, bytes: 100_000 };
    });
  const list = async () => (await subscribers(key).list("any", PAGE)).deliveries;
  const attempts = async () => (await list()).reduce((sum, { attempts }) => sum + attempts, 0);
  await at(START);
  const events = Array.from({ length: 5 }, (_, number) => eventOf(number));
  await subscribers(key).enqueue(key, events, 1);
  await expect.poll(attempts).toBe(5);
  const slices = await collectSlices(object, ({ length }) =>
    length === 1 ? subscribers(key).redeliver(key, "none") : undefined,
  );
  expect(slices.length).toBeGreaterThan(3);
  const before = [await list(), await subscribers(key).stats("1h")];
  await subscribers(key).remove();
  expect(await list()).toEqual([]);

  for (const slice of slices.slice(0, 2)) await object.restore(slice);
  for (const call of [
    list,
    () => subscribers(key).enqueue(key, events, 1),
    () => subscribers(key).findReplay(),
  ]) {
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    expect(toAppError(error, "Webhooks")).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 5 });
  }
  await subscribers(key).remove(); // a restore that is given up
  await restoreSlices(object, slices);
  expect([await list(), await subscribers(key).stats("1h")]).toEqual(before);
  await subscribers(key).enqueue(key, [...events, eventOf(9)], 1);
  expect((await list()).map(({ seq, eventId }) => [seq, eventId])).toEqual(
    [...events, eventOf(9)].map(({ eventId }, index) => [index + 1, eventId]).reverse(),
  );
  await expect.poll(attempts).toBeGreaterThanOrEqual(6);
  await at(START + 24 * 60 * 60 * 1000);
  expect(await runDurableObjectAlarm(stub)).toBe(true);
  await expect.poll(attempts).toBeGreaterThan(6);
});

it("a restored queue says anew what waits in it, whatever the quotas have of it", async () => {
  const owner = await account();
  const { webhook } = await RecordingSubscriber.create(owner.api, { behaviour: "status/500" });
  const key: SubscriberKey = { kind: "webhook", accountId: owner.id, id: webhook.id };
  const stub = env.SUBSCRIBERS.getByName(`webhook:${key.id}`);
  const waiting = () =>
    env.DB.prepare("SELECT events FROM backlogs WHERE subscriber_id = ?").bind(key.id).first("events");
  await runInDurableObject(stub, (subscriber: SubscriberObject) => {
    subscriber.clock = () => START;
  });
  const events = Array.from({ length: 120 }, (_, number) => eventOf(number));
  await subscribers(key).enqueue(key, events, 1);
  await expect.poll(waiting).toBe(120);
  const object = archivedObject("Webhooks", () => subscribers(key));
  const slices = await collectSlices(object, () => undefined);
  await subscribers(key).remove();
  await env.DB.prepare("UPDATE backlogs SET events = 7 WHERE subscriber_id = ?").bind(key.id).run();
  await restoreSlices(object, slices);
  await runDurableObjectAlarm(stub);
  await expect.poll(waiting).toBe(120);
});
