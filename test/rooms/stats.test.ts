/** The copy in D1 of a room's stats, which lists show. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { openTenant } from "../../src/placement/databases.ts";
import type { Room } from "../../src/rooms/schema.ts";
import { updateRoomStats } from "../../src/rooms/stats.ts";
import { account } from "../support/api.ts";

const NOTHING = { activeParticipants: 0, occupiedMs: 0, occupiedSince: null, storeBytes: 0 };

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

it("includes the current occupancy period in the duration", async () => {
  const { id, api } = await account();
  const room = await api.createRoom();
  const stats = { ...NOTHING, activeParticipants: 1, occupiedMs: 5_000, occupiedSince: Date.now() - 60_000 };
  await updateRoomStats(openTenant(env, id), room.id, stats, 1);
  const { data } = await api.get<{ rooms: Room[] }>("/rooms");
  expect(data.rooms[0]?.duration_seconds).toBeGreaterThanOrEqual(65);
});
