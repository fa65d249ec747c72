/** The object of a webhook: enqueues each event once, delivers in order, retries by its alarm, and prunes its records. */

import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { EventName, type WebhookEventName } from "@atrium/contract/resources/events.ts";
import type { Delivery } from "@atrium/contract/rest/webhook-deliveries.ts";
import { type Webhook, WebhookBackloggedEvent } from "@atrium/contract/rest/webhooks.ts";
import { beforeEach, describe, expect, inject, it } from "vitest";
import type { OutgoingEvent } from "../../src/delivery/outbox/subscription.ts";
import type { StatusFilter } from "../../src/delivery/subscriber/delivery.ts";
import { DeliveryStore } from "../../src/delivery/subscriber/delivery-store.ts";
import { DeliveryRetention } from "../../src/delivery/subscriber/subscriber-maintenance.ts";
import { openDelivery } from "../../src/delivery/subscribers.ts";
import { presentDelivery } from "../../src/features/webhooks/present-delivery.ts";
import {
  MAX_UNPROVEN_FAILURES,
  parseHealth,
  RETRY_DELAYS_MS,
} from "../../src/features/webhooks/receiver-health.ts";
import { type Account, account } from "../support/api.ts";
import { whileTableFails } from "../support/database-failure.ts";
import { countLogged, expectLogged } from "../support/log-guard.ts";
import { RecordingSubscriber } from "./recording-subscriber.ts";
import { outgoingEvent, START, TestQueue } from "./test-queue.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Failures in a row before attempts become probes. */
const OPENING_FAILURES = 10;

const { subscribers } = openDelivery(env);

const events = (count: number): OutgoingEvent[] =>
  Array.from({ length: count }, (_, index) => outgoingEvent(index));

class TestWebhookQueue extends TestQueue {
  readonly owner: Account;
  readonly subscriber: RecordingSubscriber;

  private constructor(owner: Account, subscriber: RecordingSubscriber) {
    super({ kind: "webhook", accountId: owner.id, id: subscriber.webhook.id });
    this.owner = owner;
    this.subscriber = subscriber;
  }

  static async create(behaviour = "ok", events?: readonly WebhookEventName[]): Promise<TestWebhookQueue> {
    const owner = await account();
    const options = { behaviour, ...(events && { events }) };
    const subject = new TestWebhookQueue(owner, await RecordingSubscriber.create(owner.api, options));
    await subject.inside(() => undefined);
    return subject;
  }

  async list(filter: StatusFilter = "any"): Promise<readonly Delivery[]> {
    const { deliveries } = await subscribers(this.key).list(filter, { limit: 100, offset: 0 });
    return deliveries.map((each) => presentDelivery(this.key.id, each));
  }

  /** The newest delivery, once it fulfils the condition. */
  async latest(fulfils: (delivery: Delivery) => boolean): Promise<Delivery> {
    const latest = async () => (await this.list())[0];
    await expect.poll(async () => fulfils((await latest()) as Delivery)).toBe(true);
    return (await latest()) as Delivery;
  }

  async webhook(): Promise<Webhook> {
    return (await this.owner.api.get<{ webhook: Webhook }>(`/webhooks/${this.key.id}`)).data.webhook;
  }

  async attempts(): Promise<number> {
    return (await this.list()).reduce((sum, { attempts }) => sum + attempts, 0);
  }

  async numbers(): Promise<number[]> {
    return (await this.subscriber.received()).map(
      ({ body }) => (JSON.parse(body) as { number: number }).number,
    );
  }
}

let subject: TestWebhookQueue;

