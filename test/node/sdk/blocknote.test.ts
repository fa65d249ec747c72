/** `atrium/blocknote`: what BlockNote asks of a thread store, on the threads of a room. */

import { openThreadStore, type ThreadStoreOptions } from "atrium/blocknote";
import { Atrium, type AtriumClient } from "atrium/client";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { eventually } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { clientOf, EAGER, join, type Meeting, meet, next, nextOf } from "./clients.ts";
import { BreakableProxy } from "./proxy.ts";

const service = await sharedService();

let meeting: Meeting;
let ada: AtriumClient;
let bo: AtriumClient;

beforeEach(async () => {
  meeting = await meet(service);
  ada = await join(meeting, "Ada");
  bo = await join(meeting, "Bo");
  await eventually("Ada to see Bo", () => ada.users.online.size === 2);
});

type Client = Parameters<typeof openThreadStore>[0];

async function openStore(client: Client, name = "plan", options?: ThreadStoreOptions) {
  const store = await openThreadStore(client, name, options);
  onTestFinished(() => store.destroy());
  return store;
}

const write = (text: string, styles: object = {}) => ({ type: "text", text, styles });
const paragraph = (...content: readonly object[]) => ({ type: "paragraph", content, children: [] });
const bodyWith = (text: string) => [paragraph(write(text))];
const start = (body: unknown, metadata?: unknown) => ({ initialComment: { body, metadata } });

it("threads are written as text with blocks beside it, and each change reaches the stores of others", async () => {
  const atBo = await openStore(bo);
  const heard: number[] = [];
  onTestFinished(atBo.subscribe((threads) => heard.push(threads.size)));
  const store = await openStore(ada);
  const body = [
    paragraph(write("Ask ", { bold: true }), { type: "mention", props: { user: bo.userId } }, write(".")),
    {
      ...paragraph({ type: "link", href: "https://a.test", content: [write("here")] }),
      children: bodyWith("b"),
    },
  ];
  const { id: threadId, ...thread } = await store.createThread({
    ...start(body, { tone: 1 }),
    metadata: { color: "red" },
  });
  const [first] = thread.comments;
  expect(first).toMatchObject({
    id: threadId,
    userId: ada.userId,
    body,
    metadata: { tone: 1 },
    reactions: [],
  });
  expect(thread).toMatchObject({ resolved: false, metadata: { color: "red" } });
  const stored = (await bo.comments.list()).comments[0];
  expect(stored).toMatchObject({
    text: "Ask @Bo.\nhere (https://a.test)\nb",
    anchor: { document: "plan" },
    mentions: [bo.userId],
  });
  const at = { threadId, commentId: threadId };
  await eventually("the thread at Bo's", () => atBo.getThreads().has(threadId));
  expect(atBo.getThread(threadId)).toEqual(store.getThread(threadId));

  const reply = await atBo.addComment({ threadId, comment: { body: bodyWith("Gladly") } });
  await atBo.addReaction({ ...at, emoji: "👍" });
  await store.updateComment({ ...at, comment: { body: bodyWith("Ask Bo") } });
  expect((await bo.comments.list()).comments[0]).toMatchObject({ text: "Ask Bo", mentions: [] });
  await atBo.resolveThread({ threadId });
  await eventually("all of it at Ada's", () => store.getThread(threadId).resolved);
  const { resolved_at } = await bo.comments.thread({ threadId });
  expect(store.getThread(threadId).resolvedUpdatedAt?.toISOString()).toBe(resolved_at);
  const [changed, second] = store.getThread(threadId).comments;
  expect(second).toMatchObject({ id: reply.id, userId: bo.userId, body: bodyWith("Gladly") });
  expect(changed).toMatchObject({
    body: bodyWith("Ask Bo"),
    metadata: { tone: 1 },
    reactions: [{ emoji: "👍", userIds: [bo.userId] }],
  });
  await store.unresolveThread({ threadId });
  await atBo.deleteReaction({ ...at, emoji: "👍" });
  await atBo.deleteComment({ threadId, commentId: reply.id });
  await eventually("the end of it", () => store.getThread(threadId).comments.length === 1);
  expect(store.getThread(threadId)).toMatchObject({
    resolved: false,
    metadata: { color: "red" },
    comments: [{ reactions: [] }],
  });
  await store.deleteThread({ threadId });
  expect(() => store.getThread(threadId)).toThrow("Thread not found");
  await eventually("the deletion at Bo's", () => heard.at(-1) === 0);
});

