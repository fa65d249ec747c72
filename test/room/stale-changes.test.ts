/** Changes that a crash or a race applies late do not undo later ones. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { failed, gateway, makeRoom, roomOfTwo, type TestRoom } from "./support/rooms.ts";

const LATER_MS = 60_000;

/** Leaves the row of a request that commits this command and dies before the room has it. */
async function leaveBehind(room: TestRoom, command: object): Promise<void> {
  await env.DB.prepare("INSERT INTO outbox VALUES (?, ?, ?, ?, ?)")
    .bind(crypto.randomUUID(), room.accountId, room.id, JSON.stringify(command), Date.now())
    .run();
}

const relayPending = () => runScheduledTasks(env, Date.now() + LATER_MS);

const rename = (room: TestRoom, name: string) =>
  env.DB.prepare("UPDATE rooms SET name = ? WHERE id = ?").bind(name, room.id).run();

/** Nothing is kept of the room: no table, no alarm. */
async function expectErased(room: TestRoom): Promise<void> {
  expect([await room.tables(), await room.alarmAt()]).toEqual([[], null]);
}

describe("a late change", () => {
  // An old room.closed, applied again after a crash, threw everyone out of a room that was open again.
  it("that closed the room closes no room that is open again (R23)", async () => {
    const { room, ada, ben, atAda, atBen } = await roomOfTwo();
    await leaveBehind(room, { type: "room.closed" });
    await relayPending();
    expect(await room.online(ada, ben)).toEqual([ada.user.id, ben.user.id]);
    expect((await atAda.call("STORE_SET", { store: "s", key: "k", value: 1 })).success).toBe(true);
    expect(await atBen.takeEvents()).toMatchObject([{ event: "roomUpdated" }, { event: "storeChanged" }]);
    await room.set("closed");
    expect(await atAda.closed).toEqual({ code: 4403, reason: "room closed" });
    expect(await room.online(ada, ben)).toEqual([]);
  });

  // The room forgot none of the joins that it had approved before, and let them into a closed room.
  it("that closes the room keeps out a user whose join was approved just before", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const socket = await room.connect();
    await room.inside(async (object, state) => {
      for (const end of state.getWebSockets())
        object.webSocketMessage(end, JSON.stringify({ type: "JOIN_ROOM", data: { token: ada.token } }));
      await env.DB.prepare("UPDATE rooms SET state = 'closed' WHERE id = ?").bind(room.id).run();
      await object.apply(room.accountId, { type: "room.closed" });
    });
    expect(await socket.closed).toMatchObject({ code: 4403 });
    expect(await room.online(ada)).toEqual([]);
  });

  // Commands that swapped places left the older name of a user or of the room on everyone's screen.
  it("shows what the database has now, whatever the order", async () => {
    const { room, ada, atBen } = await roomOfTwo();
    await room.change(ada, { name: "First" });
    await room.change(ada, { name: "Second" });
    await rename(room, "Renamed");
    for (const command of [{ type: "user.updated", userId: ada.user.id }, { type: "room.updated" }])
      await leaveBehind(room, command);
    await relayPending();
    const names = (await atBen.takeEvents()).map(({ data }) =>
      "user" in data ? data.user : "room" in data ? data.room : data,
    );
    expect(names.map((named) => (named as { name: string }).name).sort()).toEqual([
      "First",
      "Renamed",
      "Second",
      "Second",
    ]);
  });

  // A change of a user who was deleted meanwhile showed the user again.
  it("of a deleted user shows nothing", async () => {
    const { room, ada, atBen } = await roomOfTwo();
    await env.DB.prepare("DELETE FROM users WHERE id = ?").bind(ada.user.id).run();
    await room.apply({ type: "user.deleted", userId: ada.user.id });
    for (const type of ["user.updated", "user.created", "user.deleted"])
      await leaveBehind(room, { type, userId: ada.user.id });
    await relayPending();
    expect((await atBen.takeEvents()).map(({ event }) => event)).toEqual(["userLeft", "userDeleted"]);
  });
});

