/** Replays: events of a span are sent again, from the log or from earlier deliveries, in order and in slices. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { DeliveryStats } from "@atrium/contract/rest/deliveries.ts";
import type { EventPage } from "@atrium/contract/rest/event-log.ts";
import type { Replay } from "@atrium/contract/rest/webhook-deliveries.ts";
import { describe, expect, it } from "vitest";
import type { LoggedEvent, LogQuery, LogSlice } from "../../src/delivery/event-log/log-page.ts";
import type { OutgoingEvent } from "../../src/delivery/outbox/subscription.ts";
import type { ReplayRequest } from "../../src/delivery/subscriber/delivery.ts";
import { DeliveryStore } from "../../src/delivery/subscriber/delivery-store.ts";
import { Replay as Replayer } from "../../src/delivery/subscriber/replay.ts";
import { replayOfLane } from "../../src/delivery/subscriber/scheduler.ts";
import { RecordingSubscriber } from "../delivery/recording-subscriber.ts";
import { type Api, account } from "../support/api.ts";

const SPAN = { from: "2020-01-01" };

const start = (api: Api, webhookId: string, body: object = SPAN) =>
  api.post<{ replay: Replay }>(`/webhooks/${webhookId}/replay`, body);

async function finished(api: Api, webhookId: string): Promise<Replay> {
  const read = async () => (await api.get<{ replay: Replay }>(`/webhooks/${webhookId}/replay`)).data.replay;
  await expect.poll(async () => (await read()).state).toBe("finished");
  return read();
}

describe("a replay of a webhook", () => {
  it("sends what the log has and the webhook wants, with the same ids, in order, and marks it", async () => {
    const { api } = await account();
    const [room, other] = [await api.createRoom(), await api.createRoom()];
    for (const { id } of [room, other, room]) {
      const user = await api.createUser(id);
      await api.patch(`/users/${user.id}?roomId=${id}`, { name: "Renamed" });
      await api.delete(`/users/${user.id}?roomId=${id}`);
    }
    const events = ["user.created", "user.deleted"] as const;
    const subscriber = await RecordingSubscriber.create(api, { events, roomId: room.id });
    const { id } = subscriber.webhook;
    expect((await api.get(`/webhooks/${id}/replay`)).data).toEqual({ replay: null });
    const { status, data } = await start(api, id);
    expect([status, data.replay]).toMatchObject([200, { error: null, status: null, deliveries: 0 }]);
    expect(await finished(api, id)).toMatchObject({ id: data.replay.id, deliveries: 4, error: null });
    const logged = (await api.get<EventPage>(`/rooms/${room.id}/events`)).data.events;
    const wanted = logged.filter(({ event }) => events.some((name) => name === event));
    expect(await subscriber.receivedEvents(4)).toEqual(wanted);
    const received = await subscriber.received();
    expect(new Set(received.map(({ headers }) => headers["atrium-replay"]))).toEqual(
      new Set([data.replay.id]),
    );
  });

  it("sends the events of kept deliveries with a status, in a span, beside what happens meanwhile", async () => {
    const { api } = await account();
    const room = await api.createRoom();
    const subscriber = await RecordingSubscriber.create(api);
    const { id } = subscriber.webhook;
    await api.createUser(room.id);
    const [first] = await subscriber.settled(1);
    expect((await start(api, id, { ...SPAN, status: "failed" })).status).toBe(200);
    expect(await finished(api, id)).toMatchObject({ deliveries: 0, status: "failed" });
    expect((await start(api, id, { ...SPAN, to: "2020-01-02", status: "success" })).status).toBe(200);
    expect(await finished(api, id)).toMatchObject({ deliveries: 0 });
    expect((await start(api, id, { ...SPAN, status: "success" })).status).toBe(200);
    await api.createUser(room.id);
    expect(await finished(api, id)).toMatchObject({ deliveries: 1 });
    const received = await subscriber.receivedEvents(3);
    expect(received.filter(({ id }) => first?.payload.includes(id))).toHaveLength(2);
    const marks = (await subscriber.received()).map(({ headers }) => "atrium-replay" in headers);
    expect(marks.filter(Boolean)).toHaveLength(1);
  });

  it("of failures also tries what waits for a retry at once, although the receiver is left in peace", async () => {
    const { api } = await account();
    const { id: roomId } = await api.createRoom();
    const subscriber = await RecordingSubscriber.create(api, { behaviour: "fragile" });
    const { id, url } = subscriber.webhook;
    const control = (what: string) => fetch(`${url.replace("/fragile/", `/${what}/`)}/now`);
    await control("break");
    for (let count = 0; count < 12; count += 1) await api.createUser(roomId);
    const stats = async () => (await api.get<{ stats: DeliveryStats }>(`/webhooks/${id}/stats`)).data.stats;
    await expect.poll(async () => (await stats()).failed).toBeGreaterThanOrEqual(10);
    const { failing, waiting } = await stats();
    expect(failing).toMatchObject({
      error: "The receiver answered 503",
      next_attempt_at: expect.any(String),
    });
    expect(waiting).toBe(12);
    await control("repair");
    const { data } = await start(api, id, { ...SPAN, to: "2020-01-02", status: "failed" });
    expect(data.replay.deliveries).toBeGreaterThanOrEqual(10);
    const deliveries = await subscriber.settled(12);
    expect(deliveries.map(({ status }) => status)).toEqual(Array(12).fill("success"));
    expect(await stats()).toMatchObject({ failing: null, waiting: 0, last_success_at: expect.any(String) });
  });

  it("is refused for a disabled webhook, for a span that ends before it begins, and for no time", async () => {
    const { api } = await account();
    const { webhook } = await RecordingSubscriber.create(api);
    const refused = [
      await start(api, webhook.id, { from: "2026-01-02", to: "2026-01-01" }),
      await start(api, webhook.id, { from: "yesterday" }),
      await start(api, webhook.id, {}),
      await start(api, crypto.randomUUID()),
    ];
    await api.patch(`/webhooks/${webhook.id}`, { enabled: false });
    refused.push(await start(api, webhook.id));
    expect(refused.map(({ error }) => error?.code)).toEqual([
      "VALIDATION_ERROR",
      "VALIDATION_ERROR",
      "VALIDATION_ERROR",
      "NOT_FOUND",
      "CONFLICT",
    ]);
  });
});

const NOW = Date.UTC(2100, 0, 1);
const REQUEST: ReplayRequest = {
  from: 0,
  to: NOW,
  status: null,
  roomId: "room",
  identityId: null,
  names: ["user.created"],
};

/** The log of one room, numbered. */
const logOf = (count: number): LoggedEvent[] =>
  Array.from({ length: count }, (_, index) => ({
    seq: index + 1,
    eventId: `${index}`,
    event: "user.created",
    roomId: "room",
    body: "{}",
    occurredAt: NOW - count + index,
    loggedAt: NOW - count + index,
  }));

