/** Narrowed tokens: the rooms that they open, their use beside rooms, and their traces. */
import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { PushBrowser } from "../inbox/browser.ts";
import { activity, Inbox, openInboxSocket } from "../inbox/support.ts";
import { DocumentClient } from "../room/documents/document-client.ts";
import { joinRoom, joinWith, openSocket } from "../room/support/join.ts";
import { type Answer, makeGuest, ORIGIN, refusalOf } from "../support/api.ts";

/** Whether a token joins a room, as its socket and REST say: the room's own user list is read after the join. */
async function opens({ owner }: Inbox, roomId: string, token: string): Promise<boolean> {
  const socket = await openSocket(owner.id, roomId);
  const { success } = await socket.request("JOIN_ROOM", { token });
  const { status } = await owner.api.as(token).get(`/users?roomId=${roomId}`);
  expect(status).toBe(success ? 200 : 403);
  socket.close();
  return success;
}

describe("a token names rooms", () => {
  it("by their IDs, and opens no room that has such an ID as its custom ID", async () => {
    const inbox = await Inbox.create();
    const room = await inbox.room();
    const other = await inbox.room(room);
    await joinRoom(inbox.owner.id, other, await inbox.token()); // so that REST refuses for the name alone
    const token = await inbox.token({ rooms: [room] });
    expect([await opens(inbox, room, token), await opens(inbox, other, token)]).toEqual([true, false]);
    await inbox.deliver([
      activity({ subjectId: "a", roomId: room }),
      activity({ subjectId: "b", roomId: other }),
    ]);
    const { data } = await inbox.owner.api.as(token).get("/me/inbox-notifications");
    expect(data).toMatchObject({ notifications: [{ subject_id: "a" }] });
    const named = await inbox.token({ rooms: [{ customId: room }] });
    expect([await opens(inbox, room, named), await opens(inbox, other, named)]).toEqual([false, true]);
  });

  it("as a guest's does, whatever custom IDs others have", async () => {
    const inbox = await Inbox.create();
    const room = await inbox.room();
    const other = await inbox.room(room);
    const { guest } = await makeGuest(inbox.owner.api, room);
    await inbox.owner.api.put(`/rooms/${other}/access`, { defaultAccesses: "editor" });
    expect([await opens(inbox, room, guest.token), await opens(inbox, other, guest.token)]).toEqual([
      true,
      false,
    ]);
  });

  it("by custom IDs that end in a star or look like an ID, or by the beginning of custom IDs", async () => {
    const inbox = await Inbox.create();
    const lookalike = crypto.randomUUID();
    const customIds = ["plan*", "plan*2", "plan", "plans", lookalike];
    const rooms: [string, string][] = [];
    for (const customId of customIds) rooms.push([customId, await inbox.room(customId)]);
    const opened = async (name: unknown) => {
      const token = await inbox.token({ rooms: [name] });
      const found = [];
      for (const [customId, id] of rooms) if (await opens(inbox, id, token)) found.push(customId);
      return found;
    };
    const all = await inbox.token();
    for (const [, id] of rooms) (await joinRoom(inbox.owner.id, id, all)).close();
    expect(await opened({ customId: "plan*" })).toEqual(["plan*"]);
    expect(await opened({ customId: lookalike })).toEqual([lookalike]);
    expect(await opened({ customIdPrefix: "plan*" })).toEqual(["plan*", "plan*2"]);
    // Room names in their earlier notation.
    expect(await opened("plan")).toEqual(["plan"]);
    expect(await opened("plan*")).toEqual(["plan*", "plan*2", "plan", "plans"]);
    expect(await opened(lookalike)).toEqual([lookalike]);
  });

  it("and its permissions, also by the name of a preset", async () => {
    const { owner, identityId } = await Inbox.create();
    const { id } = await owner.api.createRoom();
    await owner.api.put(`/rooms/${id}/access`, { defaultAccesses: "editor" });
    const asked = { permissions: "commenter" };
    for (const [path, body] of [
      [`/identities/${identityId}/tokens`, asked],
      ["/identify", { customId: "preset", name: "Ada", ...asked }],
    ] as const) {
      const { data } = await owner.api.post<{ token: string }>(path, body);
      expect((await joinWith(owner.id, id, data.token)).joined).toMatchObject({
        permissions: ["*:read", "presence:write", "comments:write"],
      });
      const refused = await owner.api.post(path, { ...body, permissions: "owner" });
      expect(refused.error?.message).toContain("one of the presets viewer, commenter, editor");
    }
  });

  it("that fit into it, or is not issued and changes nothing", async () => {
    const inbox = await Inbox.create();
    const rooms = Array.from({ length: 10 }, (_, at) => ({ customIdPrefix: `${at}${"x".repeat(150)}` }));
    const { api } = inbox.owner;
    const refused = await api.post("/identify", { customId: "ben", name: "Ben", rooms });
    expect(refusalOf(refused)).toEqual([400, "Identities", "VALIDATION_ERROR"]);
    expect((await api.get("/identities/custom/ben")).status).toBe(404);
    const token = await inbox.token({ rooms: rooms.slice(0, 7), permissions: ["*:read"] });
    expect((await api.as(token).get("/me/inbox-notifications")).status).toBe(200);
  });
});

