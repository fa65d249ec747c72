/** The limits of one room: each holds at its edge, over REST and over sockets, from the moment of its change. */
import { env } from "cloudflare:workers";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { RoomLimitsInput } from "@atrium/contract/resources/room-limits.ts";
import { beforeEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { RecordingSubscriber } from "../delivery/recording-subscriber.ts";
import { joinRoom, openSocket } from "../room/support/join.ts";
import { TestRoom } from "../room/support/rooms.ts";
import { type Account, account, makeGuest, narrowedKey } from "../support/api.ts";
import { batchesOf } from "../support/rows-read.ts";

const NONE = {
  ...{ users: null, store_bytes: null, document_bytes: null, stream_bytes: null, comment_bytes: null },
  ...{ files: null, file_bytes: null },
};

let owner: Account;

beforeEach(async () => {
  owner = await account();
});

const create = (limits: RoomLimitsInput) => owner.api.createRoom({ limits });

const update = (roomId: string, limits: unknown) =>
  owner.api.patch<{ room: Room }>(`/rooms/${roomId}`, { limits });

const limitsOf = async (roomId: string) =>
  (await owner.api.get<{ room: Room }>(`/rooms/${roomId}`)).data.room.limits;

const refusal = (limit: string, used: number, max: number, remedy: string) => ({
  ...{ module: "Rooms", code: "FORBIDDEN" },
  message: `The room's limit ${limit} has no space for this: ${used} of ${max} are used; ${remedy}, or have the limit raised`,
});

describe("limits", () => {
  it("are shown by the room, and each is changed and removed by itself", async () => {
    const { id, limits } = await create({ users: 3, storeBytes: null });
    expect(limits).toEqual({ ...NONE, users: 3 });
    expect((await update(id, { fileBytes: 7 })).data.room.limits).toEqual({
      ...NONE,
      users: 3,
      file_bytes: 7,
    });
    await Promise.all([update(id, { users: null }), update(id, { commentBytes: 5 }), update(id, {})]);
    expect(await limitsOf(id)).toEqual({ ...NONE, file_bytes: 7, comment_bytes: 5 });
    const renamed = await owner.api.patch<{ room: Room }>(`/rooms/${id}`, { name: "Review" });
    expect(renamed.data.room.limits).toEqual({ ...NONE, file_bytes: 7, comment_bytes: 5 });
    await update(id, { fileBytes: null, commentBytes: null });
    expect(await limitsOf(id)).toEqual(NONE);
    expect((await owner.api.createRoom()).limits).toEqual(NONE);
  });

  it.each([
    ["0", { users: 0 }],
    ["a part of one", { users: 1.5 }],
    ["text", { users: "5" }],
    ["an unknown name", { rooms: 5 }],
    ["no object", 5],
    ["null", null],
  ])("are refused when they have %s", async (_, limits) => {
    const room = await owner.api.createRoom();
    for (const refused of [
      await owner.api.post("/rooms", { name: "A", limits }),
      await update(room.id, limits),
    ])
      expect([refused.status, refused.error?.code, refused.error?.message]).toEqual([
        ...[400, "VALIDATION_ERROR"],
        expect.stringContaining("limits"),
      ]);
  });

  it("are in the event of their change, and an update that changes none has no event", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { events: ["room.updated"] });
    const { id } = await create({ users: 3 });
    await update(id, { users: 3, fileBytes: null });
    await update(id, { users: 4 });
    const [event] = await subscriber.receivedEvents(1);
    expect(event).toMatchObject({ room: { id, limits: { ...NONE, users: 4 } } });
  });

  it("are not set by a key that may not update rooms", async () => {
    const { id } = await owner.api.createRoom();
    const { api } = await narrowedKey(owner, { rooms: [id] });
    expect((await api.patch(`/rooms/${id}`, { limits: { users: 9 } })).status).toBe(403);
    expect(await limitsOf(id)).toEqual(NONE);
  });
});

