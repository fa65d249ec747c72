/** What a subscriber's queue does to its database: it reads by index, and counts exactly. */
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { OutgoingEvent, SubscriberKey } from "../../src/delivery/outbox/subscription.ts";
import type { DeliveryStatus } from "../../src/delivery/subscriber/delivery.ts";
import { listDeliveries } from "../../src/delivery/subscriber/delivery-list.ts";
import { DeliveryStore } from "../../src/delivery/subscriber/delivery-store.ts";
import type { DeliveryHandler, DeliveryOutcome } from "../../src/delivery/subscriber/handler.ts";
import { DeliveryRetention } from "../../src/delivery/subscriber/subscriber-maintenance.ts";
import { SubscriberObject } from "../../src/delivery/subscriber/subscriber-object.ts";
import { openDelivery } from "../../src/delivery/subscribers.ts";
import { toAppError } from "../../src/http/envelope.ts";
import { subscriberPorts } from "../../src/objects.ts";
import { archivedObject } from "../../src/platform/objects/object-archive.ts";
import { account } from "../support/api.ts";
import { collectSlices, restoreSlices } from "../support/archive.ts";
import { expectLogged } from "../support/log-guard.ts";
import { planIn } from "../support/plan-guard.ts";
import { RecordingSubscriber } from "./recording-subscriber.ts";
import { outgoingEvent, START } from "./test-queue.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const attempt = { attempted_at: new Date(START).toISOString(), duration_ms: 1 };

/** A subscriber whose attempts end as the test says, with a clock that only the test advances. */
class Subject {
  readonly state: DurableObjectState;
  readonly key: SubscriberKey;
  now = START;
  /** The numbers of the events that were attempted. */
  readonly attempted: number[] = [];
  outcome: (number: number) => DeliveryOutcome = () => ({ type: "delivered", attempt });
  suspensions = 0;
  failsToReport = false;
  readonly reports: ({ readonly waiting: number; readonly eventId: string } | null)[] = [];
  readonly object: SubscriberObject;

  private constructor(state: DurableObjectState, key: SubscriberKey, maxBytes: number) {
    this.state = state;
    this.key = key;
    this.object = new SubscriberObject(state, env, {
      ...subscriberPorts(env),
      createHandler: () => this.#handler,
      limits: { maxBytes, maxAgeMs: 7 * DAY_MS },
    });
    this.object.clock = () => this.now;
  }

  static run<T>(
    work: (subject: Subject) => Promise<T>,
    { maxBytes = 1024 ** 3 }: { maxBytes?: number } = {},
  ): Promise<T> {
    const key: SubscriberKey = { kind: "webhook", accountId: crypto.randomUUID(), id: crypto.randomUUID() };
    return runInDurableObject(env.SUBSCRIBERS.getByName(`webhook:${key.id}`), (_, state) => {
      return work(new Subject(state, key, maxBytes));
    });
  }

  get #handler(): DeliveryHandler {
    return {
      batch: null,
      interruption: null,
      pace: { maxInFlight: 2, pausedUntil: 0 },
      deliver: async ({ body }) => {
        const { number } = JSON.parse(body) as { number: number };
        this.attempted.push(number);
        return this.outcome(number);
      },
      requireVersion: () => {},
      release: () => {},
      suspend: async () => {
        this.suspensions += 1;
      },
      reportBacklog: async (report) => {
        if (this.failsToReport) throw new Error("It cannot be reported");
        this.reports.push(report && { waiting: report.deliveries, eventId: report.eventId });
      },
    };
  }

  total(status: DeliveryStatus): number {
    return this.object.list(status, { limit: 1, offset: 0 }).total;
  }

  /** Compares the totals with what they count. */
  expectExactTotals(): void {
    const counted = this.state.storage.sql.exec(
      `SELECT totals.status, count(seq) AS deliveries,
         ifnull(sum(600 + length(CAST(body AS BLOB)) + length(CAST(log AS BLOB))), 0) AS bytes
       FROM totals LEFT JOIN deliveries ON deliveries.status = totals.status GROUP BY totals.status`,
    );
    expect(this.state.storage.sql.exec("SELECT * FROM totals ORDER BY status").toArray()).toEqual(
      counted.toArray(),
    );
  }
}

