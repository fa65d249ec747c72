/** The socket of an inbox: who may join, what it receives, and what ends it. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { DEFAULTS } from "@atrium/contract/resources/notification-settings.ts";
import { describe, expect, it } from "vitest";
import { connectInbox, openInbox, RECOUNTED, recountInboxes } from "../../src/delivery/inboxes.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import type { TestSocket } from "../room/support/test-socket.ts";
import { account, makeGuest, ORIGIN, type Redeemed } from "../support/api.ts";
import { batchesOf } from "../support/rows-read.ts";
import { activity, Inbox, openInboxSocket, shareShard } from "./support.ts";

const open = ({ owner, identityId }: Inbox) => openInboxSocket(owner.id, identityId);

async function join(inbox: Inbox, terms: object = {}): Promise<TestSocket> {
  const socket = await open(inbox);
  const response = await socket.request("INBOX_JOIN", { token: await inbox.token(terms) });
  expect(response).toMatchObject({ success: true });
  return socket;
}

/** The next event, by its name, with the count that it has. */
async function pushed(socket: TestSocket) {
  const { event, data } = (await socket.nextEvent()) as unknown as {
    event: string;
    data: { unread: number; seq: number; notification?: { subject_id: string }; notificationIds?: string[] };
  };
  return { event, ...data };
}

const MEBIBYTE = 1024 * 1024;

/** A client that joins, and does not answer when its socket is closed. */
async function joinHalf({ owner, identityId }: Inbox, token: string) {
  const upgrade = new Request("https://atrium.test/", { headers: { Upgrade: "websocket" } });
  const { webSocket } = await connectInbox(env)(owner.id, identityId, upgrade);
  if (webSocket === null) throw new Error("The upgrade returned no socket");
  webSocket.accept({ allowHalfOpen: true });
  const after = (frames: number) =>
    new Promise<void>((resolve) => {
      let left = frames;
      webSocket.addEventListener("message", () => {
        left -= 1;
        if (left === 0) resolve();
      });
    });
  const [joined, received] = [after(1), after(4)];
  const closed = new Promise<void>((resolve) => {
    webSocket.addEventListener("close", () => resolve(), { once: true });
  });
  webSocket.send(JSON.stringify({ type: "INBOX_JOIN", data: { token } }));
  await joined;
  return { webSocket, received, closed };
}

const closeOf = async (socket: TestSocket) => (await socket.closed).code;

