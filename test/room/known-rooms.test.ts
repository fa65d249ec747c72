/** R1: whether a room exists is remembered for a moment when sockets open, and decided when they join. */
import { env, exports } from "cloudflare:workers";
import { expect, it } from "vitest";
import { hasRoom } from "../../src/features/rooms/queries.ts";
import { RoundTripCounter } from "../../src/platform/d1/d1.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import { account, ORIGIN } from "../support/api.ts";
import { failed, makeRoom, roomWithUsers } from "./support/rooms.ts";
import { TestSocket } from "./support/test-socket.ts";

/** Asks for rooms of an organization, and counts how often that asks the database. */
function lookUp(accountId: string) {
  const trips = new RoundTripCounter();
  const tenant = { accountId, db: trips.count(openTenant(env, accountId).db) };
  return { trips, has: (roomId: string, now: number) => hasRoom(tenant, roomId, now) };
}

it("a room is looked up by the first of the sockets that open within 10 s (R1)", async () => {
  const { id, accountId } = await makeRoom();
  const { trips, has } = lookUp(accountId);
  for (const at of [0, 1, 9_999]) expect(await has(id, at)).toBe(true);
  expect(trips.total).toBe(1);
  expect(await has(id, 10_000)).toBe(true);
  expect(trips.total).toBe(2);
});

it("a room that does not exist is looked up each time, and is found as soon as it does (R1)", async () => {
  const [{ accountId }, { id }] = [await makeRoom(), await makeRoom()];
  const { trips, has } = lookUp(accountId);
  await has(id, 0);
  expect(await has(id, 0)).toBe(false);
  expect(trips.total).toBe(2);
});

it("a room that one organization has is not there for another one, remembered or not (R1)", async () => {
  const [room, { accountId }] = [await makeRoom(), await makeRoom()];
  expect(await lookUp(room.accountId).has(room.id, 0)).toBe(true);
  expect(await lookUp(accountId).has(room.id, 0)).toBe(false);
});

it("a deleted room opens no socket where it was deleted (R1)", async () => {
  const { api } = await account();
  const room = await api.createRoom();
  const open = () =>
    exports.default.fetch(
      new Request(`${ORIGIN}${api.base}/rooms/${room.id}/socket`, { headers: { Upgrade: "websocket" } }),
    );
  const { status, webSocket } = await open();
  expect(status).toBe(101);
  if (webSocket === null) throw new Error("The upgrade returned no socket");
  const socket = new TestSocket(webSocket);
  expect((await api.delete(`/rooms/${room.id}`)).status).toBe(200);
  expect(await socket.closed).toMatchObject({ code: 4404 });
  expect((await open()).status).toBe(404);
});

it("a socket that opens where a deleted room is still remembered cannot join, and leaves nothing (R1, R15, R23)", async () => {
  const { room, ada } = await roomWithUsers();
  await room.join(ada);
  await room.deleteRow();
  await room.apply({ type: "room.deleted" });
  expect(await room.refusedJoin(ada)).toMatchObject({ answer: failed("NOT_FOUND"), code: 4404 });
  await room.alarm();
  expect(await room.tables()).toEqual([]);
  expect(await room.alarmAt()).toBeNull();
});
