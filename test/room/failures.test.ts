/** Failures of a room's storage and of single sockets: the others see and keep the true state. */
import { BAN } from "@atrium/contract/resources/permissions.ts";
import { describe, expect, it } from "vitest";
import type { ServerEvent } from "../../src/room/protocol/protocol.ts";
import { account } from "../support/api.ts";
import { countLogged, expectLogged } from "../support/log-guard.ts";
import { failAttachments, failSends, failStorage, refuseStorage } from "./support/faults.ts";
import { failed, gateway, makeRoom, roomOfTwo, TestRoom, type TestUser } from "./support/rooms.ts";
import type { TestSocket } from "./support/test-socket.ts";

const LEAVES = /UPDATE sessions SET left_at/;
const present = (socket: TestSocket) => socket.call("PRESENCE_UPDATE", { state: { x: 1 } });
const subscribe = (socket: TestSocket) => socket.call("PRESENCE_SUBSCRIBE", { target: "*", on: true });
const namesOf = (events: readonly { readonly event: string }[]) => events.map(({ event }) => event);
/** Users and presence that a newcomer receives. */
async function viewOf(room: TestRoom, user: TestUser) {
  const { users, presence } = (await room.join(user)).joined;
  return { users: users.map(({ id }) => id), presence: Object.keys(presence) };
}

// The session had started before: the others saw a user leave who had never joined.
it.each([
  ["changes", /FROM journal/],
  ["follows", /FROM follows/],
])(
  "a join whose answer cannot be read for its %s fails, and the others see nothing of it (R16)",
  async (_, statements) => {
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
  },
);

// The others were shown the presence of a user who was not there, and saw that user leave without having joined.
it.each([
  ["session", /INTO sessions/],
  ["end", /INTO grace_periods/],
])(
  "a participant over REST that cannot be stored for its %s fails, and the others see nothing of it (R81)",
  async (_, statements) => {
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
  },
);

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

// The user's sockets were closed and the session had ended, but no one learned that the user had left.
it.each([
  ["deletion", "user.deleted"],
  ["erasure", "user.erased"],
] as const)(
  "the %s of a user that fails half-way has shown that the user left, and is completed when it is applied again (R20, R23, R82)",
  async (_, type) => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    await atAda.call("STORE_SET", { store: "s", key: "k", value: 1 });
    await atBen.takeEvents();
    const storage = await failStorage(room, /DELETE FROM follows/);
    const command = { type, userId: ada.user.id };
    await expect(room.apply(command)).rejects.toThrow("fault: storage");
    expect(await atAda.closed).toMatchObject({ code: 4401 });
    storage.heal();
    expect(namesOf(await atBen.takeEvents())).toEqual(["userLeft"]);
    await room.apply(command);
    expect(namesOf(await atBen.takeEvents())).toEqual(["userDeleted"]);
  },
);

// The sockets of the users before were forgotten without being closed, and their users stayed for the others.
it("an end of access that cannot be stored for one of several users is completed for all when it is applied again (R23)", async () => {
  const { api, id: accountId } = await account();
  const room = new TestRoom(accountId, (await api.createRoom()).id);
  const people: { identityId: string; token: string }[] = [];
  for (const name of ["Ada", "Ben", "Cy"]) {
    const { identity } = (await api.post<{ identity: { id: string } }>("/identities", { name })).data;
    const { token } = (await api.post<{ token: string }>(`/identities/${identity.id}/tokens`)).data;
    people.push({ identityId: identity.id, token });
  }
  const letIn = (roleOf: (index: number) => unknown) => {
    const entries = people.map(({ identityId }, index) => [identityId, roleOf(index)]);
    return api.put(`/rooms/${room.id}/access`, { identitiesAccesses: Object.fromEntries(entries) });
  };
  await letIn(() => "editor");
  room.now = Date.now(); // as the API has signed the tokens
  const [atAda, atBen, atCy] = await Promise.all(people.map(({ token }) => room.join({ token } as TestUser)));
  await atCy?.takeEvents();
  const storage = await failStorage(room, /SET standing/, 1);
  await letIn((index) => (index < 2 ? [BAN] : "editor"));
  storage.heal();
  await room.apply({ type: "access.changed", identityId: null });
  for (const socket of [atAda, atBen]) expect(await socket?.closed).toMatchObject({ code: 4403 });
  expect(namesOf((await atCy?.takeEvents()) ?? [])).toEqual(["userLeft", "userLeft"]);
  expectLogged("A command could not be relayed to its room yet: access.changed");
});