const readFrom =
  (log: readonly LoggedEvent[]) =>
  async (_: number, { after, limit }: LogQuery): Promise<LogSlice> => {
    const begin = after ?? 0;
    const events = log.slice(begin, begin + limit);
    const position = begin + events.length;
    return { type: "slice", events, position, isAtEnd: position === log.length };
  };

type ReadShard = (shard: number, query: LogQuery) => Promise<LogSlice>;

/** Replays in an object of its own; `crash` continues as after a restart. */
class ReplayFixture {
  now = NOW;
  readonly store: DeliveryStore;
  readonly #readLog: ReadShard;
  replayer: Replayer;

  private constructor(store: DeliveryStore, readLog: ReadShard) {
    this.store = store;
    this.#readLog = readLog;
    this.replayer = this.#create();
  }

  static run<T>(readLog: ReadShard, work: (fixture: ReplayFixture) => Promise<T>): Promise<T> {
    const stub = env.SUBSCRIBERS.getByName(`webhook:${crypto.randomUUID()}`);
    return runInDurableObject(stub, (_, { storage }) => {
      const store = new DeliveryStore(storage);
      store.open({ kind: "webhook", accountId: "account", id: "webhook" });
      return work(new ReplayFixture(store, readLog));
    });
  }

  #create(): Replayer {
    return new Replayer(this.store, {
      now: () => this.now,
      newId: () => crypto.randomUUID(),
      readLog: this.#readLog,
    });
  }

  /** The IDs of the events that the latest replay has enqueued. */
  get sent(): string[] {
    const query = "SELECT event_id AS eventId, lane FROM deliveries ORDER BY seq";
    return this.store
      .read<{ eventId: string; lane: string }>(query)
      .filter(({ lane }) => replayOfLane(lane) === this.replayer.find()?.id)
      .map(({ eventId }) => eventId);
  }

  crash(): void {
    this.replayer = this.#create();
  }

  /** Enqueues slices until the next one has to wait, or none is left. */
  async advance(): Promise<void> {
    while (await this.replayer.step());
  }
}

