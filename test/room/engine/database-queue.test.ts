/** R66: requests of a room to the database, counted and held at the binding. */
import { describe, expect, it } from "vitest";
import { DatabaseGate } from "../support/database-gate.ts";
import { failed, roomOfTwo } from "../support/rooms.ts";
import type { TestSocket } from "../support/test-socket.ts";

const purposes = ({ reached }: DatabaseGate) => reached.map(({ purpose }) => purpose);

/** Waits until the room has received everything that the socket has sent, while its reads wait. */
const received = (socket: TestSocket) => socket.request("STORE_GET", { store: "none", key: "none" });

describe("the expensive reads of one user", () => {
  it("wait while REST changes a user, for at most the one that is being answered (R66)", async () => {
    const { room, ben, atAda } = await roomOfTwo();
    await DatabaseGate.during(room, async (gate) => {
      for (let offset = 0; offset < 20; offset += 1) atAda.send({ type: "USERS_GET", data: { offset } });
      await gate.waitFor(1);
      const applied: Promise<unknown>[] = [];
      await room.inside((object) => {
        applied.push(object.apply(room.accountId, { type: "user.updated", userId: ben.user.id }));
      });
      await gate.releaseOldest();
      await gate.waitFor(2);
      expect(purposes(gate)).toEqual(["users", "join or refresh of a user"]);
      await gate.releaseOldest();
      await room.inside(() => Promise.all(applied));
      expect(gate.reached.length).toBeLessThanOrEqual(3);
    });
    const messages = [];
    while (messages.length < 21) messages.push(await atAda.next());
    expect(messages.filter(({ type }) => type === "event")).toMatchObject([{ event: "userUpdated" }]);
  });

  it("hold up no one's join (R66)", async () => {
    const { room, atAda } = await roomOfTwo();
    const cleo = await room.user({ name: "Cleo" });
    await DatabaseGate.during(room, async (gate) => {
      for (let offset = 0; offset < 20; offset += 1) atAda.send({ type: "USERS_GET", data: { offset } });
      await gate.waitFor(1);
      const joining = room.join(cleo);
      await gate.waitFor(2);
      expect(purposes(gate)).toEqual(["users", "join or refresh of a user"]);
      await gate.open();
      await joining;
    });
  });

  it("take turns with those of others (R66)", async () => {
    const { room, atAda, atBen } = await roomOfTwo();
    await DatabaseGate.during(room, async (gate) => {
      for (let offset = 0; offset < 20; offset += 1) atAda.send({ type: "USERS_GET", data: { offset } });
      await gate.waitFor(1);
      await received(atAda);
      atBen.send({ type: "ROOM_GET" });
      await received(atBen);
      for (let batch = 2; batch <= 4; batch += 1) {
        await gate.releaseOldest();
        await gate.waitFor(batch);
      }
      expect(purposes(gate)).toEqual(["users", "users", "room", "users"]);
    });
    expect(await atBen.next()).toMatchObject({ description: "Room retrieved" });
  });

  it("are answered by one read when they are equal, also of several users (R66)", async () => {
    const { room, atAda, atBen } = await roomOfTwo();
    await DatabaseGate.during(room, async (gate) => {
      atAda.send({ type: "USERS_GET" });
      await gate.waitFor(1);
      for (let count = 0; count < 10; count += 1) {
        atAda.send({ type: "ROOM_GET", requestId: `ada ${count}` });
        atBen.send({ type: "ROOM_GET", requestId: `ben ${count}` });
      }
      await Promise.all([received(atAda), received(atBen)]);
      await gate.releaseOldest();
      await gate.waitFor(2);
      await gate.releaseOldest();
      await atAda.nextResponse();
      for (let count = 0; count < 10; count += 1) {
        expect(await atAda.next()).toMatchObject({ success: true, requestId: `ada ${count}` });
        expect(await atBen.next()).toMatchObject({ success: true, requestId: `ben ${count}` });
      }
      expect(purposes(gate)).toEqual(["users", "room"]);
    });
  });

  it("are refused while 32 others wait, and answered again afterwards (R66)", async () => {
    const { room, atAda } = await roomOfTwo();
    await DatabaseGate.during(room, async (gate) => {
      for (let offset = 0; offset < 34; offset += 1) atAda.send({ type: "USERS_GET", data: { offset } });
      expect(await atAda.nextResponse()).toEqual(failed("RATE_LIMITED"));
      expect(gate.reached).toHaveLength(1);
      await gate.open();
      for (let offset = 0; offset < 33; offset += 1) expect((await atAda.nextResponse()).success).toBe(true);
    });
    expect((await atAda.call("ROOM_GET")).success).toBe(true);
  });

  it("are not read for a socket that is gone (R66)", async () => {
    const { room, atAda, atBen } = await roomOfTwo();
    await DatabaseGate.during(room, async (gate) => {
      for (let offset = 0; offset < 20; offset += 1) atAda.send({ type: "USERS_GET", data: { offset } });
      await gate.waitFor(1);
      atAda.send({ type: "LEAVE_ROOM" });
      await atAda.closed;
      await gate.open();
      expect((await atBen.call("ROOM_GET")).success).toBe(true);
      expect(purposes(gate).filter((purpose) => purpose === "users")).toHaveLength(1);
    });
  });
});
