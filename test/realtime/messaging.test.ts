/** R47 to R57: presence, broadcasts, followers, and what members ask of the room and its users. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { roomGateway } from "../../src/realtime/gateway.ts";
import { expectLogged } from "../support/log-guard.ts";
import { failed, makeRoom, whileDatabaseFails } from "./support/rooms.ts";

const roomOfTwo = async () => {
  const room = await makeRoom();
  const [ada, ben] = [await room.user(), await room.user()];
  const [atAda, atBen] = [await room.join(ada), await room.join(ben)];
  await atAda.takeEvents();
  return { room, ada, ben, atAda, atBen };
};
type Socket = Awaited<ReturnType<typeof roomOfTwo>>["atAda"];

/** What a socket was told of presence, frame by frame. */
const shown = async (socket: Socket) =>
  (await socket.takeEvents()).flatMap((event) => (event.event === "presence" ? [event.data.updates] : []));
const show = (socket: Socket, state: object | null) => socket.call("PRESENCE_UPDATE", { state });
const subscribe = (socket: Socket, target: string, on = true) =>
  socket.call("PRESENCE_SUBSCRIBE", { target, on });

describe("presence", () => {
  it("reaches who asked for it: everybody's, one user's, that of those followed (R47, R48, R49)", async () => {
    const { room, ada, ben, atAda, atBen } = await roomOfTwo();
    const [atCy, atDee] = [await room.join(await room.user()), await room.join(await room.user())];
    await atDee.call("USER_FOLLOW", { userId: ben.user.id });
    await subscribe(atAda, "*");
    await subscribe(atCy, ada.user.id);
    await subscribe(atDee, "following");
    await show(atAda, { x: 1, color: "red" });
    await show(atBen, { x: 2, color: "blue" });
    const [ofAda, ofBen] = [
      [ada.user.id, { x: 1, color: "red" }],
      [ben.user.id, { x: 2, color: "blue" }],
    ];
    expect(await shown(atAda)).toEqual([[ofAda], [ofBen]]);
    expect(await shown(atBen)).toEqual([]);
    expect(await shown(atCy)).toEqual([[ofAda]]);
    expect(await shown(atDee)).toEqual([[ofBen]]);
    await subscribe(atBen, "*");
    expect(await shown(atBen)).toEqual([[ofAda, ofBen]]);
    await subscribe(atBen, "*", false);
    await atDee.call("USER_UNFOLLOW", { userId: ben.user.id });
    await show(atBen, null);
    expect(await shown(atBen)).toEqual([]);
    expect(await shown(atDee)).toEqual([]);
    expect(await shown(atAda)).toEqual([[[ben.user.id, null]]]);
  });

  it("is answered only when asked to, and has bounds (R47, R48)", async () => {
    const { atAda } = await roomOfTwo();
    atAda.send({ type: "PRESENCE_UPDATE", data: { state: { a: 1 } } });
    expect((await show(atAda, { a: 2 })).success).toBe(true);
    for (const state of [7, [], undefined, { a: "x".repeat(8_185) }])
      expect(await atAda.call("PRESENCE_UPDATE", { state })).toEqual(failed("VALIDATION_ERROR"));
    expect((await show(atAda, { a: "x".repeat(8_184) })).success).toBe(true);
    for (let index = 0; index < 100; index += 1) await subscribe(atAda, `${"u".repeat(36)}${index}`);
    expect(await subscribe(atAda, "one too many")).toEqual(failed("CONFLICT"));
    expect((await subscribe(atAda, `${"u".repeat(36)}7`)).success).toBe(true);
  });

  it("of a user is one state for all of its tabs, and null when it leaves (R47, R50, R52)", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    await subscribe(atBen, "*");
    const second = await room.join(ada);
    await show(atAda, { tab: 1 });
    await show(second, { tab: 2 });
    expect((await room.join(await room.user())).joined.presence).toMatchObject({ [ada.user.id]: { tab: 2 } });
    await second.call("LEAVE_ROOM");
    await room.hibernate();
    expect((await room.join(await room.user())).joined.presence).toMatchObject({ [ada.user.id]: { tab: 2 } });
    await atBen.takeEvents();
    await atAda.call("LEAVE_ROOM");
    const heard = await atBen.takeEvents();
    expect(heard).toMatchObject([{ event: "userLeft" }, { event: "presence" }]);
    expect(heard[1]?.data).toEqual({ updates: [[ada.user.id, null]] });
    expect((await room.join(await room.user())).joined.presence).toEqual({});
  });

  it("and subscriptions outlive hibernation, the largest of them too (R28, R52)", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    const state = { text: `✨${"x".repeat(8_170)}` };
    for (let index = 0; index < 100; index += 1) await subscribe(atAda, `${"u".repeat(36)}${index}`);
    await show(atAda, state);
    await subscribe(atBen, ada.user.id);
    await atBen.takeEvents();
    await room.hibernate();
    expect((await room.join(await room.user())).joined.presence).toMatchObject({ [ada.user.id]: state });
    await show(atAda, { a: 1 });
    expect(await shown(atBen)).toMatchObject([[[ada.user.id, { a: 1 }]]]);
  });

  it("has a color by user, unless the client sets its own (R51)", async () => {
    const { room, ada, atAda } = await roomOfTwo();
    await show(atAda, {});
    const colorNow = async () =>
      (await room.join(await room.user())).joined.presence[ada.user.id]?.color as string;
    const color = await colorNow();
    expect(color).toMatch(/^#[0-9a-f]{6}$/);
    await room.hibernate();
    await show(atAda, { x: 1 });
    expect(await colorNow()).toBe(color);
    await show(atAda, { color: "mine" });
    expect(await colorNow()).toBe("mine");
  });
});