describe("the sockets of a token that names custom IDs", () => {
  const rename = ({ owner }: Inbox, roomId: string, customId: string | null) =>
    owner.api.patch(`/rooms/${roomId}`, { customId });

  it("end when the room has none of them any more, before that is answered", async () => {
    const inbox = await Inbox.create();
    const room = await inbox.room("board-1");
    const { id: accountId, api } = inbox.owner;
    const token = await inbox.token({ rooms: [{ customId: "board-1" }] });
    const sockets = [await joinRoom(accountId, room, token), await joinRoom(accountId, room, token)];
    const address = `${ORIGIN}${api.base}/rooms/${room}/documents`;
    const upgrade = { headers: { Upgrade: "websocket" } };
    const { webSocket } = await exports.default.fetch(new Request(address, upgrade));
    const editor = DocumentClient.over(webSocket as WebSocket, "notes", token);
    await editor.until(() => editor.isSynced);
    const kept = [];
    for (const rooms of [[room], ["board-*"], undefined])
      kept.push(await joinRoom(accountId, room, await inbox.token(rooms && { rooms })));
    await rename(inbox, room, "board-2");
    for (const { closed } of [...sockets, editor]) expect((await closed).code).toBe(4403);
    for (const socket of kept) expect((await socket.call("ROOM_GET")).success).toBe(true);
    await rename(inbox, room, null);
    expect((await kept[1]?.closed)?.code).toBe(4403);
    for (const socket of [kept[0], kept[2]]) expect((await socket?.call("ROOM_GET"))?.success).toBe(true);
  });

  it("follow the latest token", async () => {
    const inbox = await Inbox.create();
    const room = await inbox.room("board-1");
    const byCustomId = await inbox.token({ rooms: [{ customId: "board-1" }] });
    const [freed, bound] = [
      await joinRoom(inbox.owner.id, room, byCustomId),
      await joinRoom(inbox.owner.id, room, await inbox.token()),
    ];
    await freed.call("TOKEN_REFRESH", { token: await inbox.token({ rooms: [room] }) });
    await bound.call("TOKEN_REFRESH", { token: byCustomId });
    await rename(inbox, room, "board-2");
    expect((await bound.closed).code).toBe(4403);
    expect((await freed.call("ROOM_GET")).success).toBe(true);
  });
});