describe("the limit of users", () => {
  const full = refusal("users", 2, 2, "delete users");
  const countOf = async (roomId: string) =>
    (await owner.api.get<{ total: number }>(`/users?roomId=${roomId}`)).data.total;

  it("refuses one more, gives the last place once, and gives a place that was left again", async () => {
    const { id: roomId } = await create({ users: 2 });
    await owner.api.createUser(roomId);
    const body = { roomId, name: "Ada" };
    const answers = await Promise.all([1, 2, 3].map(() => owner.api.post("/users", body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403]);
    for (const { status, error } of answers) if (status === 403) expect(error).toEqual(full);
    const { data } = await owner.api.get<{ users: { id: string }[] }>(`/users?roomId=${roomId}`);
    const [first] = data.users;
    expect((await owner.api.patch(`/users/${first?.id}?roomId=${roomId}`, { name: "Bo" })).status).toBe(200);
    await owner.api.delete(`/users/${first?.id}?roomId=${roomId}`);
    expect((await owner.api.post("/users", body)).status).toBe(201);
  });

  it("keeps all users above a lowered one, and holds for no other room", async () => {
    const [room, other] = [await owner.api.createRoom(), await owner.api.createRoom()];
    const users = [await owner.api.createUser(room.id), await owner.api.createUser(room.id)];
    await update(room.id, { users: 1 });
    const refused = await owner.api.post("/users", { roomId: room.id, name: "Ada" });
    expect(refused.error).toEqual(refusal("users", 2, 1, "delete users"));
    await joinRoom(owner.id, room.id, users[0]?.token ?? "");
    await owner.api.createUser(other.id);
    await update(room.id, { users: 3 });
    await owner.api.createUser(room.id);
    expect([await countOf(room.id), await countOf(other.id)]).toEqual([3, 1]);
  });

  const identify = async (customId: string) =>
    (await owner.api.post<{ token: string }>("/identify", { customId, name: "Ada" })).data.token;

  it("refuses identities and guests who come for the first time, and lets in those who have a place", async () => {
    const { id: roomId } = await create({ users: 2 });
    await owner.api.put(`/rooms/${roomId}/access`, { defaultAccesses: "editor" });
    const [ada, bo] = [await identify("ada"), await identify("bo")];
    const { guest } = await makeGuest(owner.api, roomId);
    const join = async (token: string) =>
      (await openSocket(owner.id, roomId)).request("JOIN_ROOM", { token });
    expect((await join(ada)).success).toBe(true);
    expect((await join(guest.token)).success).toBe(true);
    expect(await join(bo)).toMatchObject({ success: false, error: full });
    expect((await join(guest.token)).success).toBe(true);
    expect(await owner.api.post("/users", { roomId, name: "Cleo" })).toMatchObject({ error: full });
    await update(roomId, { users: 3 });
    expect((await join(bo)).success).toBe(true);
    expect(await countOf(roomId)).toBe(3);
  });

  it("gives the last place to one of several identities who join at once", async () => {
    const { id: roomId } = await create({ users: 2 });
    await owner.api.put(`/rooms/${roomId}/access`, { defaultAccesses: "editor" });
    const { token } = await owner.api.createUser(roomId);
    await joinRoom(owner.id, roomId, token);
    const tokens = await Promise.all(["a", "b", "c", "d"].map(identify));
    const sockets = await Promise.all(tokens.map(() => openSocket(owner.id, roomId)));
    const answers = await Promise.all(
      sockets.map((socket, index) => socket.request("JOIN_ROOM", { token: tokens[index] })),
    );
    const refused = answers.filter(({ success }) => !success);
    expect(refused).toEqual(Array(3).fill(expect.objectContaining({ success: false, error: full })));
    expect(await countOf(roomId)).toBe(2);
  });

  it("writes no row of its own, whether or not the room has it", async () => {
    const costOf = async (limits: RoomLimitsInput) => {
      const { id: roomId } = await create(limits);
      const batches = await batchesOf(() => owner.api.createUser(roomId));
      return batches.reduce((sum, { written }) => sum + written, 0);
    };
    expect(await costOf({})).toBe(await costOf({ users: 5 }));
  });
});

describe("the limit of files", () => {
  const bytesOf = (bytes: number) => new File([new Uint8Array(bytes)], "a.bin");
  const full = (used: number) => refusal("fileBytes", used, 10, "delete files");

  it("refuses users and the organization alike at its edge, and gives space that was left again", async () => {
    const { id: roomId } = await create({ fileBytes: 10 });
    const { id: userId, token } = await owner.api.createUser(roomId);
    const as = [owner.api, owner.api.as(token)] as const;
    const upload = (api: (typeof as)[number], bytes: number) =>
      api.upload({ roomId, userId }, bytesOf(bytes));
    const { data } = await upload(as[0], 6);
    for (const api of as) expect((await upload(api, 5)).error).toEqual(full(6));
    expect((await upload(as[1], 4)).status).toBe(201);
    for (const api of as) expect((await upload(api, 1)).error).toEqual(full(10));
    await owner.api.deleteFile(data.file.key);
    expect((await upload(as[1], 7)).error).toEqual(full(4));
    expect((await upload(as[1], 6)).status).toBe(201);
  });

  it("lets one of two uploads at once have the last bytes", async () => {
    const { id: roomId } = await create({ fileBytes: 10 });
    const { id: userId } = await owner.api.createUser(roomId);
    const uploads = [6, 6, 6].map((bytes) => owner.api.upload({ roomId, userId }, bytesOf(bytes)));
    const statuses = (await Promise.all(uploads)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 403, 403]);
  });

  it("refuses a large file before all of it has come, and keeps files above a lowered limit", async () => {
    const { id: roomId } = await owner.api.createRoom();
    const { id: userId } = await owner.api.createUser(roomId);
    const { data } = await owner.api.upload({ roomId, userId }, bytesOf(20));
    await update(roomId, { fileBytes: 10 });
    expect((await owner.api.upload({ roomId, userId }, bytesOf(9 * 1024 * 1024))).error).toEqual(full(20));
    expect((await owner.api.get<{ total: number }>(`/files?roomId=${roomId}`)).data.total).toBe(1);
    expect((await owner.api.deleteFile(data.file.key)).status).toBe(200);
    const left = env.DB.prepare("SELECT count(*) AS n FROM files WHERE room_id = ? AND state = 'uploading'");
    expect(await left.bind(roomId).first("n")).toBe(0);
  });

  it("counts files of no bytes as well", async () => {
    const { id: roomId } = await create({ files: 2 });
    const { id: userId, token } = await owner.api.createUser(roomId);
    for (const api of [owner.api, owner.api.as(token)])
      expect((await api.upload({ roomId, userId }, bytesOf(0))).status).toBe(201);
    const { error } = await owner.api.as(token).upload({ roomId, userId }, bytesOf(0));
    expect(error).toEqual(refusal("files", 2, 2, "delete files"));
  });

  it("does not hide that the room was deleted", async () => {
    const { id: roomId } = await owner.api.createRoom({ limits: { fileBytes: 10 } });
    const { id: userId } = await owner.api.createUser(roomId);
    await owner.api.upload({ roomId, userId }, bytesOf(10));
    // The row of a deleted room stays until what it had is removed.
    await env.DB.prepare("UPDATE rooms SET deleted_at = 1 WHERE id = ?").bind(roomId).run();
    const { status, error } = await owner.api.upload({ roomId, userId }, bytesOf(1));
    expect([status, error?.code]).toEqual([404, "NOT_FOUND"]);
  });
});

