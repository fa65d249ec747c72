/** The overview and the usage of an organization. */

import { env } from "cloudflare:workers";
import type { Overview, Usage } from "@atrium/contract/rest/metrics.ts";
import { HOUR_MS } from "@atrium/contract/time.ts";
import { describe, expect, it } from "vitest";
import { spanOf } from "../../src/delivery/event-log/event-log-store.ts";
import { openEventLogs, shardOf } from "../../src/delivery/event-log/shards.ts";
import { joinRoom } from "../room/support/join.ts";
import { type Account, account } from "../support/api.ts";
import { TestWorkflow } from "../workflows/test-workflow.ts";

const overviewOf = async ({ api }: Account) => (await api.get<Overview>("/overview")).data;

const join = async ({ id, api }: Account, roomId: string) =>
  joinRoom(id, roomId, (await api.createUser(roomId)).token);

describe("an overview", () => {
  it("of an empty organization has 24 empty hours, the current one last", async () => {
    const before = spanOf(Date.now(), HOUR_MS);
    const { hours, ...metrics } = await overviewOf(await account());
    expect(metrics).toEqual({
      rooms_total: 0,
      rooms_online: 0,
      participants_online: 0,
      users_total: 0,
      first_joined_at: null,
      events_last_day: 0,
      runs_last_day: 0,
      failed_runs_last_day: 0,
      before: { events: 0, runs: 0, failed_runs: 0 },
    });
    expect(hours).toHaveLength(24);
    expect([before, spanOf(Date.now(), HOUR_MS)]).toContain(Date.parse(hours.at(-1)?.at ?? ""));
    expect(Date.parse(hours[23]?.at ?? "") - Date.parse(hours[0]?.at ?? "")).toBe(23 * HOUR_MS);
  });

  it("counts rooms, users, participants and events", async () => {
    const [owner, stranger] = [await account(), await account()];
    const room = await owner.api.createRoom();
    await owner.api.createRoom();
    await join(owner, room.id);
    await join(owner, room.id);
    await owner.api.post(`/rooms/${room.id}/reconcile`);
    // Two rooms created, two users created, a session started, two participants joined.
    await expect.poll(async () => (await overviewOf(owner)).events_last_day).toBe(7);
    expect(await overviewOf(owner)).toMatchObject({
      rooms_total: 2,
      rooms_online: 1,
      participants_online: 2,
      users_total: 2,
      first_joined_at: expect.stringMatching(/Z$/),
    });
    expect(await overviewOf(stranger)).toMatchObject({ rooms_total: 0, users_total: 0, events_last_day: 0 });
  });

  it("counts workflow runs and failures", async () => {
    const owner = await account();
    const room = await owner.api.createRoom();
    const code = 'export default ({ event }) => { if (event === "session.closed") throw new Error("No"); };';
    const testWorkflow = await TestWorkflow.create(owner.api, code, { events: ["session.started"] });
    for (const event of ["session.started", "session.closed", "session.closed"] as const) {
      await testWorkflow.run(event, { roomId: room.id });
    }
    await expect
      .poll(() => overviewOf(owner))
      .toMatchObject({ runs_last_day: 3, failed_runs_last_day: 2, events_last_day: 1 });
  });

  it("compares with the same time before", async () => {
    const owner = await account();
    const eventAt = (occurredAt: number) => ({
      ...{ eventId: crypto.randomUUID(), event: "user.created" as const, roomId: "room", body: "{}" },
      occurredAt,
    });
    const hoursAgo = [1, 25, 26, 49].map((hours) => eventAt(Date.now() - hours * HOUR_MS));
    await openEventLogs(env)(owner.id, shardOf("room")).append(hoursAgo);
    const before = { events: 2, runs: 0, failed_runs: 0 };
    expect(await overviewOf(owner)).toMatchObject({ events_last_day: 1, before });
    const { usage } = (await owner.api.get<{ usage: Usage }>("/usage?range=24h")).data;
    expect(usage).toMatchObject({ events: 1, before });
  });

  it("adds up what all shards of the log have counted, by the hour", async () => {
    const owner = await account();
    const logs = openEventLogs(env);
    const ids = Array.from({ length: 20 }, () => crypto.randomUUID());
    await Promise.all(ids.map((id) => logs(owner.id, shardOf(id)).countRuns({ runs: 2, failedRuns: 1 })));
    const overview = await overviewOf(owner);
    expect(overview).toMatchObject({ runs_last_day: 40, failed_runs_last_day: 20, events_last_day: 0 });
    expect(overview.hours.filter(({ runs }) => runs > 0)).toHaveLength(1);
    const lengths = { "1h": [12, 300], "24h": [24, 3_600], "7d": [28, 21_600], "30d": [30, 86_400] } as const;
    for (const range of ["1h", "24h", "7d", "30d"] as const) {
      const { usage } = (await owner.api.get<{ usage: Usage }>(`/usage?range=${range}`)).data;
      expect(usage).toMatchObject({ range, runs: 40, failed_runs: 20, events: 0 });
      expect([usage.points.length, usage.point_seconds]).toEqual(lengths[range]);
      expect(usage.points.reduce((sum, { runs }) => sum + runs, 0)).toBe(40);
    }
  });
});