describe("a narrowed token at /me", () => {
  const terms = (roomId: string) => [
    { rooms: [roomId] },
    { permissions: ["*:read" as const] },
    { permissions: ["*:read" as const, "comments:write" as const] },
    { rooms: [roomId], permissions: ["*:write" as const], ttl: 60 },
  ];

  it("has no part in what concerns all rooms or outlives it: browsers and settings", async () => {
    const inbox = await Inbox.create();
    const room = await inbox.room();
    const browser = await PushBrowser.create();
    const whole = inbox.owner.api.as(await inbox.token({ permissions: ["*:write"] }));
    expect((await whole.post("/me/push-subscriptions", browser.toJSON())).status).toBe(200);
    for (const narrowing of terms(room)) {
      const api = inbox.owner.api.as(await inbox.token(narrowing));
      const { endpoint } = browser;
      const refused: Answer<unknown>[] = [
        await api.get("/me/push-subscriptions"),
        await api.post("/me/push-subscriptions", (await PushBrowser.create()).toJSON()),
        await api.send("DELETE", "/me/push-subscriptions", {
          body: JSON.stringify({ endpoint }),
          headers: { "Content-Type": "application/json" },
        }),
        await api.get("/me/notification-settings"),
        await api.patch("/me/notification-settings", { email: { enabled: false } }),
      ];
      expect(refused.map(refusalOf)).toEqual(refused.map(() => [403, "Auth", "FORBIDDEN"]));
    }
    const { data } = await whole.get("/me/push-subscriptions");
    expect(data).toMatchObject({ subscriptions: [{ endpoint: browser.endpoint }] });
    expect((await whole.get("/me/notification-settings")).data).toMatchObject({
      settings: { email: { enabled: true } },
    });
  });

  it("is as a guest's: its inbox is in its room, and on the page alone", async () => {
    const { owner } = await Inbox.create();
    const { id: room } = await owner.api.createRoom();
    const { guest } = await makeGuest(owner.api, room, { permissions: "viewer" });
    const api = owner.api.as(guest.token);
    const browser = (await PushBrowser.create()).toJSON();
    expect((await api.post("/me/push-subscriptions", browser)).status).toBe(403);
    expect((await api.patch("/me/notification-settings", { email: { enabled: true } })).status).toBe(403);
    expect((await api.post("/me/inbox-notifications/read", { all: true })).status).toBe(200);
    expect((await api.delete("/me/inbox-notifications")).status).toBe(200);
  });

  it("deletes nothing if it only reads, and marks what it reads as read", async () => {
    const inbox = await Inbox.create();
    const [board, other] = [await inbox.room(), await inbox.room()];
    await inbox.deliver([
      activity({ subjectId: "a", roomId: board }),
      activity({ subjectId: "b", roomId: other }),
    ]);
    const reader = inbox.owner.api.as(await inbox.token({ rooms: [board], permissions: ["*:read"] }));
    const { data } = await reader.get<{ notifications: { id: string }[] }>("/me/inbox-notifications");
    expect(data.notifications).toHaveLength(1);
    const path = `/me/inbox-notifications/${data.notifications[0]?.id}`;
    for (const refused of [await reader.delete(path), await reader.delete("/me/inbox-notifications")])
      expect(refusalOf(refused)).toEqual([403, "Auth", "FORBIDDEN"]);
    expect((await reader.post("/me/inbox-notifications/read", { all: true })).data).toEqual({ unread: 0 });
    expect(await inbox.shown()).toEqual({ a: false, b: true });
  });

  it("changes no settings in a room if it only reads, and marks threads as read (R99)", async () => {
    const inbox = await Inbox.create();
    const room = await inbox.room();
    const { id: accountId, api } = inbox.owner;
    const { id: userId } = await api.createUser(room);
    const { data } = await api.post<{ comment: { id: string } }>(`/rooms/${room}/comments`, {
      text: "Hi",
      userId,
    });
    const threadId = data.comment.id;
    const reader = await joinRoom(accountId, room, await inbox.token({ permissions: ["*:read"] }));
    const codes = async (socket: typeof reader) => [
      (await socket.call("SUBSCRIPTION_SETTINGS", { threads: "none" })).error?.code,
      (await socket.call("THREAD_SUBSCRIBE", { threadId })).error?.code,
      (await socket.call("USER_FOLLOW", { userId })).error?.code,
      (await socket.call("USER_FOLLOW", { userId: "no one" })).error?.code,
      (await socket.call("USER_UNFOLLOW", { userId: "no one" })).error?.code,
      (await socket.call("SUBSCRIPTION_SETTINGS", {})).data,
      (await socket.call("THREAD_READ", { threadId })).success,
    ];
    const settings = { threads: "replies_and_mentions", textMentions: "mine" };
    expect(await codes(reader)).toEqual([...Array(5).fill("FORBIDDEN"), { settings }, true]);
    const { socket: viewer } = await joinWith(accountId, room, await inbox.token(), { role: "viewer" });
    expect(await codes(viewer)).toEqual([
      undefined,
      undefined,
      undefined,
      "NOT_FOUND",
      undefined,
      { settings: { ...settings, threads: "none" } },
      true,
    ]);
  });
});

describe("a push subscription", () => {
  it("holds as long as the token that made it, also when the tokens end while it is made", async () => {
    const inbox = await Inbox.create();
    const { api } = inbox.owner;
    const subscription = (await PushBrowser.create()).toJSON();
    const { identityId, object } = inbox;
    const { keys, endpoint } = subscription as { endpoint: string; keys: { p256dh: string; auth: string } };
    const target = { endpoint, ...keys, origin: ORIGIN, expiresAt: null };
    const { data } = await api.as(await inbox.token()).get<{ public_key: string }>("/me/push-subscriptions");
    const epochs = { identity: 0, account: 0 };
    expect(await object.addPushTarget(identityId, target, data.public_key, epochs)).toBe(true);
    await api.delete(`/identities/${identityId}/tokens`);
    expect(await object.addPushTarget(identityId, target, data.public_key, epochs)).toBe(false);
    const { data: after } = await api.get(`/identities/${identityId}/push-subscriptions`);
    expect(after).toMatchObject({ subscriptions: [] });
  });
});

