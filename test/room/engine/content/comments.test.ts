/** R42 to R46: comments, threads and reactions. */
import { expect, it } from "vitest";
import { Changes } from "../../../../src/room/engine/content/changes.ts";
import { RoomComments } from "../../../../src/room/engine/content/comments.ts";
import { RoomThreads } from "../../../../src/room/engine/content/threads.ts";
import { SqliteStorage } from "../../../../src/room/storage/storage.ts";
import { eventPorts, limits, roomPorts } from "../../support/room-ports.ts";
import { failed, roomOfTwo } from "../../support/rooms.ts";
import { withStorage } from "../../support/with-storage.ts";

/** A room of two, where `write` creates a comment of the first user. */
async function roomWithComments() {
  const room = await roomOfTwo();
  const write = async (data: object) =>
    (await room.atAda.call("COMMENT_CREATE", { text: "Hello", ...data })).data.comment as { id: string };
  return { ...room, write };
}

it("a comment starts a thread or replies in one, and everyone receives it (R32, R42)", async () => {
  const { room, ada, atAda, atBen, write } = await roomWithComments();
  const first = await write({ anchor: { x: 1 }, metadata: { bold: true }, mentions: ["u"] });
  expect(first).toEqual({
    id: first.id,
    room_id: room.id,
    user_id: ada.user.id,
    thread_id: first.id,
    text: "Hello",
    anchor: { x: 1 },
    metadata: { bold: true },
    mentions: ["u"],
    reactions: {},
    resolved: false,
    created_at: "2100-01-01T00:00:00.000Z",
    updated_at: "2100-01-01T00:00:00.000Z",
  });
  expect(await write({ threadId: first.id })).toMatchObject({ thread_id: first.id, anchor: null });
  expect(await atAda.call("COMMENT_CREATE", { text: "x", threadId: "unknown" })).toEqual(failed("NOT_FOUND"));
  expect(await atBen.takeEvents()).toMatchObject([
    { seq: 1, event: "commentCreated", data: { comment: first, by: ada.user.id } },
    { seq: 2, event: "commentCreated" },
  ]);
});

it("comments are listed oldest first, filtered by thread and by whether they are resolved (R43)", async () => {
  const { atBen, write } = await roomWithComments();
  const ids: string[] = [];
  for (const thread of [undefined, undefined, 0])
    ids.push((await write(thread === undefined ? {} : { threadId: ids[thread] })).id);
  await atBen.call("COMMENT_RESOLVE", { commentId: ids[1] });
  const list = async (data: object) => {
    const { comments, ...page } = (await atBen.call("COMMENT_LIST", data)).data;
    return [(comments as { id: string }[]).map(({ id }) => ids.indexOf(id)), page];
  };
  const whole = { limit: 50, offset: 0, next: null };
  expect(await list({})).toEqual([[0, 1, 2], { ...whole, total: 3 }]);
  expect(await list({ threadId: ids[0] })).toEqual([[0, 2], { ...whole, total: 2 }]);
  expect(await list({ resolved: false, limit: 1, offset: 1 })).toEqual([
    [2],
    { total: 2, limit: 1, offset: 1, next: null },
  ]);
  expect(await list({ resolved: true })).toEqual([[1], { ...whole, total: 1 }]);
  expect(await atBen.call("COMMENT_LIST", { limit: 101 })).toEqual(failed("VALIDATION_ERROR"));
});

it("a page of comments is followed by the next comments, also when its own are gone by then (R43)", async () => {
  const { atAda, atBen, write } = await roomWithComments();
  const ids: string[] = [];
  while (ids.length < 5) ids.push((await write({})).id);
  const list = async (data: object) => {
    const { comments, next } = (await atBen.call("COMMENT_LIST", { limit: 2, ...data })).data;
    return { shown: (comments as { id: string }[]).map(({ id }) => ids.indexOf(id)), next };
  };
  const first = await list({});
  expect(first.shown).toEqual([0, 1]);
  for (const commentId of ids.slice(0, 2)) await atAda.call("COMMENT_DELETE", { commentId });
  const second = await list({ after: first.next });
  expect(second.shown).toEqual([2, 3]);
  expect(await list({ after: second.next })).toEqual({ shown: [4], next: null });
  expect((await list({ after: first.next, offset: 1 })).shown).toEqual([3, 4]);
  expect(await atBen.call("COMMENT_LIST", { after: "x" })).toEqual(failed("VALIDATION_ERROR"));
});

