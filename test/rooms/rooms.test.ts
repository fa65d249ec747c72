/** Rooms over REST. */

import { env } from "cloudflare:workers";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { User } from "@atrium/contract/resources/user.ts";
import type { ListedRoom } from "@atrium/contract/rest/rooms.ts";
import { describe, expect, it } from "vitest";
import { updateRoomStats } from "../../src/features/rooms/commands.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import { account } from "../support/api.ts";

interface RoomAnswer {
  readonly room: Room;
  readonly users: User[];
  readonly usersTotal: number;
}

describe("a new room", () => {
  it("is active, empty and the organization's", async () => {
    const { id, api } = await account();
    const before = Date.now();
    const answer = await api.post<{ room: Room }>("/rooms", {
      name: "Planning 🎉 \u202Eטסט",
      customId: "my/own id?",
    });
    expect([answer.status, answer.description]).toEqual([201, "Room created"]);
    const { room } = answer.data;
    expect(room).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      account_id: id,
      name: "Planning 🎉 \u202Eטסט",
      custom_id: "my/own id?",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      state: "active",
      expires_at: null,
      limits: {
        ...{ users: null, store_bytes: null, document_bytes: null, stream_bytes: null, comment_bytes: null },
        ...{ files: null, file_bytes: null },
      },
      duration_seconds: 0,
      active_participants: 0,
      total_users_created: 0,
    });
    expect(Date.parse(room.created_at)).toBeGreaterThanOrEqual(before);
    const byId = await api.get<RoomAnswer>(`/rooms/${room.id}`);
    const byCustomId = await api.get<RoomAnswer>(`/rooms/custom/${encodeURIComponent("my/own id?")}`);
    expect(byId.data).toEqual({ room, users: [], usersTotal: 0, limit: 50, offset: 0, cursor: null });
    expect(byCustomId.data).toEqual(byId.data);
  });

  it("has no custom ID unless one is given", async () => {
    expect(await (await account()).api.createRoom()).not.toHaveProperty("custom_id");
  });

  it.each([
    "%",
    "100%25",
    "a%2Fb",
    "ä ö",
    "..%2f",
    "+",
    "😀",
    "x".repeat(255),
    "custom",
    "reconcile",
    "socket",
    "stores",
  ])("is found by its custom ID %j", async (customId) => {
    const { api } = await account();
    const room = await api.createRoom({ customId });
    const found = await api.get<RoomAnswer>(`/rooms/custom/${encodeURIComponent(customId)}`);
    expect(found.data.room?.id).toBe(room.id);
  });

  it("may have the custom ID of another organization's room, and of none of its own", async () => {
    const [{ api }, other] = [await account(), await account()];
    const create = () => api.post("/rooms", { name: "A room", customId: "one" });
    const statuses = (await Promise.all([create(), create(), create()])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, 409, 409]);
    expect((await other.api.createRoom({ customId: "one" })).custom_id).toBe("one");
  });
});

it("a room's users are shown without tokens, by the query's page, search and dates", async () => {
  const { api } = await account();
  const room = await api.createRoom({ customId: "c" });
  const ada = await api.createUser(room.id, { name: "Ada Ärger" });
  const bob = await api.createUser(room.id, { name: "Bob" });
  const query = async (text: string) => (await api.get<RoomAnswer>(`/rooms/custom/c?${text}`)).data;
  const all = await query("");
  expect(all.usersTotal).toBe(2);
  expect(JSON.stringify(all)).not.toContain("token");
  expect(all.room.total_users_created).toBe(2);
  expect((await query("search=ärger")).users.map((user) => user.id)).toEqual([ada.id]);
  expect((await query(`search=${bob.id.slice(0, 13).toUpperCase()}`)).users.map((user) => user.id)).toEqual([
    bob.id,
  ]);
  expect((await query(`search=${bob.id}`)).usersTotal).toBe(1);
  expect((await query(`search=${bob.id.slice(4)}`)).usersTotal).toBe(0);
  expect(await query("limit=1&offset=1")).toMatchObject({
    usersTotal: 2,
    limit: 1,
    offset: 1,
    users: [{}],
  });
  expect((await query("from=2999-01-01")).usersTotal).toBe(0);
  expect((await query("to=2999-01-01")).usersTotal).toBe(2);
});