describe("a token that was ended", () => {
  it("is refused as such before anything else is looked at, over REST and at each socket", async () => {
    const inbox = await Inbox.create();
    const other = await Inbox.create();
    const { id: accountId, api } = inbox.owner;
    const [room, elsewhere] = [await inbox.room("board-1"), await inbox.room()];
    const user = await api.createUser(room);
    const linked = await api.post<{ user: { token: string } }>("/users", {
      ...{ name: "Ada", roomId: elsewhere, identityId: inbox.identityId },
    });
    const tokens = [
      user.token,
      linked.data.user.token,
      await inbox.token(),
      await inbox.token({ rooms: [elsewhere], permissions: ["*:read"] }),
    ];
    await api.delete(`/identities/${inbox.identityId}/tokens`);
    await api.delete(`/users/${user.id}/tokens?roomId=${room}`);
    const unknown = crypto.randomUUID();
    const paths = [
      `${api.base}/rooms`,
      `${api.base}/users?roomId=${room}`,
      `${api.base}/users?roomId=${unknown}`,
      `${api.base}/rooms/${unknown}/documents`,
      `${api.base}/users`,
      `${api.base}/me/notification-settings`,
    ];
    for (const token of tokens) {
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
      for (const path of paths) {
        const { status } = await exports.default.fetch(new Request(ORIGIN + path, { headers }));
        expect([path, status]).toEqual([path, 401]);
      }
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
      const mcp = await exports.default.fetch(
        new Request(`${ORIGIN}/mcp`, { method: "POST", headers, body }),
      );
      expect(mcp.status).toBe(401);
      for (const [account, roomId] of [
        [accountId, room],
        [accountId, elsewhere],
        [other.owner.id, await other.room()],
      ] as const) {
        const socket = await openSocket(account, roomId);
        expect((await socket.request("JOIN_ROOM", { token })).error).toMatchObject({ code: "UNAUTHORIZED" });
        expect((await socket.closed).code).toBe(4401);
      }
    }
    for (const [account, identityId] of [
      [accountId, inbox.identityId],
      [other.owner.id, other.identityId],
    ] as const) {
      const socket = await openInboxSocket(account, identityId);
      const { error } = await socket.request("INBOX_JOIN", { token: tokens[2] });
      expect(error).toMatchObject({ code: "UNAUTHORIZED" });
    }
    for (const customId of ["board-1", "unknown"]) {
      const headers = { Upgrade: "websocket", "Sec-WebSocket-Protocol": `atrium, ${tokens[2]}` };
      const address = `${ORIGIN}${api.base}/rooms/custom/${customId}/socket`;
      expect((await exports.default.fetch(new Request(address, { headers }))).status).toBe(401);
    }
  });
});

describe("a token in an address", () => {
  const upgrade = async (address: string, headers: Record<string, string> = {}) =>
    exports.default.fetch(new Request(address, { headers: { Upgrade: "websocket", ...headers } }));

  it("opens a document if it is short-lived; a lasting one is refused with the reason", async () => {
    const inbox = await Inbox.create();
    const { api } = inbox.owner;
    const room = await inbox.room();
    const user = await api.createUser(room);
    const path = `/users/${user.id}/tokens?roomId=${room}`;
    const short = await api.post<{ token: string }>(path, { ttl: 86_400 });
    const long = await api.post<{ token: string }>(path, { ttl: 86_401 });
    const address = `${ORIGIN}${api.base}/rooms/${room}/documents/notes/sync`;
    for (const token of [short.data.token, await inbox.token()]) {
      const { webSocket } = await upgrade(`${address}?token=${token}`);
      const client = DocumentClient.over(webSocket as WebSocket);
      await client.until(() => client.isSynced);
    }
    for (const token of [user.token, long.data.token]) {
      const { webSocket } = await upgrade(`${address}?token=${token}`);
      const client = DocumentClient.over(webSocket as WebSocket);
      expect((await client.closed).code).toBe(4401);
      expect(client.notes).toEqual([[2, expect.stringMatching(/^The token lasts too long for an address/)]]);
      const { webSocket: other } = await upgrade(address, { "Sec-WebSocket-Protocol": `atrium, ${token}` });
      const editor = DocumentClient.over(other as WebSocket);
      await editor.until(() => editor.isSynced);
    }
  });

  it("opens no room by its custom ID (R1)", async () => {
    const inbox = await Inbox.create();
    await inbox.room("board-1");
    const address = `${ORIGIN}${inbox.owner.api.base}/rooms/custom/board-1/socket?token=${await inbox.token()}`;
    expect((await upgrade(address)).status).toBe(401);
    expect((await upgrade(address, { "Sec-WebSocket-Protocol": "atrium" })).status).toBe(401);
  });
});