describe("a replay of failures", () => {
  const FAILURES: ReplayRequest = { ...REQUEST, status: "failed", from: NOW - 1_000 };
  const ATTEMPT = { attempted_at: new Date(NOW - 10).toISOString(), duration_ms: 1 };
  /** An event that occurred long before the span. */
  const old = (number: number): OutgoingEvent => ({
    ...{ eventId: `${number}`, event: "user.created", roomId: "room", body: "{}", occurredAt: 0 },
  });
  const tried = ({ store }: ReplayFixture, seq: number, at: number, attempted_at = ATTEMPT.attempted_at) =>
    store.recordOutcome(seq, {
      ...{ type: "retry", at, error: "It failed", attempt: { ...ATTEMPT, attempted_at } },
    });

  it("makes each waiting retry due once, in slices that a crash does not repeat, however much waits for a first attempt", () =>
    ReplayFixture.run(readFrom([]), async (fixture) => {
      const { store } = fixture;
      const waiting = 1_200;
      const later = (count: number) =>
        store.read("SELECT seq FROM deliveries WHERE attempts > 0 AND due_at > ?", NOW).length === count;
      store.transaction(() => {
        for (let number = 0; number < waiting; number += 1) {
          const seq = store.insert(old(number), "room", NOW - 20);
          tried(fixture, seq, NOW + 1 + (number % 300));
        }
        for (let number = 0; number < 2_000; number += 1) store.insert(old(waiting + number), "room", NOW);
      });
      expect(fixture.replayer.start(FAILURES)).toMatchObject({ deliveries: 500, endedAt: null });
      expect(later(waiting - 500)).toBe(true);
      // One fails again meanwhile: its next retry keeps its time.
      fixture.now = NOW + 5;
      const [first] = store.retries(1);
      tried(fixture, first?.seq ?? 0, NOW + 9_000, new Date(NOW + 1).toISOString());
      for (const deliveries of [1_000, 1_200]) {
        fixture.crash();
        expect(await fixture.replayer.step()).toBe(true);
        expect(fixture.replayer.find()).toMatchObject({ deliveries, endedAt: null });
      }
      expect(later(1)).toBe(true);
      expect(await fixture.replayer.step()).toBe(false); // many first attempts wait
      store.write("DELETE FROM deliveries WHERE attempts = 0");
      fixture.now = fixture.replayer.dueAt() ?? 0;
      await fixture.advance();
      expect(fixture.replayer.find()).toMatchObject({ deliveries: 1_200, endedAt: fixture.now });
    }));

  it("makes no further retry due once its webhook is disabled", () =>
    ReplayFixture.run(readFrom([]), async (fixture) => {
      fixture.store.transaction(() => {
        for (let number = 0; number < 501; number += 1)
          tried(fixture, fixture.store.insert(old(number), "room", NOW), NOW + 1);
      });
      fixture.replayer.start(FAILURES);
      fixture.replayer.end("The webhook was disabled");
      expect([await fixture.replayer.step(), fixture.replayer.find()?.deliveries]).toEqual([false, 500]);
    }));

  it("sends older events again whose last attempt failed in the span", () =>
    ReplayFixture.run(readFrom([]), async (fixture) => {
      for (const [number, age] of [5_000, 500].entries())
        fixture.store.recordOutcome(fixture.store.insert(old(number), "room", NOW), {
          ...{ type: "failed", error: "It failed" },
          attempt: { ...ATTEMPT, attempted_at: new Date(NOW - age).toISOString() },
        });
      fixture.replayer.start(FAILURES);
      await fixture.advance();
      expect(fixture.sent).toEqual(["1"]);
    }));
});

