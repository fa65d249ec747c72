/** The object of a webhook: takes events once, delivers them in order, tries again by its alarm, and forgets in time. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { OutgoingEvent, StatusFilter, SubscriberKey } from "../../src/delivery/port/subscriber-port.ts";
import { MAX_WAITING } from "../../src/delivery/subscriber/delivery-queue.ts";
import { KEPT_MS, MAX_KEPT } from "../../src/delivery/subscriber/delivery-store.ts";
import type { SubscriberObject } from "../../src/delivery/subscriber/subscriber-object.ts";
import { subscriberGateway } from "../../src/delivery/subscriber-gateway.ts";
import { MAX_FAILING_MS, RETRY_DELAYS_MS } from "../../src/webhooks/retry.ts";
import { type Delivery, presentDelivery, type Webhook } from "../../src/webhooks/schema.ts";
import { type Account, account } from "../support/api.ts";
import { expectLogged, permitLogged } from "../support/log-guard.ts";
import { Listener } from "./recording-subscriber.ts";

const HOUR_MS = 60 * 60 * 1000;
/** Far ahead of the real time, so that no alarm ever fires unless a test runs it. */
const START = Date.UTC(2100, 0, 1);

const subscribers = subscriberGateway(env);

/** An event of a room, numbered. */
const envelope = (number: number, fields: Partial<OutgoingEvent> = {}): OutgoingEvent => ({
  eventId: crypto.randomUUID(),
  event: "user.created",
  roomId: "room",
  body: JSON.stringify({ number }),
  occurredAt: START,
  ...fields,
});

const events = (count: number): OutgoingEvent[] =>
  Array.from({ length: count }, (_, index) => envelope(index));

/** A webhook's object with a clock that only tests move. */
class Subject {
  readonly owner: Account;
  readonly listener: Listener;
  now = START;

  constructor(owner: Account, listener: Listener) {
    this.owner = owner;
    this.listener = listener;
  }

  static async create(behaviour = "ok"): Promise<Subject> {
    const owner = await account();
    const subject = new Subject(owner, await Listener.create(owner.api, { behaviour }));
    await subject.inside(() => undefined);
    return subject;
  }

  get key(): SubscriberKey {
    return { kind: "webhook", accountId: this.owner.id, id: this.listener.webhook.id };
  }

  get stub(): DurableObjectStub<SubscriberObject> {
    return env.SUBSCRIBERS.getByName(`webhook:${this.key.id}`);
  }

  inside<T>(work: (object: SubscriberObject, state: DurableObjectState) => T | Promise<T>): Promise<T> {
    return runInDurableObject(this.stub, (object: SubscriberObject, state) => {
      object.clock = () => this.now;
      return work(object, state);
    });
  }

  take(...taken: OutgoingEvent[]): Promise<void> {
    return subscribers.enqueue(this.key, taken, 1);
  }

  /** Moves the clock on and runs the alarm; false when none is set. */
  async advance(ms: number): Promise<boolean> {
    this.now += ms;
    await this.inside(() => undefined);
    return runDurableObjectAlarm(this.stub);
  }

  async list(filter: StatusFilter = "any"): Promise<readonly Delivery[]> {
    const { deliveries } = await subscribers.list(this.key, filter, { limit: 100, offset: 0 });
    return deliveries.map((each) => presentDelivery(this.key.id, each));
  }

  /** The newest delivery when `isSo`. */
  async latest(isSo: (delivery: Delivery) => boolean): Promise<Delivery> {
    const latest = async () => (await this.list())[0];
    await expect.poll(async () => isSo((await latest()) as Delivery)).toBe(true);
    return (await latest()) as Delivery;
  }

  async webhook(): Promise<Webhook> {
    return (await this.owner.api.get<{ webhook: Webhook }>(`/webhooks/${this.key.id}`)).data.webhook;
  }

  /** The numbers of the events that the receiver was sent. */
  async numbers(): Promise<number[]> {
    return (await this.listener.received()).map(
      ({ body }) => (JSON.parse(body) as { number: number }).number,
    );
  }

  tables(): Promise<number> {
    return this.inside((_, { storage }) => {
      const query = "SELECT name FROM sqlite_master WHERE name IN ('deliveries', 'known', 'subscriber')";
      return storage.sql.exec(query).toArray().length;
    });
  }
}

let subject: Subject;