it("shows what other clients write or change, and keeps the documents of a room apart", async () => {
  const { id: other } = await bo.comments.create({ text: "About the room" });
  const { id: threadId } = await bo.comments.create({
    text: "One\nsee https://a.test",
    anchor: { document: "plan" },
  });
  const store = await openStore(ada);
  const notes = await openStore(ada, "notes");
  expect([[...store.getThreads().keys()], notes.getThreads().size]).toEqual([[threadId], 0]);
  const link = { type: "link", href: "https://a.test", content: "https://a.test" };
  expect(store.getThread(threadId).comments[0]?.body).toEqual([
    { type: "paragraph", content: [write("One")] },
    { type: "paragraph", content: [write("see "), link] },
  ]);
  for (const id of [other, "none"]) {
    const comment = { body: "x" };
    await expect(store.addComment({ threadId: id, comment })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(store.resolveThread({ threadId: id })).rejects.toThrow("Thread not found");
  }
  await expect(store.deleteComment({ threadId, commentId: other })).rejects.toThrow("Comment not found");

  const own = await notes.createThread(start(bodyWith("Bold")));
  const before = notes.getThread(own.id);
  await ada.comments.update({ commentId: own.id, text: "Plain" });
  expect(notes.getThread(own.id).comments[0]?.body).toEqual([
    { type: "paragraph", content: [write("Plain")] },
  ]);
  const another = await notes.createThread(start("Another"));
  expect([before.comments[0]?.body, another.comments[0]?.body]).toEqual([bodyWith("Bold"), "Another"]);
  await expect(notes.createThread(start([]))).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});

it("users do what the permissions of the room allow, and are shown by their names", async () => {
  const store = await openStore(ada);
  const { id: threadId, comments } = await store.createThread(start("Hello"));
  const atBo = await openStore(bo);
  const answer = await atBo.addComment({ threadId, comment: { body: "Hi" } });
  await eventually("the answer", () => store.getThread(threadId).comments.length === 2);
  const thread = store.getThread(threadId);
  const [first] = comments;
  if (first === undefined) throw new Error("The thread has no comment");
  const rightsOf = ({ auth }: typeof store) => [
    [auth.canCreateThread(), auth.canAddComment(thread), auth.canResolveThread(thread)],
    [auth.canUpdateComment(first), auth.canDeleteComment(first), auth.canDeleteThread(thread)],
    [auth.canUpdateComment(answer), auth.canDeleteComment(answer), auth.canUnresolveThread(thread)],
    [auth.canAddReaction(first), auth.canAddReaction(first, "👍"), auth.canDeleteReaction(first, "👍")],
  ];
  const [all, none] = [
    [true, true, true],
    [false, false, false],
  ];
  const reactions = [true, true, false];
  expect(rightsOf(store)).toEqual([all, [true, false, false], [false, false, true], reactions]);
  expect(rightsOf(atBo)).toEqual([all, none, all, reactions]);
  await expect(store.deleteThread({ threadId })).rejects.toMatchObject({ code: "FORBIDDEN" });

  const viewer = clientOf(await meeting.customer.createUser(meeting.roomId, "Cy"), {
    serverUrl: service.url,
  });
  await viewer.join({ role: "viewer" });
  const atViewer = await openStore(viewer);
  expect(rightsOf(atViewer)).toEqual([none, none, none, none]);
  expect(atViewer.getThread(threadId)).toEqual(thread);

  const body = { name: "Di", customId: meeting.roomId };
  const { data } = await meeting.customer.send<{ identity: { id: string }; token: string }>(
    "POST",
    "/identify",
    body,
  );
  const permissions = ["*:read", "comments:write"];
  const access = { identitiesAccesses: { [data.identity.id]: permissions } };
  await meeting.customer.send("PUT", `/rooms/${meeting.roomId}/access`, access);
  const atrium = new Atrium({ serverUrl: service.url, authToken: data.token }, EAGER);
  const di = atrium.enterRoom(meeting.roomId);
  onTestFinished(() => di.disconnect());
  await di.join();
  const commenter = await openStore(di);
  expect(rightsOf(commenter)[0]).toEqual([false, true, true]);
  await expect(commenter.createThread(start("Hi"))).rejects.toMatchObject({ code: "FORBIDDEN" });
  const marked: unknown[] = [];
  const addThreadToDocument = async (options: object) => void marked.push(options);
  const assisted = await openStore(di, "plan", { addThreadToDocument });
  const { id } = await assisted.createThread(start("Hi"));
  expect([assisted.getThreads().size, commenter.getThread(id).comments[0]?.userId]).toEqual([2, di.userId]);
  expect(await store.resolveUsers([bo.userId, "gone"])).toEqual([
    { id: bo.userId, username: "Bo", avatarUrl: "" },
    { id: "gone", username: "Deleted user", avatarUrl: "" },
  ]);
});

it("a store opened before the room is joined waits for its comments, and has those of a long absence", async () => {
  const { id: early } = await ada.comments.create({ text: "Early", anchor: { document: "plan" } });
  const proxy = await BreakableProxy.before(service);
  onTestFinished(() => proxy.close());
  const late = clientOf(await meeting.customer.createUser(meeting.roomId, "Late"), { serverUrl: proxy.url });
  const opening = openStore(late);
  await late.join();
  const store = await opening;
  expect([...store.getThreads().keys()]).toEqual([early]);
  const { id: later } = await ada.comments.create({ text: "Later", anchor: { document: "plan" } });
  await eventually("the later thread", () => store.getThreads().size === 2);

  const lost = nextOf(late, "reconnecting");
  proxy.shut();
  await lost;
  await ada.comments.delete({ commentId: early });
  await ada.comments.update({ commentId: later, text: "Changed" });
  // More than the 1 MiB of changes that the room replays.
  for (let key = 0; key < 20; key += 1) await ada.store("ballast").set(`${key}`, "a".repeat(60_000));
  const missed = next("comments were missed", (heard: (none: undefined) => void) =>
    late.comments.on("missed", heard),
  );
  proxy.open();
  await missed;
  await eventually("what was missed", () => store.getThreads().size === 1);
  expect(store.getThread(later).comments[0]?.body).toEqual([
    { type: "paragraph", content: [write("Changed")] },
  ]);
});
