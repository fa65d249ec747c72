/** The copy of a room's figures in D1, as lists show it. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { openTenant } from "../../src/platform/d1.ts";
import type { Room } from "../../src/rooms/schema.ts";
import { updateRoomStats } from "../../src/rooms/stats.ts";
import { account } from "../support/api.ts";

it("is never set back by a copy that arrives late, and does not mind a room that is gone", async () => {
  const { id, api } = await account();
  const room = await api.createRoom();
  const tenant = openTenant(env.DB, id);
  const copy = (version: number, activeParticipants: number, roomId = room.id) =>
    updateRoomStats(tenant, roomId, { activeParticipants, occupiedMs: 7_999, occupiedSince: null }, version);
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

it("counts the running stretch in", async () => {
  const { id, api } = await account();
  const room = await api.createRoom();
  const figures = { activeParticipants: 1, occupiedMs: 5_000, occupiedSince: Date.now() - 60_000 };
  await updateRoomStats(openTenant(env.DB, id), room.id, figures, 1);
  const { data } = await api.get<{ rooms: Room[] }>("/rooms");
  expect(data.rooms[0]?.duration_seconds).toBeGreaterThanOrEqual(65);
});
