/** The metrics of a subscriber: counted attempts, time ranges, and retention in its database. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { DeliveryStats } from "@atrium/contract/rest/deliveries.ts";
import type { ListedWebhook } from "@atrium/contract/rest/webhooks.ts";
import { describe, expect, it } from "vitest";
import { DeliveryStore } from "../../src/delivery/subscriber/delivery-store.ts";
import type { FinalOutcome } from "../../src/delivery/subscriber/handler.ts";
import { readStats, recordAttempts } from "../../src/delivery/subscriber/stats-store.ts";
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
const failed = (ms: number): FinalOutcome => ({ ...delivered(ms), type: "failed", error: "It failed" });

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
  });
});