describe("a webhook's object", () => {
  beforeEach(async () => {
    subject = await TestWebhookQueue.create();
  });

  it("enqueues each event once, by its id, however often it is sent", async () => {
    const [first, second] = [outgoingEvent(1), outgoingEvent(2)];
    await Promise.all([
      subject.enqueue(first),
      subject.enqueue(first, second),
      subject.enqueue(second, second),
    ]);
    await subject.subscriber.settled(2);
    await subject.enqueue(first, second);
    expect((await subject.numbers()).sort()).toEqual([1, 2]);
    expect(await subject.list()).toHaveLength(2);
  });

  it("knows an event while it keeps its delivery, and for a day if that is deleted early or late", async () => {
    const known = await subject.inside((_, { storage }) => {
      const store = new DeliveryStore(storage);
      store.open(subject.key);
      const insert = (id: string, now: number) => {
        const seq = store.insert(outgoingEvent(1, { eventId: id }), "room", now, { isFirst: true });
        store.recordOutcome(seq, { type: "failed", attempt: null, error: "It failed" });
        return seq;
      };
      const knownAt = (now: number) => ["early", "kept", "due"].filter((id) => store.isKnown(id, now));
      insert("due", START);
      insert("kept", START + HOUR_MS);
      store.remove(insert("early", START + HOUR_MS));
      const retention = () => new DeliveryRetention(store);
      const first = knownAt(START + 2 * HOUR_MS);
      retention().prune(START + 7 * DAY_MS + 1);
      const second = knownAt(START + 7 * DAY_MS + 1);
      // The service stands still.
      retention().prune(START + 30 * DAY_MS);
      const third = knownAt(START + 30 * DAY_MS);
      retention().prune(START + 32 * DAY_MS);
      return [first, second, third, knownAt(START + 32 * DAY_MS)];
    });
    expect(known).toEqual([["early", "kept", "due"], ["kept"], ["kept"], []]);
  });

  it("creates no tables when it is only read", async () => {
    expect(await subject.list()).toEqual([]);
    expect(await subscribers(subject.key).redeliver(subject.key, crypto.randomUUID())).toBeNull();
    expect(await subject.tables()).toBe(0);
  });

  it("keeps its queue when the process dies, and resumes by its alarm", async () => {
    await whileTableFails("webhooks", async () => {
      await subject.enqueue(...events(3));
      await evictDurableObject(subject.stub);
    });
    expect(await subject.list("pending")).toHaveLength(3);
    expect(await subject.advance(HOUR_MS)).toBe(true);
    await subject.subscriber.settled(3);
    expect(await subject.numbers()).toEqual([0, 1, 2]);
  });

  it("waits while the database fails, without counting an attempt", async () => {
    await whileTableFails("webhooks", async () => {
      await subject.enqueue(outgoingEvent(1), outgoingEvent(2));
      await expect.poll(() => countLogged("no such table: webhooks")).toBeGreaterThanOrEqual(1);
      await subject.advance(1_000);
    });
    expect(await subject.list()).toMatchObject(
      Array(2).fill({ status: "pending", attempts: 0, error: null }),
    );
    await expect.poll(() => subject.alarmAt()).not.toBeNull();
    expectLogged("no such table: webhooks");
    await subject.advance(10_000);
    expect(await subject.subscriber.settled(2)).toMatchObject(Array(2).fill({ attempts: 1 }));
  });

  it("delivers pending events to the current URL", async () => {
    const elsewhere = await RecordingSubscriber.create(subject.owner.api);
    await subject.enqueue(outgoingEvent(1));
    await subject.subscriber.settled(1);
    const answer = await subject.owner.api.patch<{ webhook: Webhook }>(`/webhooks/${subject.key.id}`, {
      url: elsewhere.webhook.url,
    });
    const version = Date.parse(answer.data.webhook.updated_at);
    const second = outgoingEvent(2);
    await subscribers(subject.key).enqueue(subject.key, [second], version);
    await subject.subscriber.settled(2);
    expect(await subject.numbers()).toEqual([1]);
    expect((await elsewhere.received()).map(({ body }) => body)).toEqual([second.body]);
  });

  it("keeps finished deliveries for seven days", async () => {
    await subject.enqueue(...events(3));
    await subject.subscriber.settled(3);
    expect(await subject.advance(7 * DAY_MS - 1)).toBe(true);
    expect(await subject.list()).toHaveLength(3);
    expect(await subject.advance(2)).toBe(true);
    expect(await subject.list()).toEqual([]);
  });

  it("removes everything with its webhook", async () => {
    await subject.enqueue(...events(3));
    await subject.owner.api.delete(`/webhooks/${subject.key.id}`);
    await subject.enqueue(outgoingEvent(4));
    await expect.poll(() => subject.tables()).toBe(0);
    expect(await subject.alarmAt()).toBeNull();
    expect(await subject.numbers()).not.toContain(4);
  });
});