describe("a deleted room", () => {
  async function deletedRoom() {
    const room = await makeRoom();
    const ada = await room.user();
    const socket = await room.join(ada);
    await socket.call("STORE_SET", { store: "s", key: "k", value: 1 });
    const waiting = await room.connect();
    await room.deleteRow();
    await room.apply({ type: "room.deleted" });
    await expectErased(room);
    return { room, ada, socket, waiting };
  }

  const data = { store: "s", key: "k", value: 1 };
  const reader = { subject: "u", userId: "u" };
  const batch = { operations: [{ type: "STORE_SET" as const, ...data }], atomic: true };
  const WRITES = {
    STORE_SET: (at) => gateway.call(...at, "STORE_SET", data, { requestId: "r" }),
    COMMENT_CREATE: (at) =>
      gateway.call(...at, "COMMENT_CREATE", { text: "Hello", mentions: [] }, { requestId: "r", reader }),
    STORE_BATCH: (at) => gateway.call(...at, "STORE_BATCH", batch, { requestId: "r" }),
    BROADCAST: (at) => gateway.call(...at, "BROADCAST", { event: "e" }, { requestId: "r" }),
  } satisfies Record<string, (at: readonly [roomId: string, accountId: string]) => Promise<unknown>>;

  // A request that had passed the database's check before the room was deleted brought the erased object back.
  it.each(Object.entries(WRITES))(
    "takes no %s of a caller that checked the database before",
    async (_, call) => {
      const { room } = await deletedRoom();
      const write = () => call([room.id, room.accountId]);
      await expect(write()).rejects.toMatchObject({ code: "NOT_FOUND", module: "Rooms" });
      await expectErased(room);
      await room.hibernate();
      await expect(write()).rejects.toMatchObject({ code: "NOT_FOUND", module: "Rooms" });
      await expectErased(room);
    },
  );

  it.each([
    ["the organization", null],
    ["a user", "u"],
  ] as const)("takes no batch of %s that checked the database before", async (_, userId) => {
    const { room } = await deletedRoom();
    await room.hibernate();
    const batch = { type: "STORE_BATCH", data: { operations: [{ type: "STORE_SET", ...data }] } } as const;
    const responses = await gateway.writeStores(room.id, room.accountId, userId, [batch]);
    expect(responses).toEqual([failed("NOT_FOUND")]);
    await expectErased(room);
  });

  // The object remembered the deletion while it was in memory, and refused each write and each update.
  it.each([
    ["at once", async () => {}],
    [
      "after a late request",
      async (room: TestRoom) => {
        const late = WRITES.STORE_SET([room.id, room.accountId]);
        await expect(late).rejects.toMatchObject({ code: "NOT_FOUND" });
      },
    ],
  ])("takes part again when it is restored while its object is in memory, %s", async (_, meanwhile) => {
    const room = await makeRoom();
    const ada = await room.user();
    const before = await room.connect();
    const { epoch } = (await before.call("JOIN_ROOM", { token: ada.token })).data as { epoch: string };
    await before.call("STORE_SET", data);
    const rows = await Promise.all(
      ["SELECT * FROM rooms WHERE id = ?", "SELECT * FROM users WHERE room_id = ?"].map((query) =>
        env.DB.prepare(query).bind(room.id).first(),
      ),
    );
    await room.deleteRow();
    await room.apply({ type: "room.deleted" });
    await meanwhile(room);
    for (const [index, row] of rows.entries()) {
      const [columns, values] = [Object.keys(row ?? {}), Object.values(row ?? {})];
      const places = columns.map(() => "?").join();
      await env.DB.prepare(`INSERT INTO ${["rooms", "users"][index]} (${columns.join()}) VALUES (${places})`)
        .bind(...values)
        .run();
    }
    const write = () => WRITES.STORE_SET([room.id, room.accountId]);
    const socket = await room.connect();
    // A client with the erased content must not take this room for the same.
    const joined = (await socket.call("JOIN_ROOM", { token: ada.token })).data as { epoch: string };
    expect(joined.epoch).not.toBe(epoch);
    expect((await socket.call("STORE_SET", data)).success).toBe(true);
    await room.change(ada, { name: "Renamed" });
    expect(await socket.takeEvents()).toMatchObject([{ event: "storeChanged" }, { event: "userUpdated" }]);
    expect(await write()).toMatchObject({ version: expect.any(Number) });
  });

  it("lets no one in, whenever the socket was opened", async () => {
    const { room, ada, socket, waiting } = await deletedRoom();
    for (const closed of [socket.closed, waiting.closed]) expect(await closed).toMatchObject({ code: 4404 });
    const late = await room.connect();
    expect(await late.request("JOIN_ROOM", { token: ada.token })).toEqual(failed("NOT_FOUND"));
    expect(await late.closed).toMatchObject({ code: 4404 });
    await room.alarm();
    await expectErased(room);
  });

  // The room read a new user for its participants, was deleted meanwhile, and then stored the user's change.
  it("is not brought back by a change that it was just reading", async () => {
    const { room, ada } = await roomOfTwo();
    await room.inside(async (object) => {
      const reading = object.apply(room.accountId, { type: "user.updated", userId: ada.user.id });
      await object.apply(room.accountId, { type: "room.deleted" });
      await reading;
    });
    await expectErased(room);
  });

  it("is not brought back by what the cron trigger applies late", async () => {
    const { room, ada } = await deletedRoom();
    await room.hibernate();
    const { id: userId } = ada.user;
    for (const type of ["user.created", "user.updated", "user.deleted", "tokens.ended"])
      await leaveBehind(room, { type, userId });
    for (const type of ["room.updated", "room.closed", "room.deleted"]) await leaveBehind(room, { type });
    await relayPending();
    await expectErased(room);
    await gateway.stub(room.id).reconcile(room.accountId);
    await expectErased(room);
  });
});
