/** The copy in D1 of a room's stats, which lists show. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { updateRoomStats } from "../../src/features/rooms/commands.ts";
import type { ListedRoom } from "../../src/features/rooms/schema.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import type { Room } from "../../src/wire/room.ts";
import { account } from "../support/api.ts";

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