describe("the totals of a queue", () => {
  it("stay exact through deliveries, retries, failures and deletions", () =>
    Subject.run(async (subject) => {
      subject.outcome = (number) => {
        if (number % 3 === 0) return { type: "delivered", attempt };
        return number % 3 === 1
          ? { type: "retry", at: START + 1_000, attempt, error: "It failed" }
          : { type: "failed", attempt, error: "It failed: äöü" };
      };
      const events = Array.from({ length: 30 }, (_, number) =>
        outgoingEvent(number, { roomId: `room ${number % 4}` }),
      );
      subject.object.enqueue(subject.key, events, 1);
      await expect.poll(() => subject.attempted.length).toBe(30);
      await expect.poll(() => subject.total("failed")).toBe(10);
      expect(subject.total("pending")).toBe(10);
      subject.expectExactTotals();
      subject.outcome = () => ({ type: "disabled", error: null });
      subject.now += 1_000;
      subject.object.alarm();
      await expect.poll(() => subject.total("pending")).toBe(0);
      subject.expectExactTotals();
    }));

  it("suspend the subscriber when what waits exceeds the bound, without losing any of it", () =>
    Subject.run(
      async (subject) => {
        subject.outcome = () => ({ type: "suspended", why: "It was disabled" });
        subject.object.enqueue(subject.key, [outgoingEvent(0)], 1);
        expect(subject.suspensions).toBe(0);
        const events = Array.from({ length: 20 }, (_, number) => outgoingEvent(number));
        subject.object.enqueue(subject.key, events, 1);
        subject.object.enqueue(subject.key, [outgoingEvent(20)], 1);
        await expect.poll(() => subject.suspensions).toBe(1);
        expect(subject.total("pending")).toBe(22);
        // Enabled again, it has a day to work off what waits.
        subject.object.notifyOfChange(2);
        subject.object.enqueue(subject.key, [outgoingEvent(21)], 2);
        subject.now += DAY_MS;
        subject.object.alarm();
        await expect.poll(() => subject.suspensions).toBe(2);
        expect(subject.total("pending")).toBe(23);
      },
      { maxBytes: 10_000 },
    ));
});

it("a backlog is reported long before the bound, once, and again when it is worked off", () =>
  Subject.run(
    async (subject) => {
      subject.outcome = () => ({ type: "postponed", until: subject.now + 5_000, why: "Not yet" });
      subject.object.enqueue(subject.key, [outgoingEvent(0)], 1);
      subject.failsToReport = true;
      subject.object.enqueue(subject.key, [outgoingEvent(1)], 1);
      await expect.poll(() => subject.attempted.length).toBe(1);
      subject.failsToReport = false;
      subject.now += 5_000;
      subject.object.alarm();
      await expect.poll(() => subject.reports).toMatchObject([{ waiting: 2 }]);
      subject.object.enqueue(subject.key, [outgoingEvent(2)], 1);
      subject.outcome = () => ({ type: "delivered", attempt });
      subject.now += 5_000;
      subject.object.alarm();
      await expect.poll(() => subject.total("pending")).toBe(0);
      subject.object.alarm();
      await expect.poll(() => subject.reports).toMatchObject([{ waiting: 2 }, null]);
      expect(subject.suspensions).toBe(0);
      expectLogged("It cannot be reported");
    },
    { maxBytes: 10_000 },
  ));