describe("a webhook's object", () => {
  beforeEach(async () => {
    subject = await Subject.create();
  });

  it("takes each event once, by its id, however often it is handed over", async () => {
    const [first, second] = [envelope(1), envelope(2)];
    await Promise.all([subject.take(first), subject.take(first, second), subject.take(second, second)]);
    await subject.listener.settled(2);
    await subject.take(first, second);
    expect((await subject.numbers()).sort()).toEqual([1, 2]);
    expect(await subject.list()).toHaveLength(2);
  });

  it("delivers a room's events in their order", async () => {
    await subject.take(...events(10));
    await subject.take(envelope(10), envelope(11));
    await subject.listener.settled(12);
    expect(await subject.numbers()).toEqual(Array.from({ length: 12 }, (_, index) => index));
  });

  it("shows what became of a delivery", async () => {
    await subject.take(envelope(1, { event: "participant.left" }));
    const at = new Date(START).toISOString();
    expect(await subject.latest(({ status }) => status === "success")).toEqual({
      id: expect.any(String),
      webhook_id: subject.key.id,
      event: "participant.left",
      payload: '{"number":1}',
      status: "success",
      attempts: 1,
      last_attempt_at: at,
      next_retry_at: null,
      status_code: 200,
      error: null,
      created_at: at,
      log: [
        { attempted_at: at, duration_ms: 0, status_code: 200, error_class: null, error: null, answer: "ok" },
      ],
    });
  });

  it("makes nothing when it is only asked", async () => {
    expect(await subject.list()).toEqual([]);
    expect(await subscribers.redeliver(subject.key, crypto.randomUUID())).toBeNull();
    expect(await subject.tables()).toBe(0);
  });

  it("delivers again what is asked for, as a delivery of its own of the same event", async () => {
    const first = envelope(1);
    await subject.take(first);
    const [delivery] = await subject.listener.settled(1);
    const again = await subscribers.redeliver(subject.key, delivery?.id ?? "");
    expect(again).toMatchObject({ status: "pending", attempts: 0, body: first.body });
    expect(again?.id).not.toBe(delivery?.id);
    await subject.listener.settled(2);
    const ids = (await subject.listener.received()).map(({ headers }) => headers["webhook-id"]);
    expect(ids).toEqual([first.eventId, first.eventId]);
  });

  it("waits for the first attempt when an event is sent by hand", async () => {
    const delivery = await subscribers.deliverNow(subject.key, envelope(7));
    expect(delivery).toMatchObject({ status: "success", attempts: 1 });
    expect(JSON.parse(delivery?.log ?? "[]")).toMatchObject([{ status_code: 200 }]);
    expect(await subject.numbers()).toEqual([7]);
  });

  it("makes no attempt while the webhook is switched off, and says so", async () => {
    await subject.owner.api.patch(`/webhooks/${subject.key.id}`, { enabled: false });
    await subject.take(envelope(1));
    expect(await subject.latest(({ status }) => status === "failed")).toMatchObject({
      attempts: 0,
      error: "The webhook was disabled",
      next_retry_at: null,
      log: [],
    });
    expect(await subject.numbers()).toEqual([]);
  });

  it("keeps its queue when the process dies, and goes on by its alarm", async () => {
    permitLogged(/no such table: webhooks/);
    await env.DB.exec("ALTER TABLE webhooks RENAME TO webhooks_away");
    await subject.take(...events(3));
    await evictDurableObject(subject.stub);
    await env.DB.exec("ALTER TABLE webhooks_away RENAME TO webhooks");
    expect(await subject.list("pending")).toHaveLength(3);
    expect(await subject.advance(HOUR_MS)).toBe(true);
    await subject.listener.settled(3);
    expect(await subject.numbers()).toEqual([0, 1, 2]);
  });

  it("waits while the database fails, which is no attempt", async () => {
    await env.DB.exec("ALTER TABLE webhooks RENAME TO webhooks_away");
    await subject.take(envelope(1), envelope(2));
    await subject.advance(1_000);
    await env.DB.exec("ALTER TABLE webhooks_away RENAME TO webhooks");
    expect(await subject.list()).toMatchObject(
      Array(2).fill({ status: "pending", attempts: 0, error: null }),
    );
    await expect.poll(() => subject.inside((_, state) => state.storage.getAlarm())).not.toBeNull();
    expectLogged("no such table: webhooks");
    await subject.advance(10_000);
    expect(await subject.listener.settled(2)).toMatchObject(Array(2).fill({ attempts: 1 }));
  });

  it("sends what waits to where the webhook points now, and signs with what is its secret now", async () => {
    const elsewhere = await Listener.create(subject.owner.api);
    await subject.take(envelope(1));
    await subject.listener.settled(1);
    const answer = await subject.owner.api.patch<{ webhook: Webhook }>(`/webhooks/${subject.key.id}`, {
      url: elsewhere.webhook.url,
    });
    const version = Date.parse(answer.data.webhook.updated_at);
    await subscribers.enqueue(subject.key, [envelope(2)], version);
    await subject.listener.settled(2);
    expect(await subject.numbers()).toEqual([1]);
    expect((await elsewhere.received()).map(({ body }) => body)).toEqual(['{"number":2}']);
  });

  it("keeps the latest 1,000 deliveries that are over, for seven days", async () => {
    await subject.inside((object) => {
      object.enqueue(subject.key, events(MAX_KEPT + 20), 1);
    });
    const page = { limit: 1, offset: 0 };
    const total = async () => (await subscribers.list(subject.key, "success", page)).total;
    await expect.poll(total, { timeout: 30_000 }).toBe(MAX_KEPT + 20);
    await subject.take(envelope(1));
    expect(await total()).toBeLessThanOrEqual(MAX_KEPT + 1);
    await expect.poll(async () => (await subject.list("pending")).length).toBe(0);
    expect(await subject.advance(KEPT_MS - 1)).toBe(true);
    expect(await subject.list()).not.toEqual([]);
    expect(await subject.advance(2)).toBe(true);
    expect(await subject.list()).toEqual([]);
  });

  it("is gone with its webhook", async () => {
    await subject.take(...events(3));
    await subject.owner.api.delete(`/webhooks/${subject.key.id}`);
    await subject.take(envelope(4));
    await expect.poll(() => subject.tables()).toBe(0);
    expect(await subject.inside((_, state) => state.storage.getAlarm())).toBeNull();
    expect(await subject.numbers()).not.toContain(4);
  });
});