// The change had been made when its user's standing was to be stored: the others saw it twice.
it("a user's change that cannot be stored for the user's standing is made once when it is applied again (R20)", async () => {
  const { room, ada, atAda, atBen } = await roomOfTwo();
  const storage = await failStorage(room, /SET standing/);
  await expect(room.change(ada, { role: "viewer" })).rejects.toThrow("fault: storage");
  storage.heal();
  expect(await atBen.takeEvents()).toEqual([]);
  await room.change(ada, { role: "viewer" });
  expect(namesOf(await atBen.takeEvents())).toEqual(["userUpdated"]);
  expect(namesOf(await atAda.takeEvents())).toEqual(["accessChanged", "roleChanged", "userUpdated"]);
});

// The failure was logged, and the client waited for ever.
it("a read that the room cannot answer fails with INTERNAL_ERROR (R8, R35)", async () => {
  const room = await makeRoom();
  const socket = await room.join(await room.user());
  const storage = await failStorage(room, /JOIN follows ON follower/);
  expect(await socket.call("USERS_GET", {})).toEqual(failed("INTERNAL_ERROR", "Server"));
  storage.heal();
  expect((await socket.call("USERS_GET", {})).success).toBe(true);
  expectLogged("A USERS_GET request failed: fault: storage");
});

it("a batch of operations of which each fails by itself fails as a whole, and changes nothing, when it is the storage that fails (R35, R40)", async () => {
  const { room, atAda, atBen } = await roomOfTwo();
  const write = (key: string) => ({ type: "STORE_SET", store: "s", key, value: 1 });
  const batch = { operations: [write("k"), write("l")], atomic: false };
  const storage = await failStorage(room, /INTO journal|UPDATE journal/);
  expect(await atAda.call("STORE_BATCH", batch)).toEqual(failed("INTERNAL_ERROR", "Server"));
  storage.heal();
  expect(await atBen.takeEvents()).toEqual([]);
  expect((await atAda.call("STORE_BATCH", batch)).data).toMatchObject({ seq: 2 });
  expectLogged("A STORE_BATCH request failed: fault: storage");
});

/** Everything that a closed socket has received. */
async function restOf(socket: TestSocket) {
  const messages = [];
  for (;;) {
    const message = await socket.next().catch(() => null);
    if (message === null) return messages;
    messages.push(message);
  }
}

/** The room receives a write of each key in one turn, from one of its sockets. */
const sendAtOnce = (room: TestRoom, keys: readonly string[]) =>
  room.inside((object, state) => {
    const [socket] = state.getWebSockets();
    if (socket === undefined) throw new Error("A user is in the room");
    for (const key of keys) {
      const data = { store: "s", key, value: 1 };
      object.webSocketMessage(socket, JSON.stringify({ type: "STORE_SET", requestId: key, data }));
    }
  });

it("frames that are stored together take place or fail together, and none is answered before (R35)", async () => {
  const { room, ada, ben, atAda, atBen } = await roomOfTwo();
  const keys = ["k", "l", "m"];
  const storage = await failStorage(room, /INTO journal|UPDATE journal/);
  await sendAtOnce(room, keys);
  await Promise.all([atAda.closed, atBen.closed]);
  storage.heal();
  expectLogged(
    "A STORE_SET request failed: fault: storage",
    "A room could not store what its clients have sent: fault: storage",
  );
  const received = [...(await restOf(atAda)), ...(await restOf(atBen))];
  expect(received.filter((message) => message.type === "event" || message.success)).toEqual([]);
  const again = await room.join(ada);
  expect(again.joined.seq).toBe(0);
  const results = [];
  for (const key of keys)
    results.push((await again.call("STORE_SET", { store: "s", key, value: 1 }, key)).data.seq);
  expect(results).toEqual([1, 2, 3]);
  expect((await room.join(ben)).joined.seq).toBe(3);
});

