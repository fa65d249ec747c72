/** Identities in rooms: their tokens, the users that their joins create, and the end of their access on open sockets. */
import { env, exports } from "cloudflare:workers";
import type { Group, Identity } from "@atrium/contract/resources/identity.ts";
import type { Permission } from "@atrium/contract/resources/permissions.ts";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import { describe, expect, it } from "vitest";
import { joinWith, openSocket } from "../room/support/join.ts";
import { TestSocket } from "../room/support/test-socket.ts";
import { type Account, type Answer, account, ORIGIN, refusalOf } from "../support/api.ts";

interface Identified {
  readonly identity: Identity;
  readonly token: string;
  readonly expires_at: string;
}

const identify = async ({ api }: Account, fields: object = {}): Promise<Identified> =>
  (await api.post<Identified>("/identify", { customId: "ada-1", name: "Ada", ...fields })).data;

const makeGroup = async ({ api }: Account, customId: string): Promise<Group> =>
  (await api.post<{ group: Group }>("/groups", { name: customId, customId })).data.group;

const grant = ({ api }: Account, { id }: Room, groupId: string, permissions: Permission[]): Promise<Answer> =>
  api.put(`/rooms/${id}/access`, { groupsAccesses: { [groupId]: permissions } });

/** A room in which writers may write, and readers may read. */
async function setUp() {
  const owner = await account();
  const room = await owner.api.createRoom();
  const [writers, readers] = [await makeGroup(owner, "writers"), await makeGroup(owner, "readers")];
  await grant(owner, room, writers.id, ["*:write"]);
  await grant(owner, room, readers.id, ["*:read"]);
  return { owner, room, writers, readers };
}

const refusedJoin = async ({ id }: Account, room: Room, token: string) => {
  const socket = await openSocket(id, room.id);
  const answer = await socket.request("JOIN_ROOM", { token });
  const { code } = await socket.closed;
  return [answer.success ? null : answer.error.code, code];
};

const leave = ({ api }: Account, group: Group, { id }: Identity): Promise<Answer> =>
  api.delete(`/groups/${group.id}/members/${id}`);

const SET = { store: "tasks", key: "a", value: 1 };
const BATCH = { requests: [{ requestId: "r", operations: [{ type: "STORE_SET", ...SET }], atomic: true }] };

describe("the lasting token of a user who belongs to an identity", () => {
  async function withUser() {
    const place = await setUp();
    const { identity } = await identify(place.owner);
    const made = await place.owner.api.post<{ user: UserWithToken }>("/users", {
      name: "Ada",
      roomId: place.room.id,
      identityId: identity.id,
    });
    return { ...place, identity, user: made.data.user };
  }

  it("opens nothing without access, whatever role the user has", async () => {
    const { owner, room, user } = await withUser();
    expect(await refusedJoin(owner, room, user.token)).toEqual(["FORBIDDEN", 4403]);
    const answer = await owner.api.as(user.token).get(`/users?roomId=${room.id}`);
    expect(refusalOf(answer)).toEqual([403, "Auth", "FORBIDDEN"]);
  });

  it("loses what its identity loses before that is answered: over its socket, and over REST", async () => {
    const { owner, room, user, identity, writers } = await withUser();
    await owner.api.put(`/groups/${writers.id}/members/${identity.id}`, {});
    const { socket, joined } = await joinWith(owner.id, room.id, user.token);
    expect(joined).toMatchObject({ role: "editor", permissions: ["*:write"] });
    expect(await socket.call("STORE_SET", SET)).toMatchObject({ success: true });
    expect((await leave(owner, writers, identity)).data).toEqual({ pending_rooms: 0 });
    expect(await socket.closed).toMatchObject({ code: 4403 });
    expect(await refusedJoin(owner, room, user.token)).toEqual(["FORBIDDEN", 4403]);
    const write = await owner.api.as(user.token).post(`/rooms/${room.id}/stores/batch`, { batches: BATCH });
    expect(refusalOf(write)).toEqual([403, "Auth", "FORBIDDEN"]);
  });

  it("ends with the identity's tokens, and with the identity; a new one is shown", async () => {
    const { owner, room, user, identity, writers } = await withUser();
    await owner.api.put(`/groups/${writers.id}/members/${identity.id}`, {});
    const { socket } = await joinWith(owner.id, room.id, user.token);
    await owner.api.delete(`/identities/${identity.id}/tokens`);
    expect(await socket.closed).toMatchObject({ code: 4401 });
    expect(await refusedJoin(owner, room, user.token)).toEqual(["UNAUTHORIZED", 4401]);
    const path = `/users/${user.id}?roomId=${room.id}`;
    const { token } = (await owner.api.get<{ user: UserWithToken }>(path)).data.user;
    const { socket: second } = await joinWith(owner.id, room.id, token);
    await owner.api.delete(`/identities/${identity.id}`);
    expect(await second.closed).toMatchObject({ code: 4401 });
    expect(await refusedJoin(owner, room, token)).toEqual(["UNAUTHORIZED", 4401]);
    expect((await owner.api.as(token).get(`/users?roomId=${room.id}`)).status).toBe(401);
  });

  it("is of one user in each room", async () => {
    const { owner, room, identity } = await withUser();
    const again = { name: "Ada", roomId: room.id, identityId: identity.id };
    expect(refusalOf(await owner.api.post("/users", again))).toEqual([409, "Users", "CONFLICT"]);
    const unknown = { ...again, identityId: crypto.randomUUID() };
    expect(refusalOf(await owner.api.post("/users", unknown))).toEqual([404, "Users", "NOT_FOUND"]);
  });
});