/** Content of a room over REST, and the bytes of each of its pieces. */
const CONTENT = {
  storeBytes: {
    remedy: "delete entries of stores",
    /** `"x…"` and the key `a`. */
    bytes: 100 + 3,
    write: (room: string, key: string) =>
      owner.api.put(`${room}/stores/s/${key}`, { value: "x".repeat(100) }),
    remove: (room: string, key: string) => owner.api.delete(`${room}/stores/s/${key}`),
  },
  documentBytes: {
    remedy: "delete documents",
    bytes: updateOf("x".repeat(100)).length,
    write: (room: string, key: string) =>
      owner.api.put(`${room}/documents/${key}`, { update: base64(updateOf("x".repeat(100))) }),
    remove: (room: string, key: string) => owner.api.delete(`${room}/documents/${key}`),
  },
} as const;

function updateOf(text: string): Uint8Array {
  const doc = new Y.Doc();
  doc.clientID = 1;
  doc.getText("text").insert(0, text);
  return Y.encodeStateAsUpdate(doc);
}

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

describe.each(["storeBytes", "documentBytes"] as const)("the limit of %s", (limit) => {
  const { remedy, bytes, write, remove } = CONTENT[limit];
  const errorOf = async (answer: Promise<{ error?: unknown }>) => (await answer).error ?? null;

  it("holds at its edge in a room that no one has joined, and changes at once", async () => {
    const { id } = await create({ [limit]: 2 * bytes });
    const room = `/rooms/${id}`;
    expect([await errorOf(write(room, "a")), await errorOf(write(room, "b"))]).toEqual([null, null]);
    const full = refusal(limit, 2 * bytes, 2 * bytes, remedy);
    expect(await errorOf(write(room, "c"))).toEqual(full);
    await remove(room, "a");
    expect(await errorOf(write(room, "c"))).toBeNull();
    await update(id, { [limit]: 2 * bytes - 1 });
    expect(await errorOf(write(room, "d"))).toEqual({
      ...refusal(limit, 2 * bytes, 2 * bytes - 1, remedy),
    });
    await update(id, { [limit]: 3 * bytes });
    expect(await errorOf(write(room, "d"))).toBeNull();
    await update(id, { [limit]: null });
    expect(await errorOf(write(room, "e"))).toBeNull();
  });

  it("holds after the room has restarted, also when it was changed before the first join", async () => {
    const { id } = await owner.api.createRoom();
    const [room, object] = [`/rooms/${id}`, new TestRoom(owner.id, id)];
    object.now = Date.now();
    await write(room, "a");
    await update(id, { [limit]: bytes });
    await object.crash();
    expect(await errorOf(write(room, "b"))).toEqual(refusal(limit, bytes, bytes, remedy));
    const { token } = await owner.api.createUser(id);
    await joinRoom(owner.id, id, token);
    await update(id, { [limit]: 2 * bytes });
    await object.hibernate();
    expect(await errorOf(write(room, "b"))).toBeNull();
    await object.crash();
    expect(await errorOf(write(room, "c"))).toEqual(refusal(limit, 2 * bytes, 2 * bytes, remedy));
  });
});