// Each refused write was a line of the log, and clients gave their writes up; several at once restarted the room.
describe("above the spending cap of the platform's account", () => {
  const REASON = "The service has reached the spending cap of its account; wait until it is raised";
  const refused = { success: false, error: { module: "Server", code: "RATE_LIMITED", message: REASON } };

  it("writes and reads are refused with the reason, sockets and presence go on, and clients that wait lose nothing (R35)", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    await subscribe(atBen);
    await atBen.takeEvents();
    const storage = await refuseStorage(room);
    for (let time = 0; time < 3; time += 1)
      expect(await atAda.call("STORE_SET", { store: "s", key: "k", value: 1 })).toMatchObject(refused);
    expect(await atAda.call("USERS_GET", {})).toMatchObject(refused);
    await sendAtOnce(room, ["k", "l", "m"]);
    const answers = [...(await atAda.drain()), ...(await atBen.drain())];
    expect(answers).toMatchObject(["k", "l", "m"].map((requestId) => ({ ...refused, requestId })));
    await present(atAda);
    expect(await atBen.nextEvent()).toMatchObject({ event: "presence" });
    await room.advance(10_000);
    storage.heal();
    expect((await atAda.call("STORE_SET", { store: "s", key: "k", value: 1 }, "k")).data.seq).toBe(1);
    expect(await atBen.nextEvent()).toMatchObject({ event: "storeChanged", seq: 1 });
    expect((await viewOf(room, ada)).users).toHaveLength(2);
    expect(countLogged("spending cap")).toBe(1);
    expectLogged("A STORE_SET request failed: Exceeded the account's spending cap for Durable Objects");
  });
});

// Bugs in which one socket, or one failure, ended the effects for everyone else in the room.

const seqsOf = (events: readonly ServerEvent[]) =>
  events.flatMap((event) => ("seq" in event ? event.seq : []));
const subscribeFailingEffects = (socket: TestSocket, target: string) =>
  socket.call("PRESENCE_SUBSCRIBE", { target, on: true });
const set = (socket: TestSocket, value: number) =>
  socket.call("STORE_SET", { store: "s", key: `k${value}`, value });

// 63 subscriptions to long names overflowed the socket's attachment: the room's effects stopped half-way, others
// saw holes in the sequence, and presence was dead for everyone.
it.each([
  ["wide characters", "✨".repeat(254)],
  ["characters that JSON escapes", "\u0001".repeat(254)],
  ["plain characters", "x".repeat(254)],
])("presence targets of %s are refused before they overflow the attachment", async (_, name) => {
  const { atAda, atBen } = await roomOfTwo();
  await subscribeFailingEffects(atBen, "*");
  const state = { text: "✨".repeat(2_725) };
  expect((await atAda.call("PRESENCE_UPDATE", { state })).success).toBe(true);
  const answers: boolean[] = [];
  for (let index = 0; index < 63; index += 1)
    answers.push((await subscribeFailingEffects(atAda, name + String.fromCharCode(65 + index))).success);
  expect(answers[0]).toBe(true);
  expect(answers.at(-1)).toBe(false);
  expect(await subscribeFailingEffects(atAda, `${name}!`)).toEqual(failed("CONFLICT"));
  await set(atBen, 1);
  await atAda.call("PRESENCE_UPDATE", { state: { x: 1 } });
  expect(await atBen.takeEvents()).toMatchObject([
    { event: "presence" },
    { event: "storeChanged", seq: 1 },
    { event: "presence", data: { updates: [[expect.any(String), { x: 1 }]] } },
  ]);
  expect(seqsOf(await atAda.takeEvents())).toEqual([1]);
});

