/** The overview of an organization. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { HOUR_MS, hourOf, incrementHourlyCounts } from "../../src/metrics/counters/hourly-count-store.ts";
import type { Overview } from "../../src/metrics/schema.ts";
import { openDatabase } from "../../src/platform/d1.ts";
import { roomGateway } from "../../src/realtime/gateway.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { TestSocket } from "../realtime/support/test-socket.ts";
import { type Account, account } from "../support/api.ts";
import { TestWorkflow } from "../workflows/test-workflow.ts";

const overviewOf = async ({ api }: Account) => (await api.get<Overview>("/overview")).data;

async function join(owner: Account, roomId: string): Promise<TestSocket> {
  const { token } = await owner.api.createUser(roomId);
  const upgrade = new Request("https://atrium.test/", { headers: { Upgrade: "websocket" } });
  const { webSocket } = await roomGateway(env).connect(roomId, owner.id, upgrade);
  const socket = new TestSocket(webSocket as WebSocket);
  expect(await socket.request("JOIN_ROOM", { token })).toMatchObject({ success: true });
  return socket;
}

describe("an overview", () => {
  it("of an empty organization has 24 empty hours, the current one last", async () => {
    const before = hourOf(Date.now());
    const { hours, ...figures } = await overviewOf(await account());
    expect(figures).toEqual({
      rooms_total: 0,
      rooms_online: 0,
      participants_online: 0,
      users_total: 0,
      first_joined_at: null,
      events_last_day: 0,
      runs_last_day: 0,
      failed_runs_last_day: 0,
    });
    expect(hours).toHaveLength(24);
    expect([before, hourOf(Date.now())]).toContain(Date.parse(hours.at(-1)?.at ?? ""));
    expect(Date.parse(hours[23]?.at ?? "") - Date.parse(hours[0]?.at ?? "")).toBe(23 * HOUR_MS);
  });

  it("counts rooms, users, participants and events", async () => {
    const [owner, stranger] = [await account(), await account()];
    const room = await owner.api.createRoom();
    await owner.api.createRoom();
    await join(owner, room.id);
    await join(owner, room.id);
    await owner.api.post(`/rooms/${room.id}/reconcile`);
    // Two users created, a session started, two participants joined.
    await expect.poll(async () => (await overviewOf(owner)).events_last_day).toBe(5);
    expect(await overviewOf(owner)).toMatchObject({
      rooms_total: 2,
      rooms_online: 1,
      participants_online: 2,
      users_total: 2,
      first_joined_at: expect.stringMatching(/Z$/),
    });
    expect(await overviewOf(stranger)).toMatchObject({ rooms_total: 0, users_total: 0, events_last_day: 0 });
  });

  it("counts changes of existing users only", async () => {
    const owner = await account();
    const room = await owner.api.createRoom();
    const user = await owner.api.createUser(room.id);
    const path = `/users/${user.id}?roomId=${room.id}`;
    await owner.api.patch(path, { name: "Bo" });
    await owner.api.delete(path);
    await owner.api.patch(path, { name: "Cleo" });
    await owner.api.delete(path);
    expect((await overviewOf(owner)).events_last_day).toBe(3);
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
      .toMatchObject({ runs_last_day: 3, failed_runs_last_day: 2, events_last_day: 0 });
  });

  it("adds up runs by the hour and drops those older than a day", async () => {
    const owner = await account();
    const db = openDatabase(env.DB);
    const now = Date.now();
    const tenant = { accountId: owner.id };
    await db.run([
      incrementHourlyCounts(tenant, now, { runs: 2, failedRuns: 1 }),
      incrementHourlyCounts(tenant, now, { runs: 1 }),
      incrementHourlyCounts(tenant, now - HOUR_MS, { runs: 5 }),
      incrementHourlyCounts(tenant, now - 25 * HOUR_MS, { runs: 100 }),
      incrementHourlyCounts(tenant, now - 50 * HOUR_MS, { runs: 1000 }),
    ]);
    const overview = await overviewOf(owner);
    expect(overview).toMatchObject({ runs_last_day: 8, failed_runs_last_day: 1 });
    const at = new Date(hourOf(now)).toISOString();
    expect(overview.hours.find((hour) => hour.at === at)).toMatchObject({ runs: 3, failed_runs: 1 });
    await runScheduledTasks(env, now);
    const left = env.DB.prepare("SELECT count(*) AS total FROM hourly_counts WHERE account_id = ?").bind(
      owner.id,
    );
    expect(await left.first("total")).toBe(3);
  });
});