describe("an identity's token", () => {
  it("joins each room that its identity may enter, as one user in each (R89)", async () => {
    const { owner, room, writers } = await setUp();
    const other = await owner.api.createRoom();
    await grant(owner, other, writers.id, ["stores:write"]);
    const { token, identity } = await identify(owner, {
      groups: ["writers"],
      profilePicture: "https://example.com/a",
    });
    const { joined } = await joinWith(owner.id, room.id, token);
    expect(joined).toMatchObject({
      user: { name: "Ada", custom_id: "ada-1", profile_picture: "https://example.com/a" },
      permissions: ["*:write"],
    });
    const again = await joinWith(owner.id, room.id, token);
    const elsewhere = await joinWith(owner.id, other.id, token);
    expect(again.joined).toMatchObject({ user: { id: (joined as { user: { id: string } }).user.id } });
    expect(elsewhere.joined).toMatchObject({ permissions: ["*:read", "stores:write"], role: "editor" });
    const { data } = await owner.api.get<{ rooms: { room: Room; user_id: string }[]; total: number }>(
      `/identities/${identity.id}/rooms`,
    );
    expect(data.rooms.map((each) => each.room.id)).toEqual(expect.arrayContaining([room.id, other.id]));
    expect(data.total).toBe(2);
    const live = await owner.api.get<{ room: Room; usersTotal: number }>(`/rooms/${room.id}`);
    expect(live.data).toMatchObject({
      usersTotal: 1,
      room: { total_users_created: 1, active_participants: 1 },
    });
  });

  it("gets in once when many of its sockets join at the same time", async () => {
    const { owner, room } = await setUp();
    const { token } = await identify(owner, { groups: ["writers"] });
    const joins = await Promise.all(Array.from({ length: 8 }, () => joinWith(owner.id, room.id, token)));
    const ids = new Set(joins.map(({ joined }) => (joined as { user: { id: string } }).user.id));
    expect(ids.size).toBe(1);
  });

  it("creates no user without access, in a closed room, or once it has ended", async () => {
    const { owner, room } = await setUp();
    const { token, identity } = await identify(owner);
    expect(await refusedJoin(owner, room, token)).toEqual(["FORBIDDEN", 4403]);
    await identify(owner, { groups: ["readers"] });
    await owner.api.patch(`/rooms/${room.id}`, { state: "closed" });
    expect(await refusedJoin(owner, room, token)).toEqual(["FORBIDDEN", 4403]);
    await owner.api.patch(`/rooms/${room.id}`, { state: "active" });
    await owner.api.delete(`/identities/${identity.id}/tokens`);
    expect(await refusedJoin(owner, room, token)).toEqual(["UNAUTHORIZED", 4401]);
    expect((await owner.api.get<{ total: number }>(`/users?roomId=${room.id}`)).data.total).toBe(0);
  });

  it("opens only the rooms that it names, and allows only what it names (R88)", async () => {
    const { owner, writers } = await setUp();
    const rooms = [];
    for (const customId of ["board-1", "board-2", "a-board-1"]) {
      const room = await owner.api.createRoom({ customId });
      await grant(owner, room, writers.id, ["*:write"]);
      rooms.push(room);
    }
    const narrow = { groups: ["writers"], rooms: ["board-*"], permissions: ["comments:write"] };
    const { token } = await identify(owner, narrow);
    const { joined } = await joinWith(owner.id, rooms[1]?.id ?? "", token);
    expect(joined).toMatchObject({ permissions: ["*:read", "comments:write"], role: "viewer" });
    expect(await refusedJoin(owner, rooms[2] as Room, token)).toEqual(["FORBIDDEN", 4403]);
  });

  it("opens a room by its custom ID, and tells no one else which custom IDs exist (R1)", async () => {
    const { owner, writers } = await setUp();
    const room = await owner.api.createRoom({ customId: "plan/1" });
    await grant(owner, room, writers.id, ["*:write"]);
    const open = async (customId: string, token: string, query = "") => {
      const headers = { Upgrade: "websocket", "Sec-WebSocket-Protocol": `atrium, ${token}` };
      const path = `${owner.api.base}/rooms/custom/${encodeURIComponent(customId)}/socket${query}`;
      return exports.default.fetch(new Request(ORIGIN + path, { headers }));
    };
    const { token } = await identify(owner, { groups: ["writers"] });
    const { token: narrow } = await identify(owner, { customId: "bo", rooms: ["board-*"] });
    const { token: foreign } = await identify(await account());
    const opened = await open("plan/1", token);
    expect([opened.status, opened.headers.get("Sec-WebSocket-Protocol")]).toEqual([101, "atrium"]);
    const socket = new TestSocket(opened.webSocket as WebSocket);
    expect(await socket.request("JOIN_ROOM", { token })).toMatchObject({ data: { room: { id: room.id } } });
    expect((await socket.call("STORE_SET", SET)).success).toBe(true);
    const closeOf = async (customId: string, credential: string) => {
      const { webSocket } = await open(customId, credential, "?refusal=close");
      return (await new TestSocket(webSocket as WebSocket).closed).code;
    };
    const user = await owner.api.createUser(room.id);
    const refused: [customId: string, token: string, status: number, code: number][] = [
      ["plan/2", token, 404, 4404],
      [room.id, token, 404, 4404],
      ["plan/1", narrow, 404, 4404],
      ["plan/1", foreign, 404, 4404],
      ["plan/1", user.token, 401, 4401],
      ["plan/1", "", 401, 4401],
    ];
    for (const [customId, credential, status, code] of refused)
      expect([
        customId,
        (await open(customId, credential)).status,
        await closeOf(customId, credential),
      ]).toEqual([customId, status, code]);
    const plain = await exports.default.fetch(`${ORIGIN}${owner.api.base}/rooms/custom/plan%2F1/socket`);
    expect(plain.status).toBe(401);
  });

  it("acts over REST as its user in the room that the URL names, and shows no lasting token", async () => {
    const { owner, room } = await setUp();
    const { token } = await identify(owner, { groups: ["writers"] });
    const api = owner.api.as(token);
    const list = () => api.get<{ users: object[] }>(`/users?roomId=${room.id}`);
    expect(refusalOf(await list())).toEqual([403, "Auth", "FORBIDDEN"]);
    const { joined } = await joinWith(owner.id, room.id, token);
    expect((await list()).data.users).toEqual([expect.not.objectContaining({ token: expect.anything() })]);
    expect((await api.post(`/rooms/${room.id}/stores/batch`, BATCH)).status).toBe(200);
    const { id: userId } = (joined as { user: { id: string } }).user;
    const file = new File(["Hello"], "a.txt", { type: "text/plain" });
    const form = new FormData();
    for (const [name, value] of Object.entries({ roomId: room.id, userId, file })) form.set(name, value);
    expect((await api.send("POST", `/upload?roomId=${room.id}`, { body: form })).status).toBe(201);
    expect(refusalOf(await api.get(`/rooms/${crypto.randomUUID()}/documents`))).toEqual([
      404,
      "Rooms",
      "NOT_FOUND",
    ]);
    expect((await api.get("/rooms")).status).toBe(403);
  });

  it("stores no file whose upload outlives its access", async () => {
    const { owner, room, writers } = await setUp();
    const { token, identity } = await identify(owner, { groups: ["writers"] });
    const { joined } = await joinWith(owner.id, room.id, token);
    const { id: userId } = (joined as { user: { id: string } }).user;
    const part = (name: string, value: string, file = "") =>
      `--b\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}`;
    const head = `${part("roomId", `${room.id}\r\n`)}${part("userId", `${userId}\r\n`)}${part("file", "Hel", '; filename="a.txt"')}`;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const uploading = owner.api.as(token).send("POST", `/upload?roomId=${room.id}`, {
      body: readable,
      headers: { "Content-Type": "multipart/form-data; boundary=b" },
    });
    await writer.write(new TextEncoder().encode(head));
    await leave(owner, writers, identity);
    await writer.write(new TextEncoder().encode("lo\r\n--b--\r\n"));
    await writer.close();
    expect(refusalOf(await uploading)).toEqual([403, "Auth", "FORBIDDEN"]);
    expect((await owner.api.get<{ total: number }>(`/files?roomId=${room.id}`)).data.total).toBe(0);
  });
});

