/** A subscriber's queue reads its database by index, and counts exactly. */
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import type { OutgoingEvent, SubscriberKey } from "../../src/delivery/outbox/subscription.ts";
import { listDeliveries } from "../../src/delivery/subscriber/delivery-list.ts";
import { DeliveryStore } from "../../src/delivery/subscriber/delivery-store.ts";
import { DeliveryRetention } from "../../src/delivery/subscriber/subscriber-maintenance.ts";
import type { SubscriberObjectBase } from "../../src/delivery/subscriber/subscriber-object.ts";
import { openDelivery } from "../../src/delivery/subscribers.ts";
import { toAppError } from "../../src/http/envelope.ts";
import { archivedObject } from "../../src/platform/objects/object-archive.ts";
import { account } from "../support/api.ts";
import { collectSlices, restoreSlices } from "../support/archive.ts";
import { expectLogged } from "../support/log-guard.ts";
import { planIn } from "../support/plan-guard.ts";
import { RecordingSubscriber } from "./recording-subscriber.ts";
import { ATTEMPT, StubbedSubscriber } from "./stubbed-subscriber.ts";
import { outgoingEvent, START } from "./test-queue.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Backlogs are bounded by their age, and by few bytes. */
const SMALL = { ports: { limits: { maxBytes: 10_000, maxAgeMs: 7 * DAY_MS } } };

function expectExactTotals({ state }: StubbedSubscriber): void {
  const store = new DeliveryStore(state.storage);
  for (const status of ["pending", "success", "failed"] as const) {
    const counted = state.storage.sql.exec(
      `SELECT count(*) AS deliveries,
         ifnull(sum(600 + length(CAST(body AS BLOB)) + length(CAST(log AS BLOB))), 0) AS bytes
       FROM deliveries WHERE status = ?`,
      status,
    );
    expect(store.total(status)).toEqual(counted.one());
  }
}

describe("the totals of a queue", () => {
  it("stay exact through deliveries, retries, failures and deletions", () =>
    StubbedSubscriber.run(async (subject) => {
      subject.outcome = (number) => {
        if (number % 3 === 0) return { type: "delivered", attempt: ATTEMPT };
        return number % 3 === 1
          ? { type: "retry", at: START + 1_000, attempt: ATTEMPT, error: "It failed" }
          : { type: "failed", attempt: ATTEMPT, error: "It failed: äöü" };
      };
      const events = Array.from({ length: 30 }, (_, number) =>
        outgoingEvent(number, { roomId: `room ${number % 4}` }),
      );
      subject.enqueue(events);
      await expect.poll(() => subject.attempted.length).toBe(30);
      await expect.poll(() => subject.total("failed")).toBe(10);
      expect(subject.total("pending")).toBe(10);
      expectExactTotals(subject);
      subject.outcome = () => ({ type: "disabled", error: null });
      subject.advance(1_000);
      await expect.poll(() => subject.total("pending")).toBe(0);
      expectExactTotals(subject);
    }));

  it("suspend the subscriber when what waits exceeds the bound, without losing any of it", () =>
    StubbedSubscriber.run(async (subject) => {
      subject.outcome = () => ({ type: "suspended", why: "It was disabled" });
      subject.enqueue([outgoingEvent(0)]);
      expect(subject.suspensions).toBe(0);
      const events = Array.from({ length: 20 }, (_, number) => outgoingEvent(number));
      subject.enqueue(events);
      subject.enqueue([outgoingEvent(20)]);
      await expect.poll(() => subject.suspensions).toBe(1);
      expect(subject.total("pending")).toBe(22);
      // After it is enabled again, it has a day to work off its backlog.
      subject.object.notifyOfChange(2);
      subject.enqueue([outgoingEvent(21)], 2);
      subject.advance(DAY_MS);
      await expect.poll(() => subject.suspensions).toBe(2);
      expect(subject.total("pending")).toBe(23);
    }, SMALL));
});

it("a backlog is reported long before the bound, once, and again when it is worked off", () => {
  let failsToReport = true;
  const reports: (number | undefined)[] = [];
  const reportBacklog = async (report: { readonly deliveries: number } | null) => {
    if (failsToReport) throw new Error("It cannot be reported");
    reports.push(report?.deliveries);
  };
  return StubbedSubscriber.run(
    async (subject) => {
      subject.outcome = () => ({ type: "postponed", until: subject.now + 5_000, why: "Not yet" });
      subject.enqueue([outgoingEvent(0), outgoingEvent(1)]);
      await expect.poll(() => subject.attempted.length).toBe(1);
      failsToReport = false;
      subject.advance(5_000);
      await expect.poll(() => reports).toEqual([2]);
      subject.enqueue([outgoingEvent(2)]);
      subject.outcome = () => ({ type: "delivered", attempt: ATTEMPT });
      subject.advance(5_000);
      await expect.poll(() => subject.total("pending")).toBe(0);
      subject.object.alarm();
      await expect.poll(() => reports).toEqual([2, undefined]);
      expect(subject.suspensions).toBe(0);
      expectLogged("It cannot be reported");
    },
    { ...SMALL, handler: { reportBacklog } },
  );
});