describe("a replay of many events", () => {
  it("goes in slices, pauses while much waits, and continues after a crash without a gap or a repetition", () =>
    ReplayFixture.run(readFrom(logOf(5_000)), async (fixture) => {
      expect(fixture.replayer.start(REQUEST)).toMatchObject({ deliveries: 0, endedAt: null });
      expect(fixture.replayer.start(REQUEST)).toBeNull();
      await fixture.advance();
      expect(fixture.sent).toHaveLength(2_000);
      expect(fixture.replayer.dueAt()).toBeGreaterThan(fixture.now);
      while (fixture.replayer.find()?.endedAt === null) {
        fixture.crash();
        fixture.store.write(
          "UPDATE deliveries SET status = 'success', due_at = NULL WHERE status = 'pending'",
        );
        await fixture.advance();
      }
      expect(fixture.sent).toEqual(logOf(5_000).map(({ eventId }) => eventId));
      expect(fixture.replayer.find()).toMatchObject({ deliveries: 5_000, error: null });
      expect(fixture.replayer.dueAt()).toBeNull();
      fixture.store.write("UPDATE deliveries SET status = 'success', due_at = NULL WHERE status = 'pending'");
      const again = fixture.replayer.start({ ...REQUEST, status: "success", from: NOW - 10 });
      expect(again).toMatchObject({ deliveries: 0 });
      await fixture.advance();
      expect(fixture.replayer.find()).toMatchObject({ deliveries: 10, status: "success" });
    }));

  it("does not wait for deliveries that wait for their retries", () =>
    ReplayFixture.run(readFrom(logOf(3_000)), async (fixture) => {
      fixture.replayer.start(REQUEST);
      await fixture.advance();
      fixture.store.write("UPDATE deliveries SET attempts = 1, due_at = ? WHERE status = 'pending'", NOW * 2);
      fixture.crash();
      await fixture.advance();
      expect(fixture.replayer.find()).toMatchObject({ deliveries: 3_000, error: null });
      expect(fixture.store.total("pending").deliveries).toBe(3_000);
    }));

  it("is tried again when the log cannot be read, and ends when its events are no longer kept", () => {
    let answer: () => Promise<LogSlice> = () => Promise.reject(new Error("It cannot be reached"));
    return ReplayFixture.run(
      () => answer(),
      async (fixture) => {
        fixture.replayer.start(REQUEST);
        await expect(fixture.replayer.step()).rejects.toThrow("It cannot be reached");
        expect(await fixture.replayer.step()).toBe(false);
        fixture.now = fixture.replayer.dueAt() ?? 0;
        answer = async () => ({ type: "pruned", oldestAt: null });
        expect(await fixture.replayer.step()).toBe(false);
        expect(fixture.replayer.find()).toMatchObject({ error: expect.stringContaining("deleted") });
        expect(fixture.replayer.find()?.endedAt).toBe(fixture.now);
      },
    );
  });

  it("enqueues nothing more once its webhook is disabled", () => {
    const reading = Promise.withResolvers<LogSlice>();
    return ReplayFixture.run(
      () => reading.promise,
      async (fixture) => {
        fixture.replayer.start(REQUEST);
        const step = fixture.replayer.step();
        fixture.replayer.end("The webhook was disabled");
        reading.resolve({ type: "slice", events: logOf(3), position: 3, isAtEnd: true });
        await step;
        expect(fixture.sent).toEqual([]);
        expect(fixture.replayer.find()).toMatchObject({ error: "The webhook was disabled", deliveries: 0 });
      },
    );
  });
});