describe("a broadcast", () => {
  it("reaches the others, the sender's other tabs included (R53)", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    const second = await room.join(ada);
    expect((await atAda.call("BROADCAST", { event: "ping", data: [1] })).data).toEqual({ delivered: 2 });
    const broadcast = {
      type: "event",
      event: "broadcast",
      data: { event: "ping", data: [1], from: ada.user.id },
    };
    expect(await atBen.takeEvents()).toEqual([broadcast]);
    expect(await second.takeEvents()).toEqual([broadcast]);
    expect(await atAda.takeEvents()).toEqual([]);
    atAda.send({ type: "BROADCAST", data: { event: "quiet" } });
    expect(await atBen.nextEvent()).toMatchObject({ data: { event: "quiet", data: null } });
    expect(await atAda.drain()).toEqual([]);
  });

  it("reaches the users named who are there (R53)", async () => {
    const { room, ben, atAda, atBen } = await roomOfTwo();
    const atCy = await room.join(await room.user());
    const userIds = [ben.user.id, ben.user.id, "nobody"];
    expect((await atAda.call("BROADCAST", { event: "e", userIds })).data).toEqual({ delivered: 1 });
    expect((await atAda.call("BROADCAST", { event: "e", userIds: [] })).data).toEqual({ delivered: 0 });
    expect(await atBen.takeEvents()).toMatchObject([{ event: "userJoined" }, { event: "broadcast" }]);
    expect(await atCy.takeEvents()).toEqual([]);
  });

  it("has bounds (R54)", async () => {
    const { atAda } = await roomOfTwo();
    for (const fields of [
      { event: "" },
      { event: "x".repeat(129) },
      { data: "x".repeat(65_535) },
      { userIds: Array.from({ length: 1_001 }, () => "u") },
    ])
      expect(await atAda.call("BROADCAST", { event: "e", ...fields })).toEqual(failed("VALIDATION_ERROR"));
  });
});

describe("following", () => {
  it("is told to all, outlives reloads, and ends with its users (R11, R55)", async () => {
    const { room, ada, ben, atAda, atBen } = await roomOfTwo();
    await atAda.call("USER_FOLLOW", { userId: ben.user.id });
    await atAda.call("USER_FOLLOW", { userId: ben.user.id });
    const relation = { userId: ben.user.id, followerId: ada.user.id };
    expect(await atBen.takeEvents()).toMatchObject([{ seq: 1, event: "userFollowed", data: relation }]);
    await room.hibernate();
    const again = await room.join(ada);
    expect(again.joined.follows).toEqual({ [ada.user.id]: [ben.user.id] });
    await again.call("USER_UNFOLLOW", { userId: ben.user.id });
    await again.call("USER_UNFOLLOW", { userId: ben.user.id });
    expect(await atBen.takeEvents()).toMatchObject([{ seq: 2, event: "userUnfollowed", data: relation }]);
    await again.call("USER_FOLLOW", { userId: ben.user.id });
    await room.apply({ type: "user.deleted", userId: ben.user.id });
    expect((await room.join(ada)).joined.follows).toEqual({});
    expect(await again.call("USER_FOLLOW", { userId: ada.user.id })).toEqual(failed("BAD_REQUEST"));
    for (let index = 0; index < 1_000; index += 1) {
      again.send({ type: "USER_FOLLOW", data: { userId: `u${index}` } });
      if (index % 100 === 0) room.now += 1_000;
      if (index % 100 === 0) await room.inside(() => undefined);
      await again.next();
      await again.next();
    }
    expect(await again.call("USER_FOLLOW", { userId: "another" })).toEqual(failed("CONFLICT"));
  });
});