describe("a change of an identity's groups", () => {
  it("lowers and raises what its open sockets may do, in place (R90)", async () => {
    const { owner, room, writers } = await setUp();
    const { token, identity } = await identify(owner, { groups: ["writers", "readers"] });
    const { socket } = await joinWith(owner.id, room.id, token);
    await leave(owner, writers, identity);
    expect(await socket.nextEvent()).toMatchObject({
      event: "accessChanged",
      data: { permissions: ["*:read"], role: "viewer" },
    });
    expect(await socket.nextEvent()).toMatchObject({ event: "roleChanged", data: { role: "viewer" } });
    expect(await socket.call("STORE_SET", SET)).toMatchObject({ error: { code: "FORBIDDEN" } });
    expect(await socket.call("PRESENCE_UPDATE", { state: { x: 1 } })).toMatchObject({
      error: { code: "FORBIDDEN" },
    });
    await identify(owner, { groups: ["writers"] });
    expect(await socket.nextEvent()).toMatchObject({
      event: "accessChanged",
      data: { permissions: ["*:write"] },
    });
    expect(await socket.call("STORE_SET", SET)).toMatchObject({ success: true });
    await owner.api.delete(`/groups/${writers.id}`);
    expect(await socket.closed).toMatchObject({ code: 4403 });
  });

  it("is what a sign-in says, which leaves alone what it does not name", async () => {
    const { owner, room } = await setUp();
    const profile = { email: "ada@example.com", profilePicture: "https://example.com/ada.png" };
    const { token, identity } = await identify(owner, { ...profile, groups: ["writers", "readers"] });
    const { socket } = await joinWith(owner.id, room.id, token);
    expect((await identify(owner, { groups: ["readers"] })).identity).toEqual(identity);
    expect(await socket.nextEvent()).toMatchObject({
      event: "accessChanged",
      data: { permissions: ["*:read"] },
    });
    await identify(owner, { email: "ada@other.example" });
    const path = `/identities/${identity.id}`;
    expect((await owner.api.get<object>(path)).data).toEqual({
      identity: { ...identity, email: "ada@other.example" },
    });
    expect((await owner.api.get<object>(`${path}/groups`)).data).toMatchObject({
      groups: [{ custom_id: "readers" }],
    });
  });

  it("may be written for an identity itself, and for the room", async () => {
    const { owner, room } = await setUp();
    const { token, identity } = await identify(owner, { groups: ["writers"] });
    const { socket } = await joinWith(owner.id, room.id, token);
    const path = `/rooms/${room.id}/access`;
    await owner.api.put(path, { identitiesAccesses: { [identity.id]: ["comments:read"] } });
    const permissions = ["presence", "broadcasts", "stores", "documents", "files", "streams"].map(
      (each) => `${each}:write`,
    );
    expect(await socket.nextEvent()).toMatchObject({
      event: "accessChanged",
      data: { permissions: ["*:read", ...permissions] },
    });
    const answer = await owner.api.put(path, { identitiesAccesses: { [identity.id]: ["none"] } });
    expect(answer.data).toMatchObject({ pending_rooms: 0 });
    expect(await socket.closed).toMatchObject({ code: 4403 });
    expect(await refusedJoin(owner, room, token)).toEqual(["FORBIDDEN", 4403]);
  });

  it("reaches a room whose first participant has just joined", async () => {
    const { owner, room, writers } = await setUp();
    const { token, identity } = await identify(owner, { groups: ["writers"] });
    await env.DB.prepare("UPDATE rooms SET joining_until = 0 WHERE id = ?").bind(room.id).run();
    const { socket } = await joinWith(owner.id, room.id, token);
    await env.DB.prepare("UPDATE rooms SET active_participants = 0 WHERE id = ?").bind(room.id).run();
    await leave(owner, writers, identity);
    expect(await socket.closed).toMatchObject({ code: 4403 });
  });

  it("is refused as a whole when one of the groups does not exist", async () => {
    const { owner } = await setUp();
    const body = { customId: "ben-1", name: "Ben", groups: ["writers", "nowhere"] };
    const answer = await owner.api.post("/identify", body);
    expect([answer.status, answer.error?.message]).toEqual([
      400,
      "groups: there is no group with the ID or customId nowhere",
    ]);
    expect((await owner.api.get("/identities/custom/ben-1")).status).toBe(404);
  });

  it("leaves a trace in the audit log, and a sign-in that changes nothing leaves none", async () => {
    const { owner } = await setUp();
    await identify(owner, { groups: ["writers"] });
    await identify(owner, { groups: ["writers"] });
    const { data } = await owner.api.get<{ entries: unknown[] }>("/audit?operation=identify");
    expect(data.entries).toHaveLength(1);
  });
});