describe("a receiver that fails", () => {
  it("is retried on schedule, ten attempts in all, each logged with its error class", async () => {
    subject = await TestWebhookQueue.create("status/503");
    await subject.enqueue(outgoingEvent(1));
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

  it("that never answered 2xx gets events one at a time until it does", async () => {
    const gate = crypto.randomUUID();
    subject = await TestWebhookQueue.create(`gate/${gate}`);
    await subject.enqueue(...events(5).map((event, index) => ({ ...event, roomId: `room ${index}` })));
    await expect.poll(() => subject.numbers()).toEqual([0]);
    await fetch(`http://127.0.0.1:${inject("receiver").port}/open/${gate}/now`);
    await subject.subscriber.settled(5);
    expect((await subject.numbers()).toSorted()).toEqual([0, 1, 2, 3, 4]);
  });

  it("that never answers 2xx is slowed down, disables its webhook after 100 failures and a day, and keeps what waits", async () => {
    subject = await TestWebhookQueue.create("status/500");
    await subject.enqueue(...events(20));
    const tried = (count: number) => expect.poll(async () => (await subject.numbers()).length).toBe(count);
    await tried(OPENING_FAILURES);
    await subject.inside((_, { storage }) => {
      const { handlerState } = new DeliveryStore(storage);
      const health = parseHealth(handlerState.read());
      const proof = { ...health.proof, failures: MAX_UNPROVEN_FAILURES - 1 };
      handlerState.write(JSON.stringify({ ...health, proof }));
    });
    await evictDurableObject(subject.stub);
    await subject.advance(5_000);
    await tried(OPENING_FAILURES + 1);
    expect((await subject.webhook()).enabled).toBe(true);
    await subject.advance(DAY_MS);
    await expect
      .poll(() => subject.webhook())
      .toMatchObject({
        enabled: false,
        disabled_reason: expect.stringMatching(/has never answered 2xx.*enable the webhook again/),
      });
    const waiting = await subject.list("pending");
    expect(waiting.length).toBeGreaterThan(0);
    const body = { enabled: true, url: subject.subscriber.webhook.url.replace("status/500", "ok") };
    await subject.owner.api.patch(`/webhooks/${subject.key.id}`, body);
    expect(await subject.webhook()).not.toHaveProperty("disabled_reason");
    await subject.advance(0);
    await expect.poll(async () => (await subject.list("success")).length).toBeGreaterThan(0);
  });

  it("that answers 410 is called once, and what it answered is recorded, while its webhook cannot be disabled", async () => {
    subject = await TestWebhookQueue.create("status/410");
    const { id } = subject.key;
    const cannot = `CREATE TRIGGER held BEFORE UPDATE OF enabled ON webhooks WHEN NEW.id = '${id}' BEGIN SELECT RAISE(ABORT, 'held'); END`;
    await env.DB.exec(cannot);
    try {
      await subject.enqueue(...events(3));
      await expect.poll(() => subject.list("failed")).toMatchObject([{ attempts: 1, status_code: 410 }]);
      const failed = "The database failed during a delivery";
      for (const runs of [1, 2, 3]) {
        await expect.poll(() => countLogged(failed)).toBe(runs);
        await subject.advance(5_000);
      }
      await expect.poll(() => countLogged(failed)).toBe(4);
      expectLogged("A webhook could not be disabled yet", failed);
    } finally {
      await env.DB.exec("DROP TRIGGER held");
    }
    expect(await subject.numbers()).toEqual([0]);
    await subject.advance(5_000);
    const deliveries = await subject.subscriber.settled(3);
    expect(deliveries.map(({ attempts }) => attempts)).toEqual([0, 0, 1]);
    expect((await subject.webhook()).enabled).toBe(false);
    expect(await subject.numbers()).toEqual([0]);
  });

  it("that stops answering costs probes with growing pauses, and then receives what waited", async () => {
    const id = crypto.randomUUID();
    subject = await TestWebhookQueue.create(`fragile/${id}`);
    const ask = (what: "break" | "repair") =>
      fetch(`http://127.0.0.1:${inject("receiver").port}/${what}/${id}/now`);
    await subject.enqueue(outgoingEvent(0));
    await subject.subscriber.settled(1); // the receiver has proven itself
    await ask("break");
    await subject.enqueue(...events(OPENING_FAILURES + 20));
    await expect.poll(() => subject.attempts()).toBe(1 + OPENING_FAILURES);
    for (const [probes, pauseMs] of [5_000, 10_000, 20_000].entries()) {
      await subject.advance(pauseMs - 1);
      expect(await subject.attempts()).toBe(1 + OPENING_FAILURES + probes);
      await subject.advance(1);
      await expect.poll(() => subject.attempts()).toBe(2 + OPENING_FAILURES + probes);
    }
    await ask("repair");
    await subject.advance(40_000);
    await expect.poll(async () => (await subject.list("success")).length).toBeGreaterThanOrEqual(20);
    await subject.advance(HOUR_MS); // the retries of those that failed
    await subject.subscriber.settled(1 + OPENING_FAILURES + 20);
    expect(await subject.list("failed")).toEqual([]);
  });

  it("that falls behind is reported to the organization's other webhooks and shown, until it has caught up", async () => {
    const gate = crypto.randomUUID();
    subject = await TestWebhookQueue.create(`gate/${gate}`, [...EventName.options, "webhook.backlogged"]);
    const other = await RecordingSubscriber.create(subject.owner.api, { events: ["webhook.backlogged"] });
    await subject.enqueue(...events(3));
    await expect.poll(() => subject.numbers()).toEqual([0]);
    await subject.advance(17 * HOUR_MS);
    await expect.poll(async () => (await other.received()).length).toBe(1);
    const oldest = new Date(START).toISOString();
    const [message] = await other.received();
    const event = WebhookBackloggedEvent.parse(JSON.parse(message?.body ?? ""));
    expect(event).toMatchObject({
      event: "webhook.backlogged",
      data: { webhookId: subject.key.id, waiting: 3, oldestWaitingSince: oldest },
      webhook: { id: subject.key.id, enabled: true, backlogged_since: oldest },
    });
    expect(message?.headers["webhook-id"]).toBe(event.id);
    expect(await subject.webhook()).toMatchObject({ enabled: true, backlogged_since: oldest });
    await fetch(`http://127.0.0.1:${inject("receiver").port}/open/${gate}/now`);
    await subject.subscriber.settled(3);
    await subject.advance(0);
    await expect.poll(() => subject.webhook()).not.toHaveProperty("backlogged_since");
    expect(await other.received()).toHaveLength(1);
  });

  it("that is too slow suspends its webhook, and receives what waited when it is enabled again", async () => {
    const gate = crypto.randomUUID();
    subject = await TestWebhookQueue.create(`gate/${gate}`);
    await subject.enqueue(...events(3));
    await expect.poll(() => subject.numbers()).toEqual([0]);
    await subject.advance(7 * 24 * HOUR_MS);
    await expect
      .poll(() => subject.webhook())
      .toMatchObject({
        enabled: false,
        disabled_reason: expect.stringContaining("Too many events were waiting"),
      });
    await fetch(`http://127.0.0.1:${inject("receiver").port}/open/${gate}/now`);
    await expect.poll(() => subject.list("success")).toHaveLength(1);
    expect(await subject.list("pending")).toHaveLength(2);
    await subject.owner.api.patch(`/webhooks/${subject.key.id}`, { enabled: true });
    await subject.subscriber.settled(3);
    expect(await subject.numbers()).toEqual([0, 1, 2]);
    expect((await subject.webhook()).enabled).toBe(true);
  });
});