describe("the room and its users", () => {
  it("are shown as the database has them (R56)", async () => {
    const { room, ada, ben, atAda } = await roomOfTwo();
    const away = await room.user({ name: "Away" });
    expect((await atAda.call("ROOM_GET")).data).toMatchObject({
      room: { id: room.id, active_participants: 2 },
    });
    const { users, ...rest } = (await atAda.call("USERS_GET")).data;
    expect(rest).toEqual({ total: 3, follows: {}, seq: 0 });
    const statuses = (users as { id: string; status: string }[]).map(({ id, status }) => [id, status]);
    expect(new Map(statuses as [string, string][])).toEqual(
      new Map([
        [ada.user.id, "online"],
        [ben.user.id, "online"],
        [away.user.id, "offline"],
      ]),
    );
    expect((await atAda.call("USERS_GET", { limit: 1, offset: 3 })).data).toMatchObject({
      users: [],
      total: 3,
    });
    await whileDatabaseFails(async () => {
      expect(await atAda.call("ROOM_GET")).toEqual(failed("INTERNAL_ERROR", "Server"));
    });
    expectLogged("no such table: rooms");
  });

  it("are told of when they change, once, to those who were away too (R32, R33, R57)", async () => {
    const { room, ada, atAda } = await roomOfTwo();
    const cy = await room.user({ name: "Cy" });
    await room.apply({ type: "user.created", userId: cy.user.id });
    await room.apply({ type: "user.created", userId: cy.user.id });
    await env.DB.prepare("UPDATE rooms SET name = 'New' WHERE id = ?").bind(room.id).run();
    await room.apply({ type: "room.updated" });
    await room.apply({ type: "user.created", userId: crypto.randomUUID() });
    const told = [
      { seq: 1, event: "userCreated", data: { userId: cy.user.id, user: { name: "Cy", status: "offline" } } },
      { seq: 2, event: "roomUpdated", data: { room: { name: "New", active_participants: 2 } } },
    ];
    expect(await atAda.takeEvents()).toMatchObject(told);
    expect((await room.join(ada, "editor", { since: 0 })).joined.changes).toMatchObject(told);
  });
});

describe("a client that takes arrays", () => {
  it("gets what came in one turn as one frame, and the others get it singly (R58)", async () => {
    const { room, ada, atBen } = await roomOfTwo();
    const socket = await room.connect();
    socket.send({ type: "JOIN_ROOM", data: { token: ada.token, batch: true } });
    expect(JSON.parse(await socket.nextText())).toMatchObject([{ description: "Room joined" }]);
    const set = (key: string) => ({ type: "STORE_SET", store: "s", key, value: 1 });
    socket.send({ type: "STORE_BATCH", data: { operations: [set("a"), set("b")] } });
    expect(JSON.parse(await socket.nextText())).toMatchObject([{ seq: 1 }, { seq: 2 }, { success: true }]);
    await room.hibernate();
    socket.send({ type: "LEAVE_ROOM" });
    expect(JSON.parse(await socket.nextText())).toMatchObject([{ description: "Room left" }]);
    expect(await socket.closed).toMatchObject({ code: 1000 });
    expect(await atBen.takeEvents()).toMatchObject([{ seq: 1 }, { seq: 2 }]);
  });
});