describe("the limits of a live room", () => {
  it("hold over sockets from the moment of their change, for one kind of content each", async () => {
    const { id: roomId } = await create({ documentBytes: 1, commentBytes: 1 });
    const { token } = await owner.api.createUser(roomId);
    const socket = await joinRoom(owner.id, roomId, token);
    const set = async (value: string) => {
      return (await socket.call("STORE_SET", { store: "s", key: "k", value })).error;
    };
    expect(await set("1234")).toBeNull();
    await update(roomId, { storeBytes: 5 });
    expect(await set("12345")).toMatchObject(refusal("storeBytes", 7, 5, "delete entries of stores"));
    expect(await set("1234")).toBeNull();
    expect(await set("123")).toBeNull();
    await update(roomId, { storeBytes: 8 });
    expect(await set("12345")).toBeNull();
  });

  it("bound comments, their edits and replies, and let them be deleted and shortened", async () => {
    const { id: roomId } = await owner.api.createRoom();
    const { id: userId } = await owner.api.createUser(roomId);
    const path = `/rooms/${roomId}/comments`;
    const post = (text: string, threadId?: string) =>
      owner.api.post<{ comment: Comment }>(path, { userId, text, ...(threadId && { threadId }) });
    const { comment } = (await post("x".repeat(500))).data;
    const { id: threadId } = comment;
    const { bytes } = await new TestRoom(owner.id, roomId).inside((_, state) =>
      state.storage.sql.exec<{ bytes: number }>("SELECT sum(length(comment)) AS bytes FROM comments").one(),
    );
    await update(roomId, { commentBytes: bytes });
    const full = refusal("commentBytes", bytes, bytes, "delete comments");
    expect((await post("One more")).error).toEqual(full);
    expect((await post("A reply", threadId)).error).toEqual(full);
    const edit = (text: string) => owner.api.patch(`${path}/${threadId}`, { text });
    expect((await edit("x".repeat(501))).error).toEqual(full);
    expect((await edit("short")).status).toBe(200);
    expect((await post("A reply", threadId)).status).toBe(201);
    await update(roomId, { commentBytes: 1 });
    expect((await owner.api.delete(`${path}/${threadId}`)).status).toBe(200);
  });
});

it("a limit that is set while the first write over REST reads the room's row holds from then on", async () => {
  const { id } = await owner.api.createRoom();
  const room = new TestRoom(owner.id, id);
  room.now = Date.now();
  const value = "x".repeat(1000);
  const operations = [{ type: "STORE_SET", store: "s", key: "a", value }];
  const batch = { type: "STORE_BATCH", requestId: "r", data: { operations, atomic: true } };
  await room.inside(async (object) => {
    const writing = object.writeStores(owner.id, null, JSON.stringify([batch]));
    const limits = JSON.stringify({ storeBytes: 10 });
    await env.DB.prepare("UPDATE rooms SET limits = ? WHERE id = ?").bind(limits, id).run();
    await object.apply(owner.id, { type: "room.updated" });
    await writing;
  });
  const later = () => owner.api.put(`/rooms/${id}/stores/s/b`, { value });
  expect((await later()).status).toBe(403);
  await room.crash();
  expect((await later()).status).toBe(403);
});
