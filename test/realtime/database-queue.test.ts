/** R66: what a room asks of the database, counted and held at the binding. */
import { describe, expect, it } from "vitest";
import { DatabaseQueue } from "../../src/realtime/database-queue.ts";
import { FairLanes } from "../../src/realtime/fair-lanes.ts";
import { DatabaseGate } from "./support/database-gate.ts";
import { failed, roomOfTwo } from "./support/rooms.ts";
import type { TestSocket } from "./support/test-socket.ts";

const purposes = ({ reached }: DatabaseGate) => reached.map(({ purpose }) => purpose);

/** Waits until the room has received everything that the socket has sent, while its questions wait. */
const received = (socket: TestSocket) => socket.request("STORE_GET", { store: "none", key: "none" });

describe("the questions of one user", () => {
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

describe("joins", () => {
  const open = () => {
    const reads: { readonly userIds: readonly string[]; finish(): void }[] = [];
    const queue = new DatabaseQueue({
      answer: async () => {},
      keepAlive: () => {},
      readJoiners: (userIds) =>
        new Promise((resolve) => {
          const finish = () => resolve(() => ({ room: null, user: null, quotas: [] }));
          reads.push({ userIds, finish });
        }),
    });
    return { queue, reads, join: (userId: string) => queue.join(userId, () => true) };
  };
  const usersOf = (reads: ReturnType<typeof open>["reads"]) => reads.map(({ userIds }) => userIds);

  it("are read by two reads at a time, those that wait together, and not for a socket that is gone (R66)", async () => {
    const { queue, reads, join } = open();
    const joins = ["ada", "ben", "ada", "cleo", "ada"].map(join);
    const gone = queue.join("dan", () => false);
    expect(usersOf(reads)).toEqual([["ada"], ["ben"]]);
    reads[0]?.finish();
    expect(await gone).toBeNull();
    expect(usersOf(reads)).toEqual([["ada"], ["ben"], ["ada", "cleo"]]);
    for (const { finish } of reads) finish();
    expect(await Promise.all(joins)).toHaveLength(5);
    expect(reads).toHaveLength(3);
  });

  it("that are held are read together once they are released (R76)", () => {
    const { queue, reads, join } = open();
    const release = queue.holdJoins();
    for (const userId of ["ada", "ben", "cleo"]) void join(userId);
    expect(reads).toEqual([]);
    release();
    expect(usersOf(reads)).toEqual([["ada", "ben", "cleo"]]);
  });
});

it("users with waiting work take turns (R66)", () => {
  const lanes = new FairLanes<string>();
  for (const item of ["a1", "a2", "a3"]) lanes.add("a", item);
  for (const item of ["b1", "b2"]) lanes.add("b", item);
  expect([lanes.take(), lanes.take()]).toEqual(["a1", "b1"]);
  lanes.add("c", "c1");
  expect(lanes.takeAll((item) => item === "b2" || item === "a3")).toEqual(["a3", "b2"]);
  expect([lanes.take(), lanes.take(), lanes.take()]).toEqual(["a2", "c1", undefined]);
});