describe("a reader", () => {
  const KIB = 1024;
  const roomWithReader = async () => {
    const { room, atAda } = await roomOfTwo();
    const cleo = await room.user({ name: "Cleo" });
    const reader = await room.connect();
    reader.send({ type: "JOIN_ROOM", data: { token: cleo.token, batch: true } });
    await reader.nextText();
    const speak = async (kib: number) => {
      for (let sent = 0; sent < kib; sent += 50) {
        const asked = await atAda.call("BROADCAST", { event: "talk", data: "x".repeat(50 * KIB) });
        expect(asked.success).toBe(true);
      }
    };
    return { room, cleo, reader, atAda, speak };
  };
  const marksIn = (text: string) =>
    (JSON.parse(text) as { event?: string; data: { mark: number } }[]).flatMap(({ event, data }) =>
      event === "mark" ? [data.mark] : [],
    );

  it("that says nothing of the marks in 4 MiB of events is closed with 4413, and nobody else (R62)", async () => {
    const { reader, atAda, speak } = await roomWithReader();
    await speak(4 * KIB - 50);
    expect(await atAda.takeEvents()).toMatchObject([{ event: "userJoined" }]);
    await speak(100);
    expect(await reader.closed).toEqual({ code: 4413, reason: "reader too slow" });
    expect(await atAda.takeEvents()).toMatchObject([{ event: "userLeft" }]);
  });

  it("that answers the marks stays, whatever it is sent (R62)", async () => {
    const { reader, atAda, speak } = await roomWithReader();
    const marks: number[] = [];
    for (let count = 1; count <= 8; count += 1) {
      await speak(KIB + 50);
      while (marks.length < count) marks.push(...marksIn(await reader.nextText()));
      reader.send({ type: "MARK", data: { mark: marks.at(-1) } });
      reader.send({ type: "STORE_SYNC", requestId: `after ${count}`, data: { store: "none" } });
      while (!(await reader.nextText()).includes(`"after ${count}"`));
    }
    expect(marks).toEqual([...marks].sort((a, b) => a - b));
    expect((await show(atAda, null)).success).toBe(true);
  });

  it("may take long for what it asked for itself, and cannot claim to have read what was never sent (R62)", async () => {
    const { reader, atAda, speak } = await roomWithReader();
    for (const key of ["a", "b", "c", "d", "e"])
      await atAda.call("STORE_SET", { store: "large", key, value: "x".repeat(60 * KIB) });
    for (let count = 0; count < 20; count += 1)
      reader.send({ type: "STORE_SYNC", requestId: String(count), data: { store: "large" } });
    while (!(await reader.nextText()).includes('"requestId":"19"'));
    reader.send({ type: "MARK", data: { mark: 1e12 } });
    await speak(5 * KIB);
    expect(await reader.closed).toMatchObject({ code: 4413 });
  });
});

describe("a socket that floods", () => {
  it("is closed with 4429 after its burst, one that keeps to 200 a second is not (R60)", async () => {
    const { room, atAda, atBen } = await roomOfTwo();
    for (let second = 0; second < 10; second += 1) {
      room.now += 1_000;
      await room.inside(() => undefined);
      for (let count = 0; count < 200; count += 1)
        atBen.send({ type: "PRESENCE_UPDATE", data: { state: null } });
      expect((await show(atBen, null)).success).toBe(true);
    }
    for (let count = 0; count < 1_001; count += 1)
      atAda.send({ type: "PRESENCE_UPDATE", data: { state: null } });
    expect(await atAda.closed).toMatchObject({ code: 4429 });
    expect(await atBen.takeEvents()).toMatchObject([{ event: "userLeft" }]);
  });

  it("cannot nest too deep (R59)", async () => {
    const { atAda } = await roomOfTwo();
    atAda.sendRaw("[".repeat(100_000));
    expect(await atAda.nextResponse()).toEqual(failed("BAD_REQUEST"));
    const nest = (depth: number) =>
      `{"type":"BROADCAST","requestId":"","data":{"event":"e","data":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
    atAda.sendRaw(nest(39));
    expect(await atAda.nextResponse()).toEqual(failed("BAD_REQUEST"));
    atAda.sendRaw(nest(38));
    expect((await atAda.nextResponse()).success).toBe(true);
  });
});

it("a refusal comes back through the gateway as the error that it is", async () => {
  const { room } = await roomOfTwo();
  const ask = roomGateway(env).request(room.id, room.accountId, {
    type: "COMMENT_DELETE",
    requestId: undefined,
    data: { commentId: "x" },
  });
  await expect(ask).rejects.toMatchObject({ code: "NOT_FOUND", module: "Rooms" });
});