it("a subscriber that a request disables while much waits ends what waits in steps of its alarm, and delivers later events", () =>
  StubbedSubscriber.run(async (subject) => {
    subject.outcome = () => ({ type: "postponed", until: START + 1, why: "Not yet" });
    const events = Array.from({ length: 1_200 }, (_, number) => outgoingEvent(number));
    subject.enqueue(events);
    await expect.poll(() => subject.attempted.length).toBe(1);
    subject.outcome = () => ({ type: "disabled", error: "It was disabled" });
    subject.advance(1);
    await expect.poll(() => subject.total("failed")).toBe(501);
    subject.outcome = () => ({ type: "delivered", attempt: ATTEMPT });
    subject.enqueue([outgoingEvent(5_000)], 2);
    subject.object.alarm();
    subject.object.alarm();
    await expect.poll(() => subject.total("success")).toBe(1);
    expect([subject.total("pending"), subject.total("failed")]).toEqual([0, 1_200]);
    expect(subject.attempted).toEqual([0, 0, 5_000]);
  }));

it("what is over is deleted, the oldest first, when it takes too much space", () =>
  StubbedSubscriber.run(async (subject) => {
    subject.outcome = (number) =>
      number % 2 === 0
        ? { type: "delivered", attempt: ATTEMPT }
        : { type: "failed", attempt: ATTEMPT, error: "It failed" };
    subject.enqueue([outgoingEvent(0), outgoingEvent(1)]);
    await expect.poll(() => subject.total("success") + subject.total("failed")).toBe(2);
    const store = new DeliveryStore(subject.state.storage);
    new DeliveryRetention(store, 2_000).prune(START);
    expect(store.total("success").deliveries).toBe(1);
    new DeliveryRetention(store, 1_000).prune(START);
    expect([store.total("success").deliveries, store.total("failed").deliveries]).toEqual([0, 0]);
    expectExactTotals(subject);
  }));

/** Steps of a plan that read a few rows, whatever the backlog. */
const isBounded = (step: string): boolean =>
  !/^SCAN|TEMP B-TREE/.test(step) ||
  /^SCAN (subscriber|totals|lanes|\(subquery-\d+\)|CONSTANT ROW|json_each)/.test(step);

it("every statement of a queue finds its rows by an index", () =>
  StubbedSubscriber.run(async ({ state: { storage }, key }) => {
    const store = new DeliveryStore(storage);
    store.open(key);
    const exec = vi.spyOn(storage.sql, "exec");
    const retention = new DeliveryRetention(store, 0);
    store.isKnown("event", START);
    const insert = () => store.insert(outgoingEvent(1), "room", START);
    const seq = insert();
    store.findByEvent("event");
    store.lanesAfter("", 7);
    store.firstOf("room", 0);
    store.retries(7);
    store.bringForward(START, [START, 0]);
    store.hasFirsts(9);
    store.lastSeq();
    store.countAll();
    store.hold(outgoingEvent(2), "room", START);
    store.writeHeld();
    store.failStarted("It was cut off");
    store.clearStarted(seq);
    store.recordOutcome(seq, { type: "delivered", attempt: ATTEMPT });
    store.recordOutcome(insert(), { type: "failed", attempt: null, error: "It failed" });
    retention.dueAt(START);
    retention.prune(START + 1);
    for (const error of [null, "It was disabled"]) {
      retention.endWaiting(insert(), error, START);
      retention.endSome(START);
    }
    store.remove(seq);
    store.findById("an id");
    for (const filter of ["any", "over", "pending", "success", "failed"] as const)
      listDeliveries(store, filter, { limit: 1, offset: 0 });
    const statements = new Set(exec.mock.calls.map(([query]) => query));
    exec.mockRestore();
    expect(statements.size).toBeGreaterThan(20);
    const plans = [...statements].map((each) => ({ each, plan: planIn(storage, each) }));
    expect(plans.filter(({ plan }) => !plan.every(isBounded))).toEqual([]);
  }));

// The archive of a subscriber's object: pending and past deliveries are restored, and nothing is enqueued twice.

const PAGE = { limit: 100, offset: 0 };

const { subscribers } = openDelivery(env);

const eventOf = (number: number): OutgoingEvent =>
  outgoingEvent(number, { eventId: `event ${number}`, roomId: `room ${number % 3}` });

it("a webhook's queue is restored with its history, and goes on where it was", async () => {
  const owner = await account();
  const { webhook } = await RecordingSubscriber.create(owner.api, { behaviour: "status/500" });
  const key: SubscriberKey = { kind: "webhook", accountId: owner.id, id: webhook.id };
  const object = archivedObject("Webhooks", () => subscribers(key));
  const stub = env.SUBSCRIBERS.getByName(`webhook:${key.id}`);
  const at = (now: number, rows = 3) =>
    runInDurableObject(stub, (subscriber: SubscriberObjectBase) => {
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
  await runInDurableObject(stub, (subscriber: SubscriberObjectBase) => {
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