describe("a receiver that fails", () => {
  it("is tried again on schedule, ten times in all, each with its class of error", async () => {
    subject = await Subject.create("status/503");
    await subject.take(envelope(1));
    for (const [index, delayMs] of RETRY_DELAYS_MS.slice(1).entries()) {
      const delivery = await subject.latest(({ attempts }) => attempts === index + 1);
      const waits = Date.parse(delivery.next_retry_at ?? "") - subject.now;
      expect(delivery).toMatchObject({ status: "pending", status_code: 503 });
      expect(waits).toBeGreaterThanOrEqual(delayMs * 0.8 - 1);
      expect(waits).toBeLessThanOrEqual(delayMs * 1.2 + 1);
      expect(await subject.advance(waits)).toBe(true);
    }
    const delivery = await subject.latest(({ attempts }) => attempts === RETRY_DELAYS_MS.length);
    expect(delivery).toMatchObject({
      status: "failed",
      next_retry_at: null,
      error: "The receiver answered 503",
    });
    expect(delivery.log).toEqual(
      Array(RETRY_DELAYS_MS.length).fill(
        expect.objectContaining({ status_code: 503, error_class: "status", answer: "answer 503" }),
      ),
    );
    expect((await subject.webhook()).enabled).toBe(true);
  });

  it("keeps no later event waiting: each has its first attempt in its turn", async () => {
    subject = await Subject.create("status/500");
    await subject.take(...events(5));
    await expect.poll(() => subject.numbers()).toEqual([0, 1, 2, 3, 4]);
  });

  it("switches its webhook off when it answers 410, and nothing more is sent", async () => {
    subject = await Subject.create("status/410");
    await subject.take(...events(3));
    const deliveries = await subject.listener.settled(3);
    expect(deliveries.map(({ attempts }) => attempts)).toEqual([0, 0, 1]);
    expect((await subject.webhook()).enabled).toBe(false);
    expect(await subject.numbers()).toEqual([0]);
  });

  it("switches its webhook off after five days of nothing but failures", async () => {
    subject = await Subject.create("status/500");
    await subject.take(envelope(1));
    await subject.latest(({ attempts }) => attempts === 1);
    subject.now += MAX_FAILING_MS - 1;
    await subject.take(envelope(2));
    await subject.latest(({ attempts }) => attempts === 1);
    expect((await subject.webhook()).enabled).toBe(true);
    subject.now += 1;
    await subject.take(envelope(3));
    await subject.latest(({ status }) => status === "failed");
    expect((await subject.webhook()).enabled).toBe(false);
    // Switched on again, it is given new time.
    const version = subject.now + 1;
    await subject.owner.api.patch(`/webhooks/${subject.key.id}`, { enabled: true });
    await subscribers.enqueue(subject.key, [envelope(4)], version);
    expect(await subject.latest(({ attempts }) => attempts === 1)).toMatchObject({ status: "pending" });
    expect((await subject.webhook()).enabled).toBe(true);
  });

  it("does not fill the disk: what finds too many others waiting is refused", async () => {
    subject = await Subject.create("silent");
    const [waiting, late] = await subject.inside((object) => {
      object.enqueue(subject.key, events(MAX_WAITING), 1);
      object.enqueue(subject.key, [envelope(1)], 1);
      const count = (filter: StatusFilter) => object.list(filter, 1, 0);
      return [count("pending").total, count("failed").deliveries];
    });
    expect(waiting).toBe(MAX_WAITING);
    expect(late).toMatchObject([{ attempts: 0, error: "Too many events were already waiting" }]);
    await subscribers.remove(subject.key);
  });
});
