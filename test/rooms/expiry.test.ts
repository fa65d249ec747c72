/** Rooms with an end: the cron trigger deletes them within a minute of it, as a request deletes them. */
import { env } from "cloudflare:workers";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { AuditEntry } from "@atrium/contract/rest/audit.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { openBlobs } from "../../src/features/files/storage/blobs.ts";
import { expireRooms, inTurns } from "../../src/features/rooms/expiry.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import { newCallBudget, WorkBudget } from "../../src/platform/flow/work-budget.ts";
import { roomGateway } from "../../src/room/host/gateway.ts";
import { runHere, runScheduledTasks } from "../../src/scheduled.ts";
import { RecordingSubscriber } from "../delivery/recording-subscriber.ts";
import { joinRoom } from "../room/support/join.ts";
import { type Account, account } from "../support/api.ts";
import { usesOf } from "../support/quotas.ts";
import { batchesOf } from "../support/rows-read.ts";

const SOON_MS = 2_000;
const DAY_MS = 24 * 60 * 60_000;

const at = (ms: number) => new Date(ms).toISOString();

let owner: Account;
/** Epoch ms, in whole milliseconds. */
let soon: number;

beforeEach(async () => {
  owner = await account();
  soon = Date.now() + SOON_MS;
});

const create = async (fields: object = {}) => {
  const { data } = await owner.api.post<{ room: Room }>("/rooms", {
    ...{ name: "Retro", expiresAt: at(soon) },
    ...fields,
  });
  return data.room;
};

const update = (roomId: string, changes: object) =>
  owner.api.patch<{ room: Room }>(`/rooms/${roomId}`, changes);

const statusOf = async ({ id }: Pick<Room, "id">) => (await owner.api.get(`/rooms/${id}`)).status;

/** Has the time of a room pass, as if it were created earlier. */
const end = ({ id }: Room, endedAt = Date.now() - 1) =>
  env.DB.prepare("UPDATE rooms SET ends_at = ? WHERE id = ?").bind(endedAt, id).run();

describe("expiresAt", () => {
  it("is shown by the room, can be changed and removed, and is null without one", async () => {
    const room = await create({ expiresAt: "2030-01-31T10:30:00+01:00" });
    expect(room.expires_at).toBe("2030-01-31T09:30:00.000Z");
    const shown = async () => (await owner.api.get<{ room: Room }>(`/rooms/${room.id}`)).data.room.expires_at;
    expect(await shown()).toBe(room.expires_at);
    const later = at(Date.now() + DAY_MS);
    expect((await update(room.id, { expiresAt: later })).data.room.expires_at).toBe(later);
    expect((await update(room.id, { name: "Review" })).data.room.expires_at).toBe(later);
    expect((await update(room.id, { expiresAt: null })).data.room.expires_at).toBeNull();
    expect([await shown(), (await owner.api.createRoom()).expires_at]).toEqual([null, null]);
  });

  it.each([
    ["has passed", "2020-01-31T09:30:00Z"],
    ["is more than ten years away", at(Date.now() + 3_700 * DAY_MS)],
    ["is a day", "2030-01-31"],
    ["has no time zone", "2030-01-31T09:30:00"],
    ["is no time", "soon"],
    ["is a number", 1_900_000_000_000],
  ])("is refused when it %s", async (_, expiresAt) => {
    const room = await owner.api.createRoom();
    for (const refused of [
      await owner.api.post("/rooms", { name: "Retro", expiresAt }),
      await update(room.id, { expiresAt }),
    ])
      expect([refused.status, refused.error?.code, refused.error?.message]).toEqual([
        ...[400, "VALIDATION_ERROR"],
        expect.stringContaining("expiresAt"),
      ]);
  });

  it("is in the event of the change", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { events: ["room.updated"] });
    const room = await create({ expiresAt: at(Date.now() + DAY_MS) });
    await update(room.id, { expiresAt: room.expires_at });
    await update(room.id, { expiresAt: null });
    expect(await subscriber.receivedEvents(1)).toMatchObject([{ room: { id: room.id, expires_at: null } }]);
  });
});

