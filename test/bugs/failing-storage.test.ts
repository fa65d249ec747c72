/** Bugs in which one statement of a room's storage failed, and others saw or kept something wrong. */
import { describe, expect, it } from "vitest";
import { failStorage } from "../room/support/faults.ts";
import { failed, gateway, makeRoom, roomOfTwo, type TestRoom, type TestUser } from "../room/support/rooms.ts";
import type { TestSocket } from "../room/support/test-socket.ts";
import { expectLogged } from "../support/log-guard.ts";

const LEAVES = /UPDATE sessions SET left_at/;
const present = (socket: TestSocket) => socket.call("PRESENCE_UPDATE", { state: { x: 1 } });
const subscribe = (socket: TestSocket) => socket.call("PRESENCE_SUBSCRIBE", { target: "*", on: true });
const namesOf = (events: readonly { readonly event: string }[]) => events.map(({ event }) => event);
/** What a newcomer is given of who is there. */
async function viewOf(room: TestRoom, user: TestUser) {
  const { users, presence } = (await room.join(user)).joined;
  return { users: users.map(({ id }) => id), presence: Object.keys(presence) };
}

describe("a join whose answer cannot be read", () => {
  // The session had started before: the others saw a user leave who had never joined.
  it.each([
    ["changes", /FROM changes WHERE seq >/],
    ["follows", /FROM follows/],
  ])("for its %s fails, and the others see nothing of it (R16)", async (_, statements) => {
    const { room, atAda } = await roomOfTwo();
    await atAda.call("STORE_SET", { store: "s", key: "k", value: 1 });
    await room.hibernate();
    await atAda.takeEvents();
    const [cy, socket] = [await room.user(), await room.connect()];
    const storage = await failStorage(room, statements);
    const response = await socket.request("JOIN_ROOM", { token: cy.token, since: 0 });
    expect(response).toEqual(failed("INTERNAL_ERROR", "Server"));
    expect(await socket.closed).toMatchObject({ code: 1011 });
    storage.heal();
    expect(await atAda.takeEvents()).toEqual([]);
    expect(await room.online(cy)).toEqual([]);
    expectLogged("fault: storage");
  });
});

describe("a participant over REST that cannot be stored", () => {
  // The others were shown the presence of a user who was not there, and saw that user leave without having joined.
  it.each([
    ["session", /INTO sessions/],
    ["end", /INTO graces/],
  ])("for its %s fails, and the others see nothing of it (R81)", async (_, statements) => {
    const { room, atBen } = await roomOfTwo();
    await subscribe(atBen);
    await atBen.takeEvents();
    const agent = await room.user();
    const add = () =>
      gateway.addParticipant(room.id, room.accountId, agent.user.id, { state: { x: 1 }, ttl: 60 });
    const storage = await failStorage(room, statements);
    await expect(add()).rejects.toThrow("fault: storage");
    storage.heal();
    await room.advance(1_000);
    const seen = await atBen.takeEvents();
    expect(seen.filter(({ event }) => event !== "presence")).toEqual([]);
    expect(JSON.stringify(seen)).not.toContain('"x"');
    expect(await room.online(agent)).toEqual([]);
    expect(await room.stats()).toMatchObject({ activeParticipants: 2 });
    await add();
    expect(namesOf(await atBen.takeEvents())).toEqual(["userJoined", "presence"]);
  });
});