it("the author edits and deletes a comment; any editor resolves it (R44)", async () => {
  const { room, ben, atAda, atBen, write } = await roomWithComments();
  const { id: commentId } = await write({ metadata: 1 });
  expect(await atBen.call("COMMENT_UPDATE", { commentId, text: "No" })).toEqual(failed("FORBIDDEN"));
  expect(await atBen.call("COMMENT_DELETE", { commentId })).toEqual(failed("FORBIDDEN"));
  await atBen.takeEvents();
  room.now += 1_000;
  await room.inside(() => undefined);
  expect((await atAda.call("COMMENT_UPDATE", { commentId, text: "New" })).data.comment).toMatchObject({
    text: "New",
    metadata: 1,
    updated_at: "2100-01-01T00:00:01.000Z",
  });
  for (const changes of [{ metadata: [2] }, { metadata: null }, { anchor: { x: 2 } }, { anchor: null }])
    await atAda.call("COMMENT_UPDATE", { commentId, ...changes });
  const at = "2100-01-01T00:00:01.000Z";
  expect((await atBen.call("COMMENT_RESOLVE", { commentId })).data.comment).toMatchObject({
    resolved: true,
    resolved_at: at,
    resolved_by: ben.user.id,
  });
  room.now += 1_000;
  await room.inside(() => undefined);
  await atAda.call("COMMENT_RESOLVE", { commentId });
  const { data } = await atAda.call("THREAD_GET", { threadId: commentId });
  expect(data.thread).toMatchObject({ resolved: true, resolved_at: at, resolved_by: ben.user.id });
  await atAda.call("COMMENT_RESOLVE", { commentId, resolved: false });
  expect((await atAda.call("COMMENT_DELETE", { commentId })).data.comment).toMatchObject({ id: commentId });
  expect(await atBen.takeEvents()).toMatchObject([
    { event: "commentUpdated", data: { comment: { text: "New", metadata: 1 } } },
    { event: "commentUpdated", data: { comment: { metadata: [2] } } },
    { event: "commentUpdated", data: { comment: expect.not.objectContaining({ metadata: null }) } },
    { event: "commentUpdated", data: { comment: { text: "New", anchor: { x: 2 } } } },
    { event: "commentUpdated", data: { comment: { anchor: null } } },
    { event: "commentUpdated", data: { comment: { resolved: true }, by: ben.user.id } },
    { event: "commentUpdated", data: { comment: { resolved: false, resolved_at: at } } },
    { event: "commentDeleted", data: { comment: { id: commentId } } },
  ]);
  for (const type of ["COMMENT_UPDATE", "COMMENT_DELETE", "COMMENT_RESOLVE", "COMMENT_REACT"])
    expect(await atAda.call(type, { commentId, text: "x", reaction: "x" })).toEqual(failed("NOT_FOUND"));
});

it("a user gives each reaction once, and can remove it (R45)", async () => {
  const { ada, ben, atAda, atBen, write } = await roomWithComments();
  const { id: commentId } = await write({});
  const react = async (socket: typeof atAda, reaction: string, on = true) =>
    ((await socket.call("COMMENT_REACT", { commentId, reaction, on })).data.comment as { reactions: object })
      .reactions;
  await react(atAda, "👍");
  await react(atAda, "👍");
  expect(await react(atBen, "👍")).toEqual({ "👍": [ada.user.id, ben.user.id] });
  expect(await react(atAda, "👍", false)).toEqual({ "👍": [ben.user.id] });
  expect(JSON.stringify(await react(atBen, "__proto__"))).toContain(`"__proto__":["${ben.user.id}"]`);
  await react(atBen, "__proto__", false);
  expect(await react(atBen, "👍", false)).toEqual({});
  expect(await react(atBen, "👍", false)).toEqual({});
  expect((await atAda.takeEvents()).at(-1)).toMatchObject({ seq: 7 });
});

it("comments have limits (R46)", async () => {
  const { room, atAda, write } = await roomWithComments();
  for (const fields of [
    { text: "" },
    { text: "x".repeat(10_001) },
    { anchor: "x".repeat(4_095) },
    { metadata: "x".repeat(32 * 1024 - 1) },
    { mentions: Array.from({ length: 51 }, () => "u") },
  ])
    expect(await atAda.call("COMMENT_CREATE", { text: "x", ...fields })).toEqual(failed("VALIDATION_ERROR"));
  const metadata = "x".repeat(32 * 1024 - 2);
  const { id: commentId } = await write({ text: "😀".repeat(10_000), anchor: "x".repeat(4_094), metadata });
  for (const field of [{ text: "" }, { anchor: "x".repeat(4_095) }, { metadata: `${metadata}x` }])
    expect(await atAda.call("COMMENT_UPDATE", { commentId, ...field })).toEqual(failed("VALIDATION_ERROR"));
  const react = (reaction: string) => atAda.call("COMMENT_REACT", { commentId, reaction });
  expect(await react("x".repeat(33))).toEqual(failed("VALIDATION_ERROR"));
  for (let index = 0; index < 20; index += 1) expect((await react(`${index}`)).success).toBe(true);
  expect(await react("another")).toEqual(failed("CONFLICT"));
  await room.inside((_, { storage }) => {
    const { comments } = new SqliteStorage(storage);
    const author = { subject: "ada", userId: null };
    for (let seq = 101; comments.totals().comments < 10_000; seq += 1) {
      const id = `${seq}`;
      comments.insert({ seq, id, threadId: id, resolved: false, comment: "{}", at: "", author });
    }
  });
  expect(await atAda.call("COMMENT_CREATE", { text: "x" })).toEqual(failed("CONFLICT"));
});