describe("a socket that the runtime fails", () => {
  // The first effect that threw ended the effects after it: a change was committed and some never received it.
  it.each([
    ["attachments", failAttachments, "An effect of a room failed: attach: fault: attachment"],
    ["sends", failSends, "A frame could not be sent: fault: send"],
  ] as const)(
    "is closed with 1011 when its %s fail, and costs the others nothing (R65)",
    async (_, fail, logged) => {
      const { room, ada, ben, atAda, atBen } = await roomOfTwo();
      const atCy = await room.join(await room.user());
      for (const socket of [atAda, atBen, atCy]) await subscribeFailingEffects(socket, "*");
      await set(atBen, 1);
      fail(ada.user.id);
      atAda.send({ type: "PRESENCE_UPDATE", data: { state: { x: 1 } } });
      atAda.send({ type: "PRESENCE_SUBSCRIBE", data: { target: "someone", on: true } });
      await set(atBen, 2);
      expect(await atAda.closed).toMatchObject({ code: 1011 });
      await atBen.call("PRESENCE_UPDATE", { state: { x: 2 } });
      await set(atCy, 3);
      await room.advance(10_000);
      for (const socket of [atBen, atCy]) {
        const events = await socket.takeEvents();
        expect(seqsOf(events)).toEqual([1, 2, 3]);
        expect(events).toContainEqual(
          expect.objectContaining({
            event: "userLeft",
            data: expect.objectContaining({ userId: ada.user.id }),
          }),
        );
        expect(events).toContainEqual(
          expect.objectContaining({ data: { updates: [[ben.user.id, expect.objectContaining({ x: 2 })]] } }),
        );
      }
      expect(await room.online(ada, ben)).toEqual([ben.user.id]);
      expectLogged(logged);
    },
  );

  // The room notes the time of a socket before it handles a message; when that failed, no one saw the change.
  it("does not keep its own change from the others (R32, R65)", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    room.now += 10_000;
    failAttachments(ada.user.id);
    atAda.send({ type: "STORE_SET", data: { store: "s", key: "k", value: 1 } });
    expect(await atAda.closed).toMatchObject({ code: 1011 });
    expect(seqsOf(await atBen.takeEvents())).toEqual([1]);
    expectLogged("An effect of a room failed: attach: fault: attachment");
  });

  it("comes back and misses nothing (R65)", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    await set(atAda, 1);
    const sends = failSends(ada.user.id);
    await set(atBen, 2);
    await set(atBen, 3);
    expect(await atAda.closed).toMatchObject({ code: 1011 });
    sends.heal();
    const again = await room.join(ada, "editor", { since: 1 });
    expect(again.joined.changes).toMatchObject([{ seq: 2 }, { seq: 3 }]);
    expectLogged("fault: send");
  });

  it("that accepts arrays is closed as well", async () => {
    const { room, ada, atBen } = await roomOfTwo();
    const batching = await room.connect();
    batching.send({ type: "JOIN_ROOM", data: { token: ada.token, batch: true } });
    await batching.nextText();
    failSends(ada.user.id);
    await set(atBen, 1);
    expect(await batching.closed).toMatchObject({ code: 1011 });
    expectLogged("fault: send");
  });
});

describe("a room whose storage fails", () => {
  // A session that could not be stored left the socket waiting without an answer.
  it("answers a join with INTERNAL_ERROR, and lets others in afterwards (R16)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    const storage = await failStorage(room, /INSERT INTO sessions/);
    const socket = await room.connect();
    expect(await socket.request("JOIN_ROOM", { token: ada.token })).toEqual(
      failed("INTERNAL_ERROR", "Server"),
    );
    expect(await socket.closed).toMatchObject({ code: 1011 });
    storage.heal();
    expect((await room.join(ada)).joined.users).toHaveLength(1);
    expectLogged("fault: storage");
  });

  // A leave that could not be stored kept the user online until the room hibernated.
  it("ends the sessions of closed sockets when it works again", async () => {
    const { room, ada, ben, atAda, atBen } = await roomOfTwo();
    const storage = await failStorage(room, /UPDATE sessions SET left_at/);
    atAda.close();
    await atAda.closed;
    expect(await room.online(ada, ben)).toEqual([ada.user.id, ben.user.id]);
    storage.heal();
    await room.advance(1_000);
    expect(await room.online(ada, ben)).toEqual([ben.user.id]);
    expect(await atBen.takeEvents()).toMatchObject([{ event: "userLeft", data: { userId: ada.user.id } }]);
    expectLogged("The sessions of closed sockets could not be ended yet: fault: storage");
  });

  // Presence that could not be computed for one follower was lost for all.
  it("sends presence again that it could not send", async () => {
    const { ada, room, atAda, atBen } = await roomOfTwo();
    await subscribeFailingEffects(atBen, "following");
    await atBen.call("USER_FOLLOW", { userId: ada.user.id });
    await atBen.takeEvents();
    const storage = await failStorage(room, /SELECT followed FROM follows/);
    await atAda.call("PRESENCE_UPDATE", { state: { x: 1 } });
    storage.heal();
    await set(atAda, 1);
    expect(await atBen.takeEvents()).toContainEqual(
      expect.objectContaining({ event: "presence", data: { updates: [[ada.user.id, expect.anything()]] } }),
    );
    expectLogged("The presence of a room could not be sent yet: fault: storage");
  });
});