describe("a leave that cannot be stored", () => {
  // The user's presence stayed for as long as the room was awake: everyone who joined saw a user who was gone.
  it("ends the user's presence at once, and the session when storage works again (R50)", async () => {
    const { room, ada, ben, atAda, atBen } = await roomOfTwo();
    await subscribe(atBen);
    await present(atAda);
    await atBen.takeEvents();
    const storage = await failStorage(room, LEAVES);
    atAda.close();
    await atAda.closed;
    expect(await atBen.nextEvent()).toMatchObject({ data: { updates: [[ada.user.id, null]] } });
    storage.heal();
    await room.advance(1_000);
    expect(await atBen.nextEvent()).toMatchObject({ event: "userLeft" });
    expect(await viewOf(room, ben)).toEqual({ users: [ben.user.id], presence: [] });
    expectLogged("The sessions of closed sockets could not be ended yet: fault: storage");
  });

  // The room had forgotten sockets that it could not close: they stayed open, and nothing they sent was answered.
  it.each([
    ["silent", (room: TestRoom) => room.advance(80_000).then(() => room.advance(10_000)), 1001],
    ["of a closed room", (room: TestRoom) => room.set("closed").then(() => undefined), 4403],
  ] as const)("closes the sockets nevertheless: %s", async (_, close, code) => {
    const { room, atAda, atBen } = await roomOfTwo();
    const storage = await failStorage(room, LEAVES);
    await close(room);
    for (const socket of [atAda, atBen]) expect(await socket.closed).toMatchObject({ code });
    storage.heal();
    await room.advance(1_000);
    expect((await room.stats()).activeParticipants).toBe(0);
    expectLogged("The sessions of closed sockets could not be ended yet: fault: storage");
  });

  // The room could not record that it was running, and forgot the sockets that it was about to close.
  it("is not prevented by a room that cannot record that it is running", async () => {
    const { room, ada, ben, atAda, atBen } = await roomOfTwo();
    await room.advance(60_000);
    await atBen.call("STORE_GET", { store: "s", key: "k" });
    const storage = await failStorage(room, /INSERT OR REPLACE INTO room /);
    await room.advance(20_000);
    expect(await atAda.closed).toMatchObject({ code: 1001 });
    await room.advance(10_000);
    storage.heal();
    await room.advance(1_000);
    expect(await room.online(ada, ben)).toEqual([ben.user.id]);
    expect(namesOf(await atBen.takeEvents())).toEqual(["userLeft"]);
    expectLogged(
      "The sessions of closed sockets could not be ended yet: fault: storage",
      "A room could not record that it is running: fault: storage",
    );
  });
});

describe("the deletion of a user that fails half-way", () => {
  // The user's sockets were closed and the session had ended, but no one learned that the user had left.
  it("has shown that the user left, and is completed when it is applied again (R20, R23)", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    await atAda.call("STORE_SET", { store: "s", key: "k", value: 1 });
    await atBen.takeEvents();
    const storage = await failStorage(room, /DELETE FROM follows/);
    const command = { type: "user.deleted", userId: ada.user.id } as const;
    await expect(room.apply(command)).rejects.toThrow("fault: storage");
    expect(await atAda.closed).toMatchObject({ code: 4401 });
    storage.heal();
    await room.apply(command);
    expect(namesOf(await atBen.takeEvents())).toEqual(["userLeft", "userDeleted"]);
  });
});

describe("a question that the room cannot answer", () => {
  // The failure was logged, and the client waited for ever.
  it("fails with INTERNAL_ERROR (R8, R35)", async () => {
    const room = await makeRoom();
    const socket = await room.join(await room.user());
    const storage = await failStorage(room, /JOIN follows ON follower/);
    expect(await socket.call("USERS_GET", {})).toEqual(failed("INTERNAL_ERROR", "Server"));
    storage.heal();
    expect((await socket.call("USERS_GET", {})).success).toBe(true);
    expectLogged("A USERS_GET request failed: fault: storage");
  });
});

describe("a batch of operations of which each fails by itself", () => {
  it("fails as a whole, and changes nothing, when it is the storage that fails (R35, R40)", async () => {
    const { room, atAda, atBen } = await roomOfTwo();
    const write = (key: string) => ({ type: "STORE_SET", store: "s", key, value: 1 });
    const batch = { operations: [write("k"), write("l")], atomic: false };
    const storage = await failStorage(room, /INTO entries/);
    expect(await atAda.call("STORE_BATCH", batch)).toEqual(failed("INTERNAL_ERROR", "Server"));
    storage.heal();
    expect(await atBen.takeEvents()).toEqual([]);
    expect((await atAda.call("STORE_BATCH", batch)).data).toMatchObject({ seq: 2 });
    expectLogged("A STORE_BATCH request failed: fault: storage");
  });
});