describe("changing a room", () => {
  it("sets the fields that are given and no others", async () => {
    const { api } = await account();
    const room = await api.createRoom({ customId: "before" });
    const renamed = await api.patch<{ room: Room }>(`/rooms/${room.id}`, { name: "Neuer Näme" });
    expect(renamed.data.room).toEqual({ ...room, name: "Neuer Näme" });
    const closed = await api.patch<{ room: Room }>(`/rooms/${room.id}`, { state: "closed", customId: null });
    const { custom_id: _, ...rest } = renamed.data.room;
    expect(closed.data.room).toEqual({ ...rest, state: "closed" });
    expect((await api.get("/rooms?search=NÄME")).data.total).toBe(1);
    expect((await api.get("/rooms/custom/before")).status).toBe(404);
    expect((await api.patch<{ room: Room }>(`/rooms/${room.id}`, { state: "active" })).data.room.state).toBe(
      "active",
    );
  });

  it("refuses a custom ID that another room has, and then changes nothing", async () => {
    const { api } = await account();
    await api.createRoom({ customId: "taken" });
    const room = await api.createRoom({ customId: "mine" });
    const answer = await api.patch(`/rooms/${room.id}`, { name: "New", customId: "taken" });
    expect([answer.status, answer.error?.code]).toEqual([409, "CONFLICT"]);
    expect((await api.get<RoomAnswer>(`/rooms/${room.id}`)).data.room).toEqual(room);
    expect((await api.patch(`/rooms/${room.id}`, { customId: "mine" })).status).toBe(200);
  });
});

describe("deleting a room", () => {
  it("deletes its users too, and frees its custom ID", async () => {
    const { api } = await account();
    const room = await api.createRoom({ customId: "c" });
    const user = await api.createUser(room.id);
    expect((await api.delete(`/rooms/${room.id}`)).data).toEqual({});
    for (const path of [
      `/rooms/${room.id}`,
      "/rooms/custom/c",
      `/users?roomId=${room.id}`,
      `/users/${user.id}?roomId=${room.id}`,
    ]) {
      expect((await api.get(path)).status, path).toBe(404);
    }
    expect((await api.as(user.token).get(`/users?roomId=${room.id}`)).status).toBe(401);
    expect((await api.delete(`/rooms/${room.id}`)).status).toBe(404);
    await api.createRoom({ customId: "c" });
  });
});

const NOTHING = { activeParticipants: 0, occupiedMs: 0, occupiedSince: null, storeBytes: 0, at: 1 };

it("ignores a copy that arrives late, and a deleted room", async () => {
  const { id, api } = await account();
  const room = await api.createRoom();
  const tenant = openTenant(env, id);
  const copy = (version: number, activeParticipants: number, roomId = room.id) =>
    updateRoomStats(tenant, roomId, { ...NOTHING, activeParticipants, occupiedMs: 7_999 }, version);
  const shown = async () => (await api.get<{ rooms: Room[] }>("/rooms")).data.rooms[0];
  await copy(5, 3);
  await copy(4, 2);
  expect(await shown()).toMatchObject({ active_participants: 3, duration_seconds: 7 });
  await copy(5, 3);
  await copy(6, 1);
  expect(await shown()).toMatchObject({ active_participants: 1 });
  await copy(7, 9, crypto.randomUUID());
  expect(await shown()).toMatchObject({ active_participants: 1 });
});

it("orders rooms by when users were last online", async () => {
  const { id, api } = await account();
  const tenant = openTenant(env, id);
  const [left, brief, online, unused] = [
    await api.createRoom({ name: "left" }),
    await api.createRoom({ name: "brief" }),
    await api.createRoom({ name: "online" }),
    await api.createRoom({ name: "unused" }),
  ];
  const here = { ...NOTHING, activeParticipants: 1 };
  await updateRoomStats(tenant, online.id, { ...here, occupiedSince: 1_000, at: 1_001 }, 1);
  await updateRoomStats(
    tenant,
    online.id,
    { ...here, activeParticipants: 2, occupiedSince: 1_000, at: 9_000 },
    2,
  );
  await updateRoomStats(tenant, left.id, { ...here, occupiedSince: 2_000, at: 2_001 }, 1);
  await updateRoomStats(tenant, left.id, { ...NOTHING, occupiedMs: 3_000, at: 5_001 }, 2);
  await updateRoomStats(tenant, left.id, { ...NOTHING, occupiedMs: 3_000, storeBytes: 7, at: 8_000 }, 3);
  await updateRoomStats(tenant, brief.id, { ...NOTHING, occupiedMs: 10, at: 6_000 }, 2);
  const before = Date.now();
  const { data } = await api.get<{ rooms: ListedRoom[] }>("/rooms?sort=-last_active_at");
  expect(data.rooms.map(({ name }) => name)).toEqual([online.name, brief.name, left.name, unused.name]);
  const [first, ...others] = data.rooms.map(({ last_active_at }) => last_active_at);
  expect(Date.parse(first ?? "")).toBeGreaterThanOrEqual(before);
  expect(others).toEqual([new Date(6_000).toISOString(), new Date(5_001).toISOString(), undefined]);
});

it("includes the current occupancy period in the duration", async () => {
  const { id, api } = await account();
  const room = await api.createRoom();
  const stats = { ...NOTHING, activeParticipants: 1, occupiedMs: 5_000, occupiedSince: Date.now() - 60_000 };
  await updateRoomStats(openTenant(env, id), room.id, stats, 1);
  const { data } = await api.get<{ rooms: Room[] }>("/rooms");
  expect(data.rooms[0]?.duration_seconds).toBeGreaterThanOrEqual(65);
});