describe("a socket of an inbox", () => {
  it("joins over the network with the first message, and learns what is unread (R94)", async () => {
    const inbox = await Inbox.create();
    await inbox.deliver([activity({ subjectId: "a" }), activity({ subjectId: "b" })]);
    const path = `${ORIGIN}${inbox.owner.api.base}/inbox/socket`;
    const upgrade = (identity: string, headers: HeadersInit = { Upgrade: "websocket" }) =>
      exports.default.fetch(new Request(`${path}?identity=${identity}`, { headers }));
    expect((await upgrade(crypto.randomUUID())).status).toBe(404);
    expect((await upgrade(inbox.identityId, {})).status).toBe(400);
    const { status, webSocket } = await upgrade(inbox.identityId);
    expect(status).toBe(101);
    webSocket?.accept();
    webSocket?.close();
    const socket = await open(inbox);
    const { data } = await socket.request("INBOX_JOIN", { token: `${await inbox.token()}\n` }, "first");
    expect(data).toEqual({ unread: 2, seq: 1, expiresAt: expect.any(String) });
    socket.close();
  });

  it.each([
    ["no message", [], 4400],
    ["another message", [{ type: "JOIN_ROOM" }], 4400],
    ["no JSON", ["{"], 4400],
    ["a large frame", ["x".repeat(8 * 1024 + 1)], 4413],
    ["a deep frame", ["[".repeat(4_000)], 4400],
    ["no token", [{ type: "INBOX_JOIN" }], 4401],
    ["a token that is none", [{ type: "INBOX_JOIN", data: { token: "a.b.c" } }], 4401],
    ["a token that is long", [{ type: "INBOX_JOIN", data: { token: "x".repeat(3_000) } }], 4401],
  ] as const)("that begins with %s is closed (R94)", async (_, frames, code) => {
    const socket = await open(await Inbox.create());
    if (frames.length === 0) socket.sendRaw(new ArrayBuffer(1));
    for (const frame of frames) typeof frame === "string" ? socket.sendRaw(frame) : socket.send(frame);
    expect(await closeOf(socket)).toBe(code);
  });

  it("refuses the token of another identity, and of another organization (R94)", async () => {
    const inbox = await Inbox.create();
    for (const other of [await Inbox.create(inbox.owner, "Ben"), await Inbox.create()]) {
      const socket = await open(inbox);
      const { error } = await socket.request("INBOX_JOIN", { token: await other.token() });
      expect(error?.code).toBe("FORBIDDEN");
      expect(await closeOf(socket)).toBe(4403);
    }
  });

  it("that sends a second message before the response is closed (R94)", async () => {
    const inbox = await Inbox.create();
    const [socket, token] = [await open(inbox), await inbox.token()];
    for (let times = 0; times < 2; times += 1) socket.send({ type: "INBOX_JOIN", data: { token } });
    expect(await closeOf(socket)).toBe(4400);
  });

  it("is one of 20, and is closed for a flood (R94)", async () => {
    const inbox = await Inbox.create();
    const token = await inbox.token();
    const sockets: TestSocket[] = [];
    for (let count = 0; count < 20; count += 1) {
      const socket = await open(inbox);
      await socket.request("INBOX_JOIN", { token });
      sockets.push(socket);
    }
    const another = await open(inbox);
    expect((await another.request("INBOX_JOIN", { token })).error?.code).toBe("CONFLICT");
    expect(await closeOf(another)).toBe(4409);
    const [flooding, ...others] = sockets;
    for (let count = 0; count < 30; count += 1) flooding?.send({ type: "NOTHING" });
    expect(await closeOf(flooding as TestSocket)).toBe(4429);
    const waiting = await Promise.all(Array.from({ length: 11 }, () => open(inbox)));
    expect(await Promise.race(waiting.map(closeOf))).toBe(4409);
    for (const socket of [...others, ...waiting]) socket.close();
  });

  it("receives what is delivered, read and deleted, with the count of that moment (R95)", async () => {
    const inbox = await Inbox.create();
    const socket = await join(inbox);
    await inbox.deliver([activity({ subjectId: "a" }), activity({ subjectId: "b" })]);
    expect([await pushed(socket), await pushed(socket)]).toMatchObject([
      { event: "inboxNotification", notification: { subject_id: "a" }, unread: 2, seq: 1 },
      { event: "inboxNotification", notification: { subject_id: "b" }, unread: 2, seq: 1 },
    ]);
    await inbox.markRead({ roomId: null, kind: "thread", subjectId: "a", upTo: 1 });
    const read = await pushed(socket);
    expect(read).toMatchObject({ event: "inboxRead", unread: 1, seq: 2 });
    await inbox.object.deleteItem(inbox.caller, read.notificationIds?.[0] ?? "");
    expect(await pushed(socket)).toMatchObject({ event: "inboxDeleted", unread: 1, seq: 3 });
    await inbox.deliver([activity({ subjectId: "a" })]);
    await inbox.object.markAll(inbox.caller);
    expect(await pushed(socket)).toMatchObject({ event: "inboxRead", unread: 0, seq: 4 });
    const comments = [activity({ subjectId: "c" }), activity({ subjectId: "c", seq: 2 })];
    await inbox.deliver(comments);
    await pushed(socket);
    const remove = ({ id }: { id: string }) =>
      inbox.removeItems({ roomId: "", kind: "thread", subjectId: "c", activityIds: [id] });
    for (const [index, event] of ["inboxUpdated", "inboxDeleted"].entries()) {
      await remove(comments[index] ?? activity());
      expect(await pushed(socket)).toMatchObject({ event, unread: 1 - index });
    }
    socket.close();
  });

  it("counts anew when entries, groups or the default of a room change (R96)", async () => {
    const inbox = await Inbox.create();
    const { api } = inbox.owner;
    const room = await api.createRoom();
    await inbox.deliver([activity({ roomId: room.id })]);
    const socket = await join(inbox);
    const shows = async (unread: number, changed: Promise<unknown>) => {
      await changed;
      expect(await pushed(socket)).toMatchObject({ event: "inboxUpdated", notificationIds: null, unread });
    };
    const access = (changes: object) => api.put(`/rooms/${room.id}/access`, changes);
    await shows(1, inbox.allow(room.id, "viewer"));
    await shows(0, inbox.allow(room.id, null));
    const { group } = (await api.post<{ group: { id: string } }>("/groups", { name: "Team" })).data;
    const member = `/groups/${group.id}/members/${inbox.identityId}`;
    await access({ groupsAccesses: { [group.id]: ["*:read"] } });
    await shows(1, api.put(member));
    await shows(0, api.delete(member));
    await shows(1, api.put(member));
    await shows(0, access({ groupsAccesses: { [group.id]: null } }));
    await shows(1, access({ groupsAccesses: { [group.id]: ["*:read"] } }));
    await shows(0, api.delete(`/groups/${group.id}`));
    await api.post("/users", { name: "Ada", roomId: room.id, identityId: inbox.identityId });
    await shows(1, access({ defaultAccesses: ["*:read"] }));
    socket.close();
  });

  it("counts anew when the groups of the identity are set at its sign-in (R96)", async () => {
    const inbox = await Inbox.create();
    const { api } = inbox.owner;
    await api.patch(`/identities/${inbox.identityId}`, { customId: "ada" });
    const room = await api.createRoom();
    await api.post("/groups", { name: "Team", customId: "team" });
    const { data } = await api.get<{ group: { id: string } }>("/groups/custom/team");
    await api.put(`/rooms/${room.id}/access`, { groupsAccesses: { [data.group.id]: ["*:read"] } });
    await inbox.deliver([activity({ roomId: room.id })]);
    const socket = await join(inbox);
    for (const [unread, groups] of [
      [1, ["team"]],
      [0, []],
    ] as const) {
      await api.post("/identify", { customId: "ada", name: "Ada", groups });
      expect(await pushed(socket)).toMatchObject({ event: "inboxUpdated", notificationIds: null, unread });
    }
    await api.post("/identify", { customId: "ada", name: "Ada L", groups: [] });
    expect(await socket.drain()).toEqual([]);
    socket.close();
  });

  it("counts anew when the default of a room changes in which the identity has no user (R96)", async () => {
    const inbox = await Inbox.create();
    const { api } = inbox.owner;
    const room = await api.createRoom();
    await inbox.deliver([activity({ roomId: room.id })]);
    const socket = await join(inbox);
    for (const [unread, defaultAccesses] of [
      [1, ["*:read"]],
      [0, []],
    ] as const) {
      await api.put(`/rooms/${room.id}/access`, { defaultAccesses });
      expect(await pushed(socket)).toMatchObject({ event: "inboxUpdated", notificationIds: null, unread });
    }
    socket.close();
  });

  it("counts anew when a room is closed, opened again or deleted, and when its custom ID changes (R96)", async () => {
    const inbox = await Inbox.create();
    const { api } = inbox.owner;
    const [room, other] = [await inbox.room("board-1"), await inbox.room("notes")];
    await inbox.deliver([activity({ roomId: room }), activity({ roomId: other, subjectId: "other" })]);
    const [wide, narrow] = [await join(inbox), await join(inbox, { rooms: ["board-*"] })];
    const shows = async (changed: Promise<unknown>, ofWide: number, ofNarrow: number) => {
      await changed;
      expect([await pushed(wide), await pushed(narrow)]).toMatchObject([
        { event: "inboxUpdated", notificationIds: null, unread: ofWide },
        { event: "inboxUpdated", notificationIds: null, unread: ofNarrow },
      ]);
    };
    await shows(api.patch(`/rooms/${room}`, { customId: "closet" }), 2, 0);
    await shows(api.patch(`/rooms/${other}`, { customId: "board-2" }), 2, 1);
    await shows(api.patch(`/rooms/${room}`, { state: "closed" }), 1, 1);
    await shows(api.patch(`/rooms/${room}`, { state: "active" }), 2, 1);
    await shows(api.delete(`/rooms/${other}`), 1, 0);
    await api.patch(`/rooms/${room}`, { name: "Another name" });
    expect([await wide.drain(), await narrow.drain()]).toEqual([[], []]);
    for (const socket of [wide, narrow]) socket.close();
  });

  it("counts anew only for those who have notifications of the room that has changed (R96)", async () => {
    const [inbox, other] = await shareShard();
    const roomId = await inbox.room();
    await inbox.deliver([activity({ roomId })]);
    await other.deliver([activity()]);
    const [socket, others] = [await join(inbox), await join(other)];
    const batches = await batchesOf(async () => {
      await inbox.object.recount(null, roomId);
      expect(await pushed(socket)).toMatchObject({ event: "inboxUpdated", unread: 1 });
    });
    expect(batches.length).toBe(1);
    expect(await others.drain()).toEqual([]);
    for (const each of [socket, others]) each.close();
  });

  it("counts anew one inbox after the other: the others' reads of the database wait (R96)", async () => {
    const inboxes = await shareShard();
    const sockets = await Promise.all(inboxes.map((inbox) => join(inbox)));
    const database: D1Database = Object.getPrototypeOf(env.DB);
    const { batch } = database;
    const counts = { now: 0, most: 0, all: 0 };
    database.batch = async function <T>(statements: D1PreparedStatement[]) {
      counts.now += 1;
      counts.all += 1;
      counts.most = Math.max(counts.most, counts.now);
      try {
        return (await batch.call(this, statements)) as D1Result<T>[];
      } finally {
        counts.now -= 1;
      }
    };
    await inboxes[0].object.recount(null);
    for (const socket of sockets) expect(await pushed(socket)).toMatchObject({ event: "inboxUpdated" });
    Object.assign(database, { batch });
    expect(counts).toEqual({ now: 0, most: 1, all: 2 });
    for (const socket of sockets) socket.close();
  });

  it("that joins while access changes receives the count anew behind its response (R96)", async () => {
    const inbox = await Inbox.create();
    const roomId = await inbox.room();
    await inbox.deliver([activity({ roomId })]);
    const [socket, token] = [await open(inbox), await inbox.token()];
    await runInDurableObject(inbox.stub, async (object) => {
      const database: D1Database = Object.getPrototypeOf(env.DB);
      const { batch } = database;
      const isRead = new Promise<void>((resolve) => {
        database.batch = async function <T>(statements: D1PreparedStatement[]) {
          const results = (await batch.call(this, statements)) as D1Result<T>[];
          object.recount([inbox.identityId], roomId);
          resolve();
          return results;
        };
      });
      void object.webSocketMessage(
        (object as unknown as { ctx: DurableObjectState }).ctx.getWebSockets()[0] as WebSocket,
        JSON.stringify({ type: "INBOX_JOIN", data: { token } }),
      );
      await isRead;
      Object.assign(database, { batch });
    });
    expect(await socket.next()).toMatchObject({ success: true, data: { unread: 1 } });
    expect(await pushed(socket)).toMatchObject({ event: "inboxUpdated", notificationIds: null, unread: 1 });
    socket.close();
  });

  it("of a guest counts anew when the link ends, and ends with the guest (R96, R97)", async () => {
    const owner = await account();
    const { id: roomId } = await owner.api.createRoom();
    const { link, secret, guest } = await makeGuest(owner.api, roomId);
    const { data: second } = await owner.api.post<Redeemed>("/links/redeem", { secret, name: "Hal" });
    const sockets: TestSocket[] = [];
    for (const { identity, token } of [guest, second]) {
      await openInbox(env)(owner.id, identity.id).deliver([identity.id], [activity({ roomId })], DEFAULTS);
      const socket = await openInboxSocket(owner.id, identity.id);
      expect((await socket.request("INBOX_JOIN", { token })).data).toMatchObject({ unread: 1 });
      sockets.push(socket);
    }
    await owner.api.delete(`/rooms/${roomId}/links/${link.id}`);
    for (const socket of sockets) expect(await closeOf(socket)).toBe(4401);
  });

  it("counts anew when access changes for more identities than are named (R96)", async () => {
    const inbox = await Inbox.create();
    const socket = await join(inbox);
    const recounting: Promise<unknown>[] = [];
    const notice = {
      ...openTenant(env, inbox.owner.id),
      inboxes: openInbox(env),
      defer: (work: Promise<unknown>) => void recounting.push(work),
      log: (message: string) => expect.unreachable(message),
    };
    recountInboxes(
      notice,
      Array.from({ length: RECOUNTED + 1 }, () => crypto.randomUUID()),
    );
    await Promise.all(recounting);
    expect(await pushed(socket)).toMatchObject({ event: "inboxUpdated", notificationIds: null, unread: 0 });
    socket.close();
  });

  it("receives nothing of the others in its shard, and stays when their tokens end (R94)", async () => {
    const [inbox, other] = await shareShard();
    const [socket, others] = [await join(inbox), await join(other)];
    await inbox.deliver([activity()]);
    expect(await pushed(socket)).toMatchObject({ event: "inboxNotification", unread: 1 });
    await inbox.owner.api.delete(`/identities/${inbox.identityId}/tokens`);
    expect(await closeOf(socket)).toBe(4401);
    await other.deliver([activity({ subjectId: "own" })]);
    expect(await pushed(others)).toMatchObject({ notification: { subject_id: "own" }, unread: 1 });
    others.close();
  });

  it("learns by one frame that more than 100 are read (R95)", async () => {
    const inbox = await Inbox.create();
    await inbox.deliver(Array.from({ length: 101 }, (_, index) => activity({ subjectId: `${index}` })));
    const socket = await join(inbox);
    await inbox.object.markAll(inbox.caller);
    expect(await pushed(socket)).toMatchObject({ event: "inboxRead", notificationIds: null, unread: 0 });
    socket.close();
  });

  it("receives and counts nothing of rooms that the identity or the token may not enter (R96)", async () => {
    const inbox = await Inbox.create();
    const [hidden, shown] = [await inbox.room(), await inbox.room("board-1")];
    const [wide, narrow] = [await join(inbox), await join(inbox, { rooms: ["board-*"] })];
    await inbox.allow(hidden, null);
    await inbox.deliver([
      activity({ roomId: hidden, subjectId: "hidden" }),
      activity({ roomId: shown, subjectId: "shown" }),
      activity({ subjectId: "without a room" }),
    ]);
    const notified = async (socket: TestSocket) => {
      for (;;) {
        const { event, ...data } = await pushed(socket);
        if (event === "inboxNotification") return data;
      }
    };
    expect([await notified(wide), await notified(wide)]).toMatchObject([
      { notification: { subject_id: "shown" }, unread: 2 },
      { notification: { subject_id: "without a room" }, unread: 2 },
    ]);
    expect(await notified(narrow)).toMatchObject({ notification: { subject_id: "shown" }, unread: 1 });
    expect(await narrow.drain()).toEqual([]);
    wide.close();
    narrow.close();
  });

  it("is closed with 4413 when it was sent more than 16 MiB, and the others are not (R98)", async () => {
    const inbox = await Inbox.create();
    const quiet = await Inbox.create(inbox.owner, "Ben");
    const [slow, other] = [await join(inbox), await join(quiet)];
    const large = () => activity({ data: { text: "x".repeat(MEBIBYTE) }, subjectId: crypto.randomUUID() });
    for (let sent = 0; sent < 15; sent += 1) {
      await inbox.deliver([large()]);
      expect((await pushed(slow)).event).toBe("inboxNotification");
    }
    await inbox.deliver([large()]);
    await inbox.deliver([large()]);
    expect(await slow.closed).toEqual({ code: 4413, reason: "reader too slow" });
    await quiet.deliver([activity()]);
    expect((await pushed(other)).event).toBe("inboxNotification");
    const again = await join(inbox);
    for (const socket of [other, again]) socket.close();
  });

  it("counts among the 20 of its inbox after its close, until its connection has ended, if it has much to read (R94, R98)", async () => {
    const inbox = await Inbox.create();
    const token = await inbox.token();
    const sockets: Awaited<ReturnType<typeof joinHalf>>[] = [];
    for (let count = 0; count < 20; count += 1) sockets.push(await joinHalf(inbox, token));
    for (let sent = 0; sent < 3; sent += 1)
      await inbox.deliver([activity({ data: { text: "x".repeat(MEBIBYTE / 2) }, subjectId: `${sent}` })]);
    await Promise.all(sockets.map(({ received }) => received));
    await inbox.owner.api.delete(`/identities/${inbox.identityId}/tokens`);
    await Promise.all(sockets.map(({ closed }) => closed));
    const refused = await open(inbox);
    const response = await refused.request("INBOX_JOIN", { token: await inbox.token() });
    expect(response.error?.code).toBe("CONFLICT");
    expect(await closeOf(refused)).toBe(4409);
    for (const { webSocket } of sockets) webSocket.close(1000);
    const fresh = await inbox.token();
    await expect
      .poll(async () => {
        const socket = await open(inbox);
        const { success } = await socket.request("INBOX_JOIN", { token: fresh });
        socket.close();
        return success;
      })
      .toBe(true);
  });

  it("goes on with a further token, and ends with its last one (R97)", async () => {
    const inbox = await Inbox.create();
    const socket = await join(inbox, { ttl: 60 });
    const refused = await socket.request("TOKEN_REFRESH", { token: "a.b.c" });
    expect(refused.error?.code).toBe("UNAUTHORIZED");
    const long = await socket.request("TOKEN_REFRESH", { token: await inbox.token({ ttl: 120 }) });
    expect(long.data).toMatchObject({ unread: 0, expiresAt: expect.any(String) });
    const start = Date.now();
    const at = (ms: number) =>
      runInDurableObject(inbox.stub, async (object) => {
        object.clock = () => start + ms;
        await object.alarm();
      });
    await at(61_000);
    expect(await socket.drain()).toEqual([]);
    await at(121_000);
    expect((await pushed(socket)).event).toBe("authFailed");
    expect(await closeOf(socket)).toBe(4401);
  });

  it("ends with the identity's tokens, and with the identity (R97)", async () => {
    const inbox = await Inbox.create();
    const first = await join(inbox);
    await inbox.owner.api.delete(`/identities/${inbox.identityId}/tokens`);
    expect(await closeOf(first)).toBe(4401);
    const second = await join(inbox);
    await inbox.owner.api.delete("/tokens");
    expect((await pushed(second)).event).toBe("authFailed");
    expect(await closeOf(second)).toBe(4401);
    const third = await join(inbox);
    await inbox.owner.api.delete(`/identities/${inbox.identityId}`);
    expect(await closeOf(third)).toBe(4401);
  });

  it("survives that its inbox leaves memory, and wakes it for nothing while it is idle (R94, R95)", async () => {
    const inbox = await Inbox.create();
    const socket = await join(inbox);
    await evictDurableObject(inbox.stub);
    let wakes = 0;
    await runInDurableObject(inbox.stub, (object) => {
      const { webSocketMessage } = object;
      object.webSocketMessage = (...frame) => {
        wakes += 1;
        return webSocketMessage.apply(object, frame);
      };
    });
    for (let pings = 0; pings < 50; pings += 1) expect(await socket.drain()).toEqual([]);
    expect(wakes).toBe(0);
    await inbox.deliver([activity()]);
    expect(await pushed(socket)).toMatchObject({ event: "inboxNotification", unread: 1 });
    await runDurableObjectAlarm(inbox.stub);
    socket.close();
  });
});