it("the comments of a room have at most 64 MiB together, and can always become smaller (R46)", async () => {
  const { room, atAda, write } = await roomWithComments();
  const { id: commentId } = await write({ text: "x".repeat(100) });
  await room.inside((_, { storage }) =>
    storage.sql.exec("UPDATE threads SET room_bytes = ?", 64 * 1024 * 1024 - 1_000).toArray(),
  );
  const update = (text: string) => atAda.call("COMMENT_UPDATE", { commentId, text });
  expect(await atAda.call("COMMENT_CREATE", { text: "x".repeat(1_000) })).toEqual(failed("CONFLICT"));
  expect(await update("x".repeat(1_101))).toEqual(failed("CONFLICT"));
  expect((await update("x".repeat(1_100))).success).toBe(true);
  expect(await atAda.call("COMMENT_REACT", { commentId, reaction: "+1" })).toEqual(failed("CONFLICT"));
  expect((await update("x")).success).toBe(true);
  expect((await atAda.call("COMMENT_REACT", { commentId, reaction: "+1" })).success).toBe(true);
});

it("an erased user's comments, mentions and reactions go, and no one catches up with what they held (R82)", async () => {
  const { room, ada, ben, atAda, atBen, write } = await roomWithComments();
  const { seq, epoch } = atBen.joined;
  const { id: own } = await write({ text: "A secret", anchor: { x: 1 }, metadata: "My secret" });
  const { data } = await atBen.call("COMMENT_CREATE", { text: "Hi", mentions: [ada.user.id] });
  const { id: other } = data.comment as { id: string };
  for (const socket of [atAda, atBen])
    await socket.call("COMMENT_REACT", { commentId: other, reaction: "👍" });
  await atBen.call("COMMENT_CREATE", { text: "Hi", threadId: own });
  for (const commentId of [own, other]) await atAda.call("COMMENT_RESOLVE", { commentId });
  await atBen.takeEvents();
  await room.apply({ type: "user.erased", userId: ada.user.id });
  expect((await atBen.takeEvents()).filter(({ event }) => event !== "userLeft")).toMatchObject([
    { event: "commentDeleted", data: { comment: { id: own, text: "", anchor: null }, by: null } },
    {
      event: "commentUpdated",
      data: {
        comment: { id: other, mentions: [], reactions: { "👍": [ben.user.id] }, resolved_by: null },
        by: null,
      },
    },
    { event: "userDeleted", data: { userId: ada.user.id } },
  ]);
  for (const threadId of [own, other]) {
    const { thread } = (await atBen.call("THREAD_GET", { threadId })).data;
    expect(thread).toMatchObject({ resolved_at: expect.any(String), resolved_by: null });
  }
  const { joined } = await room.join(ben, "editor", { since: Number(seq), epoch: String(epoch) });
  expect(joined).toMatchObject({ reset: true });
  expect(JSON.stringify(joined)).not.toContain("secret");
  await room.apply({ type: "user.erased", userId: ada.user.id });
  expect((await atBen.takeEvents()).filter(({ event }) => event === "userDeleted")).toEqual([]);
});

it("the comments of a board of the demo have less room", () =>
  withStorage(({ storage }) => {
    let commentBytes = 1_000;
    const ports = roomPorts({ storage, limits: () => limits({ commentBytes })() });
    const changes = new Changes(ports);
    const comments = new RoomComments(ports, changes, new RoomThreads(ports, changes), eventPorts(ports));
    const ada = { subject: "ada", userId: "ada" };
    const write = () =>
      comments.create({ text: "x".repeat(500), mentions: [] }, ada, { readers: [], groups: [] });
    write();
    expect(write).toThrow("The comments of this room can have at most 1000 bytes; delete some");
    commentBytes = 2_000;
    expect(write().text).toHaveLength(500);
  }));
