/** R47 to R52, R86 and R87: presence. */
import { colorIndexOf, PERSON_COLORS } from "@atrium/contract/person-colors.ts";
import { describe, expect, it, vi } from "vitest";
import { RoomPresence } from "../../../../src/room/engine/presence/presence.ts";
import { serialize } from "../../../../src/room/protocol/frame.ts";
import type { ServerMessage } from "../../../../src/room/protocol/protocol.ts";
import { readAttachment } from "../../../../src/room/transport/attachment.ts";
import type { Effect, Joined } from "../../../../src/room/transport/connection.ts";
import { RoomConnections } from "../../../../src/room/transport/connections.ts";
import { joinedSocket } from "../../support/joined-socket.ts";
import { failed, makeRoom, roomOfTwo, seedOnline, type TestRoom } from "../../support/rooms.ts";
import { type PresenceTuple, ShownStates } from "../../support/shown-states.ts";
import type { TestSocket } from "../../support/test-socket.ts";

/** The presence that a socket received, frame by frame. */
const receivedPresence = async (socket: TestSocket) =>
  (await socket.takeEvents()).flatMap((event) => (event.event === "presence" ? [event.data.updates] : []));
const show = (socket: TestSocket, state: object | null) => socket.call("PRESENCE_UPDATE", { state });
const subscribe = (socket: TestSocket, target: string, on = true) =>
  socket.call("PRESENCE_SUBSCRIBE", { target, on });

/** Number of updates of two users, who all receive them, that makes more than 3,000 deliveries in a moment. */
const BUSY_UPDATES = 900;

/** A joined socket with a user of its own. */
const joinedAs = (id: string): Joined => joinedSocket({ id, userId: id });

/** The presence of sockets alone; `canTakeMore` says whether their clients have read enough. */
function openPresence(canTakeMore = () => true) {
  const connections = new RoomConnections();
  const ports = { followedBy: () => [], canTakeMore, now: () => 0 };
  return { connections, presence: new RoomPresence(connections, ports) };
}

/** Number of users who show 16 MiB together. */
const LARGE_CROWD = 2_000;

/** Number of users that keeps a room busy for seconds after each has shown something a few times. */
const CROWD = 60;
const SLOW_SEND_MS = 1;

/** Makes each frame with presence take a while to send, by the room's clock. */
function slowSending(room: TestRoom) {
  const send = WebSocket.prototype.send;
  return vi.spyOn(WebSocket.prototype, "send").mockImplementation(function (this: WebSocket, frame) {
    if (typeof frame === "string" && frame.includes('"event":"presence"')) room.now += SLOW_SEND_MS;
    send.call(this, frame);
  });
}

