/** The metrics of a subscriber: counted attempts, time ranges, and retention in its database. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { DeliveryStats } from "@atrium/contract/rest/deliveries.ts";
import type { ListedWebhook } from "@atrium/contract/rest/webhooks.ts";
import { describe, expect, it } from "vitest";
import { DeliveryStore } from "../../src/delivery/subscriber/delivery-store.ts";
import type { FinalOutcome } from "../../src/delivery/subscriber/handler.ts";
import { readStats, recordAttempts, recordStreak } from "../../src/delivery/subscriber/stats-store.ts";
import { DeliveryRetention } from "../../src/delivery/subscriber/subscriber-maintenance.ts";
import { account } from "../support/api.ts";
import { RecordingSubscriber } from "./recording-subscriber.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.UTC(2100, 0, 31, 12, 30, 30);

const delivered = (ms: number): FinalOutcome => ({
  type: "delivered",
  attempt: { attempted_at: "2100-01-31T12:30:00.000Z", duration_ms: ms },
});
const failed = (ms: number, error = "It failed"): FinalOutcome => ({
  ...delivered(ms),
  type: "failed",
  error,
});

const withStore = <T>(work: (store: DeliveryStore) => T): Promise<T> =>
  runInDurableObject(env.SUBSCRIBERS.getByName(`webhook:${crypto.randomUUID()}`), (_, { storage }) => {
    const store = new DeliveryStore(storage);
    store.open({ kind: "webhook", accountId: "account", id: "webhook" });
    return work(store);
  });

describe("the metrics of a subscriber", () => {
  it("count attempts by how they ended and how long they took, and say what waits", () =>
    withStore((store) => {
      const event = {
        eventId: "e",
        event: "user.created",
        roomId: "r",
        body: "{}",
        occurredAt: NOW,
      } as const;
      store.insert(event, "r", NOW - 5);
      recordAttempts(store, [delivered(10), delivered(20), failed(1_000)], NOW);
      recordAttempts(store, [{ type: "failed", attempt: null, error: "No attempt was made" }], NOW);
      const { total, points, waiting } = readStats(store, "1h", NOW);
      expect(total).toMatchObject({ succeeded: 2, failed: 1 });
      expect(points).toHaveLength(60);
      expect(points.at(-1)).toEqual({ ...total, at: NOW - 30_000, waiting: 1 });
      expect(waiting).toMatchObject({ deliveries: 1, oldestAt: NOW - 5 });
    }));

  it.each([
    ["1h", 60, MINUTE_MS],
    ["24h", 96, 15 * MINUTE_MS],
    ["7d", 84, 2 * HOUR_MS],
    ["30d", 120, 6 * HOUR_MS],
  ] as const)("of %s have %d points, which end now", (range, count, width) =>
    withStore((store) => {
      const ages = [
        0,
        MINUTE_MS,
        50 * MINUTE_MS,
        5 * HOUR_MS,
        23 * HOUR_MS,
        3 * DAY_MS,
        20 * DAY_MS,
        40 * DAY_MS,
      ];
      for (const age of ages.toReversed()) recordAttempts(store, [delivered(5)], NOW - age);
      const { total, points } = readStats(store, range, NOW);
      expect(points.map(({ at }) => at)).toEqual(
        Array.from({ length: count }, (_, index) => NOW - (NOW % width) - (count - 1 - index) * width),
      );
      const within = ages.filter((age) => NOW - age >= (points[0]?.at ?? 0));
      expect(total.succeeded).toBe(within.length);
      expect(points.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(within.length);
    }),
  );

  it("take a bounded number of rows, however long the subscriber lives", () =>
    withStore((store) => {
      for (let hour = 0; hour < 40 * 24; hour += 1) {
        recordAttempts(store, [delivered(5)], NOW + hour * HOUR_MS);
        recordAttempts(store, [failed(5)], NOW + hour * HOUR_MS + MINUTE_MS);
      }
      const rows = store.read<{ width: number; rows: number }>(
        "SELECT width, count(*) AS rows FROM stats GROUP BY width ORDER BY width",
      );
      expect(rows[0]?.rows).toBeLessThanOrEqual(2 * 26);
      expect(rows[1]?.rows).toBeLessThanOrEqual(31 * 24 + 1);
      expect(readStats(store, "30d", NOW + 40 * DAY_MS).total.failed).toBeGreaterThan(29 * 24);
    }));

  it("have percentiles that are at most a quarter too high, of any number of durations", () =>
    withStore((store) => {
      expect(readStats(store, "1h", NOW).total).toMatchObject({ p50: null, p95: null, p99: null });
      const durations = Array.from({ length: 1_000 }, (_, index) => delivered(index + 1));
      recordAttempts(store, durations.slice(0, 400), NOW - MINUTE_MS);
      recordAttempts(store, durations.slice(400), NOW);
      const { p50, p95, p99 } = readStats(store, "1h", NOW).total;
      for (const [found, exact] of [
        [p50, 500],
        [p95, 950],
        [p99, 990],
      ] as const) {
        expect(found).toBeGreaterThanOrEqual(exact - 1);
        expect(found).toBeLessThanOrEqual(exact * 1.25 + 1);
      }
      recordAttempts(store, [delivered(0), delivered(0.2), delivered(10 ** 9)], NOW + HOUR_MS);
      expect(readStats(store, "1h", NOW + HOUR_MS + MINUTE_MS).total.p50).toBe(1);
    }));

  it("say since when all attempts fail, why, and when the next may start, until one succeeds", () =>
    withStore((store) => {
      const failing = (pausedUntil = NOW) => readStats(store, "1h", NOW, pausedUntil).failing;
      let writes = 0;
      const write = store.writeFact.bind(store);
      store.writeFact = (...fact) => {
        writes += 1;
        write(...fact);
      };
      recordStreak(store, [delivered(1)], NOW);
      expect([failing(), writes]).toEqual([null, 0]);
      recordStreak(store, [failed(1, "Refused\n    at line 4")], NOW);
      for (let count = 0; count < 5; count += 1) recordStreak(store, [failed(1, "Refused")], NOW + count);
      const since = Date.parse("2100-01-31T12:30:00.000Z");
      expect(failing()).toEqual({ since, error: "Refused", nextAt: null });
      recordStreak(store, [delivered(1), { type: "failed", attempt: null, error: "x".repeat(600) }], NOW);
      expect(failing()).toEqual({ since: NOW, error: "x".repeat(500), nextAt: null });
      expect(writes).toBe(2);
      const event = { event: "user.created", roomId: "r", body: "{}", occurredAt: NOW } as const;
      const seq = store.insert({ ...event, eventId: "1" }, "r", NOW);
      expect(failing()?.nextAt).toBe(NOW);
      const attempt = { attempted_at: "2100-01-31T12:30:00.000Z", duration_ms: 1 };
      store.recordOutcome(seq, { type: "retry", attempt, at: NOW + 7, error: "Refused" });
      expect([failing()?.nextAt, failing(NOW + 9)?.nextAt]).toEqual([NOW + 7, NOW + 9]);
      expect(store.bringForward(NOW, [NOW, 0])).toEqual({ brought: 1, next: null });
      expect([failing()?.nextAt, readStats(store, "1h", NOW).lastSuccessAt]).toEqual([NOW, null]);
      store.recordOutcome(seq, delivered(1));
      recordStreak(store, [delivered(1)], NOW);
      expect([failing(), readStats(store, "1h", NOW).lastSuccessAt]).toEqual([null, since]);
    }));

  it("have no error any more once no delivery is kept that could have it", () =>
    withStore((store) => {
      const errorAt = (now: number) => readStats(store, "1h", now).failing?.error;
      const event = { event: "user.created", roomId: "r", body: "{}", occurredAt: NOW } as const;
      const fail = (eventId: string, at: number) => {
        const seq = store.insert({ ...event, eventId }, "r", at);
        store.recordOutcome(seq, failed(1, `No tea for Ada in ${eventId}`));
        recordStreak(store, [failed(1, `No tea for Ada in ${eventId}`)], at);
      };
      fail("1", NOW);
      fail("2", NOW + DAY_MS);
      const since = readStats(store, "1h", NOW).failing?.since;
      const retention = new DeliveryRetention(store);
      retention.prune(NOW + 7 * DAY_MS + 1);
      expect([store.total("failed").deliveries, errorAt(NOW)]).toEqual([1, "No tea for Ada in 2"]);
      retention.prune(NOW + 8 * DAY_MS + 1);
      expect(store.total("failed").deliveries).toBe(0);
      expect(errorAt(NOW)).toBe("The delivery with its error is no longer kept");
      expect(store.readFact("failing")).not.toContain("Ada");
      expect(readStats(store, "1h", NOW).failing?.since).toBe(since);
      fail("3", NOW + 9 * DAY_MS);
      const seq = store.insert({ ...event, eventId: "4" }, "r", NOW + 9 * DAY_MS);
      retention.prune(NOW + 16 * DAY_MS + 1);
      expect([store.total("failed").deliveries, errorAt(NOW)]).toEqual([0, "No tea for Ada in 3"]);
      retention.endWaiting(seq, null, NOW + 16 * DAY_MS);
      expect(store.readFact("failing")).not.toContain("Ada");
    }));

  it("are read over REST, for webhooks and for workflows", async () => {
    const { api } = await account();
    const room = await api.createRoom();
    const subscriber = await RecordingSubscriber.create(api);
    await api.createUser(room.id);
    await subscriber.settled(1);
    const path = `/webhooks/${subscriber.webhook.id}/stats`;
    const { data } = await api.get<{ stats: DeliveryStats }>(`${path}?range=1h`);
    expect(data.stats).toMatchObject({
      range: "1h",
      succeeded: 1,
      failed: 0,
      success_rate: 1,
      latency_ms: { p50: expect.any(Number) },
      waiting: 0,
      oldest_waiting_since: null,
      failing: null,
      last_success_at: (await subscriber.deliveries())[0]?.last_attempt_at,
    });
    const { points: _, ...totals } = data.stats;
    const listed = await api.get<{ webhooks: ListedWebhook[] }>("/webhooks?stats=1h");
    expect(listed.data.webhooks).toEqual([{ ...subscriber.webhook, secret: undefined, stats: totals }]);
    expect((await api.get<{ stats: DeliveryStats }>(path)).data.stats.points).toHaveLength(96);
    expect((await api.get(`${path}?range=2h`)).error?.code).toBe("BAD_REQUEST");
    const workflow = { name: "A", code: "export default () => 1;", events: ["user.created"] };
    const made = await api.post<{ workflow: { id: string } }>("/workflows", workflow);
    const idle = await api.get<{ stats: DeliveryStats }>(`/workflows/${made.data.workflow.id}/stats`);
    expect(idle.data.stats).toMatchObject({ succeeded: 0, success_rate: null, latency_ms: { p50: null } });
    expect(idle.data.stats).toMatchObject({ failing: null, last_success_at: null });
  });
});