it("a subscriber that a request disables while much waits ends what waits in steps of its alarm, and delivers later events", () =>
  Subject.run(async (subject) => {
    subject.outcome = () => ({ type: "postponed", until: START + 1, why: "Not yet" });
    const events = Array.from({ length: 1_200 }, (_, number) => outgoingEvent(number));
    subject.object.enqueue(subject.key, events, 1);
    await expect.poll(() => subject.attempted.length).toBe(1);
    subject.outcome = () => ({ type: "disabled", error: "It was disabled" });
    subject.now += 1;
    subject.object.alarm();
    await expect.poll(() => subject.total("failed")).toBe(501);
    subject.outcome = () => ({ type: "delivered", attempt });
    subject.object.enqueue(subject.key, [outgoingEvent(5_000)], 2);
    subject.object.alarm();
    subject.object.alarm();
    await expect.poll(() => subject.total("success")).toBe(1);
    expect([subject.total("pending"), subject.total("failed")]).toEqual([0, 1_200]);
    expect(subject.attempted).toEqual([0, 0, 5_000]);
  }));

it("what is over is deleted, the oldest first, when it takes too much space", () =>
  Subject.run(async (subject) => {
    subject.outcome = (number) =>
      number % 2 === 0 ? { type: "delivered", attempt } : { type: "failed", attempt, error: "It failed" };
    subject.object.enqueue(subject.key, [outgoingEvent(0), outgoingEvent(1)], 1);
    await expect.poll(() => subject.total("success") + subject.total("failed")).toBe(2);
    const store = new DeliveryStore(subject.state.storage);
    new DeliveryRetention(store, 2_000).prune(START);
    expect(store.total("success").deliveries).toBe(1);
    new DeliveryRetention(store, 1_000).prune(START);
    expect([store.total("success").deliveries, store.total("failed").deliveries]).toEqual([0, 0]);
    subject.expectExactTotals();
  }));

/** Steps of a plan that read no more than a few rows, whatever waits. */
const isBounded = (step: string): boolean =>
  !/^SCAN|TEMP B-TREE/.test(step) ||
  /^SCAN (subscriber|lanes|\(subquery-\d+\)|CONSTANT ROW|json_each)/.test(step);

it("every statement of a queue finds its rows by an index", () => {
  const statements = new Set<string>();
  const recording = (sql: SqlStorage): SqlStorage =>
    new Proxy(sql, {
      get: (target, name) =>
        name === "exec"
          ? (query: string, ...params: SqlStorageValue[]) => {
              statements.add(query);
              return target.exec(query, ...params);
            }
          : Reflect.get(target, name),
    });
  const inspected = (state: DurableObjectState): DurableObjectState => {
    const bound = (target: object, name: string | symbol): unknown => {
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    };
    const sql = recording(state.storage.sql);
    const storage = new Proxy(state.storage, {
      get: (target, name) => (name === "sql" ? sql : bound(target, name)),
    });
    return new Proxy(state, { get: (target, name) => (name === "storage" ? storage : bound(target, name)) });
  };
  return Subject.run(async ({ state, key }) => {
    const store = new DeliveryStore(inspected(state).storage);
    store.open(key);
    statements.clear();
    const retention = new DeliveryRetention(store, 0);
    store.recordEventId("event", START);
    const insert = () => store.insert(outgoingEvent(1), "room", START);
    const seq = insert();
    store.linkEvent("event", seq);
    store.findByEvent("event");
    store.lanesAfter("", 7);
    store.firstOf("room", 0);
    store.retries(7);
    store.hasFirsts(9);
    store.lastSeq();
    store.failStarted("It was cut off");
    store.clearStarted(seq);
    store.recordOutcome(seq, { type: "delivered", attempt });
    store.recordOutcome(insert(), { type: "failed", attempt: null, error: "It failed" });
    retention.dueAt(START);
    retention.prune(START + 1);
    for (const error of [null, "It was disabled"]) {
      retention.endWaiting(insert(), error);
      retention.endSome();
    }
    store.remove(seq);
    store.findById("an id");
    for (const filter of ["any", "over", "pending", "success", "failed"] as const)
      listDeliveries(store, filter, { limit: 1, offset: 0 });
    expect(statements.size).toBeGreaterThan(20);
    const plans = [...statements].map((each) => ({ each, plan: planIn(state.storage, each) }));
    expect(plans.filter(({ plan }) => !plan.every(isBounded))).toEqual([]);
  });
});

// The archive of a subscriber's object: what waits, and what was delivered, is restored, and nothing is enqueued twice.

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