describe("presence", () => {
  it("reaches its subscribers: of all users, of one user, of the followed users (R47, R48, R49)", async () => {
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
    expect(await receivedPresence(atAda)).toEqual([[ofAda], [ofBen]]);
    expect(await receivedPresence(atBen)).toEqual([]);
    expect(await receivedPresence(atCy)).toEqual([[ofAda]]);
    expect(await receivedPresence(atDee)).toEqual([[ofBen]]);
    await subscribe(atBen, "*");
    expect(await receivedPresence(atBen)).toEqual([[ofAda, ofBen]]);
    await subscribe(atBen, "*", false);
    await atDee.call("USER_UNFOLLOW", { userId: ben.user.id });
    await show(atBen, null);
    expect(await receivedPresence(atBen)).toEqual([]);
    expect(await receivedPresence(atDee)).toEqual([]);
    expect(await receivedPresence(atAda)).toEqual([[[ben.user.id, null]]]);
  });

  it("is confirmed only with a request id, and has limits (R47, R48)", async () => {
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

  it("is changed field by field, by any tab, and keeps the others when a field is too large (R47)", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    await subscribe(atBen, ada.user.id);
    const second = await room.join(ada);
    const change = (socket: TestSocket, patch: object, remove?: readonly string[]) =>
      socket.call("PRESENCE_UPDATE", { patch, ...(remove && { remove }) });
    const shown = async () => (await receivedPresence(atBen)).flat().at(-1);
    const color = expect.stringMatching(/^#/);
    await change(atAda, { cursor: { x: 1 }, tool: "pen" });
    await change(second, { cursor: null, typing: true });
    expect(await shown()).toEqual([ada.user.id, { color, cursor: null, tool: "pen", typing: true }]);
    await change(atAda, { color: "red", ["__proto__"]: 7 }, ["tool", "unknown"]);
    const all = { ["__proto__"]: 7, color: "red", cursor: null, typing: true };
    expect(Object.entries((await shown())?.[1] ?? {}).sort()).toEqual(Object.entries(all));
    const { error } = await change(atAda, { selection: "x".repeat(8_192), cursor: { x: 2 } });
    expect(error).toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringMatching(/^patch.selection: /),
    });
    expect(await shown()).toBe(undefined);
    await room.hibernate();
    await change(atAda, { cursor: { x: 3 } }, ["color", "__proto__"]);
    expect(await shown()).toEqual([ada.user.id, { color, cursor: { x: 3 }, typing: true }]);
    for (const wrong of [{}, { state: {}, patch: {} }, { patch: null }, { patch: {}, remove: "cursor" }])
      expect(await atAda.call("PRESENCE_UPDATE", wrong)).toEqual(failed("VALIDATION_ERROR"));
    await show(atAda, null);
    await change(atAda, { tool: "pen" });
    expect(await shown()).toEqual([ada.user.id, { color, tool: "pen" }]);
  });

  it("of a user is one state across all tabs, and null when the user leaves (R47, R50, R52)", async () => {
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
    const events = await atBen.takeEvents();
    expect(events).toMatchObject([{ event: "userLeft" }, { event: "presence" }]);
    expect(events[1]?.data).toEqual({ updates: [[ada.user.id, null]] });
    expect((await room.join(await room.user())).joined.presence).toEqual({});
  });

  it("gives ten people ten colors, which are theirs while they show something, and the next one a shared one (R51)", () => {
    const { presence } = openPresence();
    const show = (userId: string, state: object | null) =>
      presence.update({ id: userId, userId }, { state: state as never });
    const colors = (): ReadonlyMap<string, string> => {
      const states: Record<string, { color: string }> = JSON.parse(presence.states().text);
      return new Map(Object.entries(states).map(([userId, { color }]) => [userId, color]));
    };
    const people = Array.from({ length: 10 }, (_, index) => `person-${index}`);
    for (const userId of people) show(userId, { x: 1 });
    const first = colors();
    expect(new Set(first.values())).toEqual(new Set(PERSON_COLORS));
    show("person-3", null);
    show("newcomer", { x: 1 });
    expect(colors().get("newcomer")).toBe(first.get("person-3"));
    show("person-3", { x: 2 });
    expect(colors().size).toBe(11);
    for (const userId of people.filter((each) => each !== "person-3"))
      expect(colors().get(userId)).toBe(first.get(userId));
  });

  it("keeps the colors of users through hibernation, in any order of showing (R51)", async () => {
    const { presence, connections } = openPresence();
    // Each names the color that another has already.
    const wanted = colorIndexOf("person-0");
    const alike = Array.from({ length: 200 }, (_, index) => `alike-${index}`).filter(
      (id) => colorIndexOf(id) === wanted,
    );
    const [first, second] = alike.map((id) => joinedAs(id));
    if (first === undefined || second === undefined) throw new Error("no ids");
    for (const each of [first, second]) {
      connections.put(each);
      presence.update(each, { state: { x: 1 } });
    }
    const saved = presence
      .flush(0)
      .flatMap((effect) => (effect.type === "attach" ? [effect.connection as Joined] : []));
    const colorsOf = (text: string) =>
      Object.fromEntries(
        Object.entries(JSON.parse(text) as Record<string, { color: string }>).map(([id, { color }]) => [
          id,
          color,
        ]),
      );
    const before = colorsOf(presence.states().text);
    expect(new Set(Object.values(before)).size).toBe(2);
    const again = openPresence();
    for (const each of saved.toReversed()) again.presence.restore(each);
    expect(colorsOf(again.presence.states().text)).toEqual(before);
  });

  it("names users by numbers to those who take them, and leaves out the color that they know (R86)", async () => {
    const { room, ada, ben, atAda, atBen } = await roomOfTwo();
    const takeNumbers = (socket: TestSocket) =>
      socket.call("PRESENCE_SUBSCRIBE", { target: "*", on: true, numbers: true });
    const shownTo = async (socket: TestSocket) => (await receivedPresence(socket)).flat();
    const color = expect.stringMatching(/^#/);
    await show(atAda, { x: 1 });
    await takeNumbers(atBen);
    expect(await shownTo(atBen)).toEqual([[ada.user.id, { color, x: 1 }, 0]]);
    await subscribe(atAda, "*");
    await atAda.takeEvents();
    await show(atBen, { y: 1 });
    await show(atAda, { x: 2 });
    await show(atAda, { x: 3, color: "red" });
    expect(await shownTo(atBen), "introduced to everyone by the next change").toEqual([
      [ben.user.id, { color, y: 1 }, 1],
      [ada.user.id, { color, x: 2 }, 0],
      [0, { x: 3, color: "red" }],
    ]);
    expect(await shownTo(atAda)).toEqual([
      [ben.user.id, { color, y: 1 }],
      [ada.user.id, { color, x: 2 }],
      [ada.user.id, { color: "red", x: 3 }],
    ]);
    await show(atAda, { x: 4 });
    expect(await shownTo(atBen), "the service's color is not known").toEqual([
      [ada.user.id, { color, x: 4 }, 0],
    ]);
    await show(atAda, null);
    const cy = await room.user();
    const atCy = await room.join(cy);
    await show(atCy, {});
    await show(atAda, { x: 5 });
    expect(await shownTo(atBen), "numbers of those who are gone are used again").toEqual([
      [ada.user.id, null],
      [cy.user.id, { color }, 0],
      [ada.user.id, { color, x: 5 }, 2],
    ]);
    await room.hibernate();
    await show(atAda, { x: 6 });
    await show(atAda, { x: 7 });
    await atBen.call("PRESENCE_SUBSCRIBE", { target: ada.user.id, on: true });
    await show(atAda, { x: 8 });
    expect(await shownTo(atBen), "introduced again, and by id to a socket that has chosen her").toEqual([
      [ada.user.id, { color, x: 6 }, 0],
      [0, { x: 7 }],
      [ada.user.id, { color, x: 7 }],
      [0, { x: 8 }],
    ]);
    await takeNumbers(atAda);
    await atAda.takeEvents();
    await subscribe(atBen, "*");
    await atBen.takeEvents();
    await show(atAda, { x: 9 });
    expect([await shownTo(atAda), await shownTo(atBen)]).toEqual([
      [[0, { x: 9 }]],
      [[ada.user.id, { color, x: 9 }]],
    ]);
  });

  it("says how often a crowded room takes it, where that is less often than clients send it (R87)", () => {
    const { connections, presence } = openPresence();
    const user = { ...joinedAs("Ada"), subscriptions: ["*"] };
    connections.put(user);
    const everyOf = (intervalMs: number) => {
      presence.update(user, { state: {} });
      const [sent] = presence.flush(intervalMs).flatMap((effect) => (effect.type === "send" ? [effect] : []));
      return JSON.parse(serialize(sent?.message ?? expect.unreachable("nothing is sent"))).data.every;
    };
    expect([0, 33, 50, 50.5, 340].map(everyOf)).toEqual([undefined, undefined, undefined, 51, 340]);
  });

  it("goes out less often, and says so, while a crowd takes long to send to (R49, R87)", async () => {
    const room = await makeRoom();
    const watching = await room.join(await room.user());
    await subscribe(watching, "*");
    const others: TestSocket[] = [];
    while (others.length < CROWD - 1) others.push(await room.join(await room.user()));
    for (const socket of others) await subscribe(socket, "*");
    /** All show something. Returns the intervals in the frames until all of it has arrived. */
    const showAll = async (x: number) => {
      for (const socket of others) socket.send({ type: "PRESENCE_UPDATE", data: { state: { x } } });
      const intervals: (number | undefined)[] = [];
      for (let seen = 0; seen < others.length; ) {
        const event = await watching.nextEvent();
        if (event.event !== "presence") continue;
        intervals.push(event.data.every);
        seen += event.data.updates.filter(([, state]) => state?.x === x).length;
      }
      return intervals;
    };
    for (let x = 1; x <= 6; x += 1) expect(new Set(await showAll(x))).toEqual(new Set([undefined]));
    const sending = slowSending(room);
    try {
      await showAll(7);
      expect(await showAll(8)).toContain(Math.ceil(CROWD * SLOW_SEND_MS * 1.3));
    } finally {
      sending.mockRestore();
    }
  });

  it("is written to each attachment at once in a calm room, and every 5 s in a busy one (R52)", () => {
    const { connections, presence } = openPresence();
    const users = Array.from({ length: 10 }, (_, index) => ({
      ...joinedAs(`user ${index}`),
      subscriptions: ["*"],
    }));
    for (const user of users) connections.put(user);
    const flushed = (intervalMs: number) => {
      const effects = presence.flush(intervalMs);
      const saved = effects.flatMap((effect) => (effect.type === "attach" ? [effect.connection] : []));
      return {
        saved: saved.map((each) => (each.phase === "joined" ? [each.id, each.presence] : [])),
        isComplete: !effects.some(({ type }) => type === "presenceChanged"),
      };
    };
    const showAll = (x: number) => users.forEach((user) => void presence.update(user, { state: { x } }));
    const shown = (ids: readonly number[], x: number) => ids.map((id) => [`user ${id}`, `{"x":${x}}`]);
    for (let tick = 0; tick < 10; tick += 1) {
      showAll(tick);
      expect(flushed(500)).toEqual({ saved: shown([tick], tick), isComplete: false });
    }
    expect(flushed(1_000)).toEqual({ saved: shown([0, 1], 9), isComplete: false });
    expect(flushed(0)).toEqual({ saved: shown([2, 3, 4, 5, 6, 7, 8], 9), isComplete: true });
    presence.update(joinedAs("user 3"), { state: { x: 10 } });
    expect(flushed(16)).toEqual({ saved: shown([3], 10), isComplete: true });
    expect(flushed(16)).toEqual({ saved: [], isComplete: true });
  });

  it("of a busy room survives hibernation, too: it is written before (R52)", async () => {
    const { room, ada, ben } = await roomOfTwo();
    const kept = () =>
      room.inside((_, state) => state.getWebSockets().map((end) => readAttachment(end)?.connection));
    await room.inside((object, state) => {
      for (let x = 1; x <= BUSY_UPDATES; x += 1)
        for (const end of state.getWebSockets())
          object.webSocketMessage(end, JSON.stringify({ type: "PRESENCE_UPDATE", data: { state: { x } } }));
    });
    const presence = `{"x":${BUSY_UPDATES}}`;
    await expect.poll(kept).toMatchObject([{ presence }, { presence }]);
    await room.hibernate();
    const { joined } = await room.join(await room.user());
    const latest = { x: BUSY_UPDATES };
    expect(joined.presence).toMatchObject({ [ada.user.id]: latest, [ben.user.id]: latest });
  });

  it("of all users together has 16 MiB: as much as 2,048 users may show, and less is always accepted (R47)", () => {
    const { connections, presence } = openPresence();
    const users = Array.from({ length: 2_049 }, (_, index) => joinedAs(`user ${index}`));
    for (const user of users) connections.put(user);
    const show = (user: Joined, bytes: number) =>
      presence.update(user, { state: { text: "x".repeat(bytes - '{"text":""}'.length) } });
    const [first = joinedAs(""), last = joinedAs("")] = [users[0], users.at(-1)];
    for (const user of users.slice(0, -1)) show(user, 8 * 1024);
    const full = expect.objectContaining({ code: "CONFLICT" });
    expect(() => show(last, 11)).toThrow(full);
    show(first, 4 * 1024);
    expect(() => show(first, 8 * 1024 + 1)).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR" }));
    show(last, 4 * 1024);
    expect(() => show(last, 4 * 1024 + 1)).toThrow(full);
    connections.remove(first.id);
    presence.release(first, false);
    expect(Object.keys(JSON.parse(presence.states().text))).toHaveLength(2_048);
    show(last, 8 * 1024);
  });

  it("of 16 MiB arrives in frames of at most 512 KiB, which wait for the marks of their client (R48, R49)", async () => {
    const room = await makeRoom();
    const ada = await room.user();
    (await room.join(ada)).close();
    await room.alarm();
    await seedOnline(room, LARGE_CROWD, { text: "x".repeat(8_100) });
    const socket = await room.connect();
    socket.send({ type: "JOIN_ROOM", data: { token: ada.token, batch: true, usersLimit: 1 } });
    await socket.nextText();
    socket.send({ type: "PRESENCE_SUBSCRIBE", data: { target: "*", on: true, numbers: true } });
    const shown = new ShownStates();
    const marks: number[] = [];
    let received = 0;
    /** Reads a frame. True if it is the answer to the request. */
    const read = async (requestId = "") => {
      const text = await socket.nextText();
      received += text.length;
      expect(text.length).toBeLessThan(520 * 1024);
      const messages: ServerMessage[] = JSON.parse(text);
      for (const message of messages) {
        if (message.type === "event" && message.event === "presence")
          message.data.updates.forEach((each) => void shown.show(each));
        if (message.type === "event" && message.event === "mark") marks.push(message.data.mark);
      }
      return messages.some((message) => message.type === "response" && message.requestId === requestId);
    };
    for (const requestId of ["1", "2", "3"]) {
      socket.send({ type: "STORE_GET", requestId, data: { store: "s", key: "k" } });
      while (!(await read(requestId)));
    }
    expect(received).toBeLessThan(2 * 1024 * 1024);
    while (shown.byUser.size < LARGE_CROWD) {
      for (const mark of marks.splice(0)) socket.send({ type: "MARK", data: { mark } });
      await read();
    }
  });

  it("that does not fit into a frame reaches everyone who subscribes, whatever changes meanwhile (R48, R49, R86)", () => {
    let canTakeMore = false;
    const { connections, presence } = openPresence(() => canTakeMore);
    const users = Array.from({ length: 200 }, (_, index) => joinedAs(`user ${index}`));
    const watchers = [true, false].map((numbers) => ({
      connection: joinedAs(`${numbers}`),
      numbers,
      shown: new ShownStates(),
    }));
    const perform = (effects: Effect[]) => {
      for (const effect of effects) {
        if (effect.type !== "send") continue;
        const text = serialize(effect.message);
        expect(text.length).toBeLessThan(513 * 1024);
        for (const { connection, shown } of watchers)
          if (effect.to.includes(connection.id))
            JSON.parse(text).data.updates.forEach((each: PresenceTuple) => void shown.show(each));
      }
    };
    const show = (index: number, x: number | null) =>
      presence.update(users[index] ?? joinedAs(""), {
        state: x === null ? null : { x, text: "x".repeat(8_000) },
      });
    for (const connection of [...users, ...watchers.map(({ connection }) => connection)])
      connections.put(connection);
    users.forEach((_, index) => void show(index, 0));
    perform(presence.flush(0));
    for (const { connection, numbers } of watchers)
      perform(presence.subscribe(connection, { target: "*", on: true, numbers }));
    const sizes = watchers.map(({ shown }) => shown.byUser.size);
    expect(Math.min(...sizes)).toBeGreaterThan(50);
    expect(Math.max(...sizes)).toBeLessThan(100);
    show(1, 1); // seen by the watchers
    show(100, 1); // not seen yet
    show(2, null);
    show(3, null);
    show(101, null);
    show(2, 2);
    perform(presence.flush(0));
    expect(watchers.map(({ shown }) => shown.byUser.size)).toEqual(sizes);
    canTakeMore = true;
    for (let flush = 0; flush < 4; flush += 1) perform(presence.flush(0));
    const expected = Object.entries(JSON.parse(presence.states().text));
    expect(expected).toHaveLength(198);
    for (const { shown } of watchers) expect(new Map(shown.byUser)).toEqual(new Map(expected as []));
    users.forEach((_, index) => void show(index, 3));
    for (let flush = 0; flush < 4; flush += 1) perform(presence.flush(0));
    show(0, 4);
    perform(presence.flush(0));
    for (const { shown } of watchers)
      expect([...shown.byUser.values()].map((state) => state.x).sort()).toEqual([...Array(199).fill(3), 4]);
  });

  it("and subscriptions survive hibernation, even the largest ones (R28, R52)", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    const state = { text: `✨${"x".repeat(8_170)}` };
    for (let index = 0; index < 100; index += 1) await subscribe(atAda, `${"u".repeat(36)}${index}`);
    await show(atAda, state);
    await subscribe(atBen, ada.user.id);
    await atBen.takeEvents();
    await room.hibernate();
    expect((await room.join(await room.user())).joined.presence).toMatchObject({ [ada.user.id]: state });
    await show(atAda, { a: 1 });
    expect(await receivedPresence(atBen)).toMatchObject([[[ada.user.id, { a: 1 }]]]);
  });

  it("has the user's color, unless the client sets its own (R51)", async () => {
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