describe("a room whose time has passed", () => {
  it("is deleted within a minute with everything in it, and no other room is", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { events: ["room.deleted"] });
    const [stays, later] = [await owner.api.createRoom(), await create({ expiresAt: at(soon + DAY_MS) })];
    const room = await create({ customId: "retro" });
    const user = await owner.api.createUser(room.id);
    await owner.api.upload({ roomId: room.id, userId: user.id }, new File(["Hello"], "hello.txt"));
    const socket = await joinRoom(owner.id, room.id, user.token);
    await runHere(env, ["expiry in DB"], soon - 1);
    expect(await statusOf(room)).toBe(200);
    await runScheduledTasks(env, soon);
    expect((await socket.closed).code).toBe(4404);
    expect([await statusOf(room), await statusOf(stays), await statusOf(later)]).toEqual([404, 200, 200]);
    expect(await usesOf(owner)).toMatchObject({ rooms: 2, users: 0, file_bytes: 0 });
    expect(await subscriber.receivedEvents(1)).toMatchObject([
      { event: "room.deleted", data: { roomId: room.id }, room: { expires_at: room.expires_at } },
    ]);
    expect((await create({ customId: "retro" })).custom_id).toBe("retro");
  });

  it("is deleted by the service, as the audit log says once", async () => {
    const room = await create();
    for (let run = 0; run < 2; run += 1) await runHere(env, ["expiry in DB"], soon);
    const { data } = await owner.api.get<{ entries: AuditEntry[] }>("/audit?operation=deleteRoom");
    expect(data.entries).toMatchObject([
      {
        actor: { type: "service", id: null, name: null },
        resource: { type: "room", id: room.id },
        changes: {},
        address: null,
      },
    ]);
  });

  it("is answered as a deleted one when it is updated, which neither keeps nor closes it", async () => {
    const room = await create();
    const { token } = await owner.api.createUser(room.id);
    const socket = await joinRoom(owner.id, room.id, token);
    await end(room);
    for (const changes of [{ expiresAt: at(soon + DAY_MS) }, { expiresAt: null }, { state: "closed" }])
      expect(await update(room.id, changes)).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
    const left = "SELECT count(*) AS n FROM outbox WHERE room_id = ?";
    expect(await env.DB.prepare(left).bind(room.id).first("n")).toBe(0);
    await runHere(env, ["expiry in DB"], Date.now());
    expect((await socket.closed).code).toBe(4404);
    expect(await statusOf(room)).toBe(404);
  });

  it("stays when its time is postponed after the cron trigger has found it", async () => {
    const [postponed, expired] = [await create(), await create()];
    const db = openTenant(env, owner.id).db;
    let hasFound = false;
    const ports = {
      ...{ rooms: roomGateway(env), blobs: openBlobs(env.FILES), newId: () => crypto.randomUUID() },
      ...{ log: expect.unreachable, relayEvents: async () => {} },
    };
    const between: typeof db = {
      run: async (statements) => {
        const results = await db.run(statements);
        if (!hasFound) await update(postponed.id, { expiresAt: null });
        hasFound = true;
        return results;
      },
    };
    await expireRooms(between, ports, soon, newCallBudget("paid"));
    expect([await statusOf(postponed), await statusOf(expired)]).toEqual([200, 404]);
    const entries = await owner.api.get<{ entries: AuditEntry[] }>("/audit?operation=deleteRoom");
    expect(entries.data.entries.map(({ resource }) => resource.id)).toEqual([expired.id]);
  });

  it("waits while its organization moves, and others do not", async () => {
    const [moving, other] = [await account(), await account()];
    const rooms: Room[] = [];
    for (const { api } of [moving, other])
      rooms.push(
        (await api.post<{ room: Room }>("/rooms", { name: "Retro", expiresAt: at(soon) })).data.room,
      );
    const isThere = async () => {
      const statuses: number[] = [];
      for (const [index, { api }] of [moving, other].entries())
        statuses.push((await api.get(`/rooms/${rooms[index]?.id}`)).status);
      return statuses;
    };
    await env.DB.prepare("INSERT INTO fences (account_id, fencing_token) VALUES (?, 1)")
      .bind(moving.id)
      .run();
    await runHere(env, ["expiry in DB"], soon);
    expect(await isThere()).toEqual([200, 404]);
    await env.DB.prepare("DELETE FROM fences WHERE account_id = ?").bind(moving.id).run();
    await runHere(env, ["expiry in DB"], soon);
    expect(await isThere()).toEqual([404, 404]);
  });

  it("lets no other one wait for it when it cannot be deleted", async () => {
    const [first, second] = [await create({ expiresAt: at(soon - 1) }), await create()];
    await env.DB.prepare(
      `CREATE TRIGGER refusing BEFORE UPDATE OF deleted_at ON rooms WHEN old.id = '${first.id}'
       BEGIN SELECT RAISE(ABORT, 'The room cannot be deleted'); END`,
    ).run();
    const run = runHere(env, ["expiry in DB"], soon);
    await expect(run).rejects.toThrow();
    await env.DB.prepare("DROP TRIGGER refusing").run();
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 404]);
    await runHere(env, ["expiry in DB"], soon);
    expect(await statusOf(first)).toBe(404);
  });

  it("waits for the next run when one invocation may make no further calls", async () => {
    for (let number = 0; number < 4; number += 1) await create();
    const expire = async (calls: number) => {
      const budget = new WorkBudget(calls);
      const ports = {
        ...{ rooms: roomGateway(env), blobs: openBlobs(env.FILES), newId: () => crypto.randomUUID() },
        log: (message: string, error: unknown) => expect.unreachable(`${message}: ${error}`),
        relayEvents: async () => budget.spend(), // as the relay does for each subscriber and inbox
      };
      const queries = new WorkBudget(800, budget);
      await expireRooms(openTenant(env, owner.id).db, ports, soon, { calls: budget, queries });
      return (await owner.api.get<{ total: number }>("/rooms")).data.total;
    };
    expect(await expire(0)).toBe(4);
    expect(await expire(2)).toBeGreaterThan(0);
    expect(await expire(100)).toBe(0);
  });
});

it("organizations take turns, however many rooms one of them has", () => {
  const rooms = ["many", "many", "many", "few", "few"].map((accountId, index) => ({
    accountId,
    id: `${index}`,
  }));
  expect(inTurns(rooms).map(({ id }) => id)).toEqual(["0", "3", "1", "4", "2"]);
});

it("a minute without an expired room costs each database one read of an index", async () => {
  for (let number = 0; number < 20; number += 1) await create({ expiresAt: at(soon + DAY_MS) });
  const now = Date.now();
  await runHere(env, ["expiry in DB"], now); // deletes what earlier tests have left
  const batches = await batchesOf(() => runHere(env, ["expiry in DB"], now));
  expect(batches).toHaveLength(1);
  expect(batches[0]?.read).toBeLessThanOrEqual(1);
  expect(batches[0]?.written).toBe(0);
});

it("an organization in another database has its rooms deleted there", async () => {
  const elsewhere = await account("DB_2");
  const { data } = await elsewhere.api.post<{ room: Room }>("/rooms", { name: "Retro", expiresAt: at(soon) });
  await runHere(env, ["expiry in DB_2"], soon);
  expect((await elsewhere.api.get(`/rooms/${data.room.id}`)).status).toBe(404);
});
