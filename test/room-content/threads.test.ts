/** Threads over REST, and the updates of rooms on their way to inboxes. */
import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { Identity } from "@atrium/contract/resources/identity.ts";
import type { Thread, ThreadParticipant } from "@atrium/contract/resources/thread.ts";
import { describe, expect, it, vi } from "vitest";
import { openInbox, shardName } from "../../src/delivery/inboxes.ts";
import { fanOutInboxUpdates, type UpdatePage } from "../../src/features/inbox/fan-out.ts";
import type { InboxObjectBase } from "../../src/features/inbox/shard/inbox-object.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import { newCallBudget } from "../../src/platform/flow/work-budget.ts";
import type { InboxUpdate } from "../../src/room/types/inbox-updates.ts";
import { PAGE } from "../inbox/support.ts";
import { joinWith } from "../room/support/join.ts";
import type { TestSocket } from "../room/support/test-socket.ts";
import { type Account, account, refusalOf } from "../support/api.ts";
import { countLogged, expectLogged } from "../support/log-guard.ts";

interface Item {
  readonly subject_id: string;
  readonly unread: boolean;
}

/** A room whose access names some identities: a writer, a reader, and one without access. */
async function setUp() {
  const owner = await account();
  const room = await owner.api.createRoom();
  const identify = async (name: string) => {
    const { data } = await owner.api.post<{ identity: Identity; token: string }>("/identify", {
      customId: name,
      name,
    });
    return { ...data, id: data.identity.id };
  };
  const [ada, ben, cleo] = [await identify("Ada"), await identify("Ben"), await identify("Cleo")];
  const allow = (id: string, permissions: string[] | null) =>
    owner.api.put(`/rooms/${room.id}/access`, { identitiesAccesses: { [id]: permissions } });
  await allow(ada.id, ["*:write"]);
  await allow(ben.id, ["*:read"]);
  const at = `/rooms/${room.id}/threads`;
  const { socket } = await joinWith(owner.id, room.id, ada.token);
  const write = async (data: object = {}) =>
    (await socket.call("COMMENT_CREATE", { text: "Hello", ...data })).data as {
      comment: Comment;
      unnotified?: string[];
    };
  return { owner, room, ada, ben, cleo, allow, at, socket, write };
}

const openInboxOf = openInbox<InboxObjectBase>(env);
const inbox = async ({ id: accountId }: Account, id: string): Promise<readonly Item[]> =>
  (await openInboxOf(accountId, id).list({ identityId: id }, PAGE))?.notifications ?? [];

/** Resolves once the inbox has these threads. */
const inboxHas = (owner: Account, id: string, items: readonly Partial<Item>[]) =>
  vi.waitFor(async () => expect(await inbox(owner, id)).toMatchObject(items), { timeout: 20_000 });

const mentionOf = (id: string, kind = "user") => ({ kind, id });

describe("mentions (R91)", () => {
  it("reach the inboxes of those who may read the room, and the answer names the others", async () => {
    const { owner, ada, ben, cleo, write } = await setUp();
    const mentions = [mentionOf(ben.id), mentionOf(cleo.id), "no user", mentionOf("no group", "group")];
    const { comment, unnotified } = await write({ mentions });
    expect(unnotified).toEqual(["no user", cleo.id, "no group"]);
    expect(comment).toMatchObject({
      mentions: ["no user"],
      mentioned: mentions.filter((each) => typeof each === "object"),
    });
    await inboxHas(owner, ben.id, [{ subject_id: comment.thread_id, unread: true }]);
    expect(await inbox(owner, cleo.id)).toEqual([]);
    expect(await inbox(owner, ada.id)).toEqual([]);
  });

  it("of a group reach its members who may read the room, and not the author", async () => {
    const { owner, ada, ben, cleo, write } = await setUp();
    const { data } = await owner.api.post<{ group: { id: string } }>("/groups", { name: "Team" });
    for (const { id } of [ada, ben, cleo]) await owner.api.put(`/groups/${data.group.id}/members/${id}`, {});
    const { comment } = await write({ mentions: [mentionOf(data.group.id, "group")] });
    await inboxHas(owner, ben.id, [{ subject_id: comment.thread_id, unread: true }]);
    expect([await inbox(owner, ada.id), await inbox(owner, cleo.id)]).toEqual([[], []]);
  });

  it("over REST name the unnotified as well, and a repeated request writes no second comment", async () => {
    const { owner, room, ben, cleo, allow } = await setUp();
    const userOf = async (user: object) =>
      (await owner.api.post<{ user: { id: string } }>("/users", { roomId: room.id, ...user })).data.user.id;
    const userId = await userOf({ name: "Dan" });
    const userOfCleo = await userOf({ name: "Cleo", identityId: cleo.id });
    const mentions = [mentionOf(ben.id), mentionOf(cleo.id), userId, userOfCleo];
    const body = { userId, text: "Hi", mentions };
    const headers = { "Idempotency-Key": "once" };
    const post = () => owner.api.post<{ comment: Comment }>(`/rooms/${room.id}/comments`, body, { headers });
    const first = await post();
    expect(first.data).toMatchObject({ unnotified: [userOfCleo, cleo.id] });
    await allow(cleo.id, ["*:read"]);
    expect((await post()).data.comment.id).toBe(first.data.comment.id);
    await inboxHas(owner, ben.id, [{ subject_id: first.data.comment.id, unread: true }]);
    expect(await inbox(owner, cleo.id)).toEqual([]);
  });
});

it("an edit notifies those whom it mentions besides, and a deleted comment leaves inboxes (R91)", async () => {
  const { owner, room, ben, cleo, socket, write } = await setUp();
  const { comment } = await write();
  const { comment: reply } = await write({ threadId: comment.id, mentions: [mentionOf(ben.id)] });
  await inboxHas(owner, ben.id, [{ subject_id: comment.id, unread: true }]);
  const mentions = [mentionOf(ben.id), mentionOf(cleo.id)];
  const edited = await socket.call("COMMENT_UPDATE", { commentId: comment.id, text: "Hi", mentions });
  expect(edited.data).toMatchObject({ comment: { text: "Hi", mentioned: mentions }, unnotified: [cleo.id] });
  const activitiesOf = async () =>
    (await openInboxOf(owner.id, ben.id).list({ identityId: ben.id }, PAGE))?.notifications.flatMap((item) =>
      item.activities.map(({ id }) => id),
    );
  await vi.waitFor(async () => expect(await activitiesOf()).toEqual([comment.id, reply.id]), 20_000);
  await owner.api.delete(`/rooms/${room.id}/comments/${comment.id}`);
  await vi.waitFor(async () => expect(await activitiesOf()).toEqual([reply.id]), 20_000);
  const at = `/rooms/${room.id}/comments/${reply.id}`;
  const { data } = await owner.api.patch(at, { mentions: [mentionOf(cleo.id)] });
  expect(data).toMatchObject({ comment: { mentioned: [mentionOf(cleo.id)] }, unnotified: [cleo.id] });
  await socket.call("COMMENT_DELETE", { commentId: reply.id });
  await inboxHas(owner, ben.id, []);
});

describe("a mention of someone in another form (R91)", () => {
  /** Ben is in two groups. Cleo, whom a last edit mentions, shows that the others have reached the inboxes. */
  async function setUpForms() {
    const room = await setUp();
    const { owner, ada, ben, cleo, allow, socket } = room;
    await allow(cleo.id, ["*:read"]);
    const makeGroup = async () => {
      const { data } = await owner.api.post<{ group: { id: string } }>("/groups", { name: "Team" });
      for (const { id } of [ada, ben]) await owner.api.put(`/groups/${data.group.id}/members/${id}`, {});
      return mentionOf(data.group.id, "group");
    };
    const forms = { name: mentionOf(ben.id), first: await makeGroup(), second: await makeGroup() };
    const item = async () => (await inbox(owner, ben.id))[0];
    const edit = (commentId: string, ...mentions: object[]) =>
      socket.call("COMMENT_UPDATE", { commentId, mentions });
    const settle = async ({ id, thread_id }: Comment) => {
      await edit(id, mentionOf(cleo.id));
      await inboxHas(owner, cleo.id, [{ subject_id: thread_id, unread: true }]);
    };
    const readAll = () => openInboxOf(owner.id, ben.id).markAll({ identityId: ben.id });
    return { ...room, forms, item, edit, settle, readAll };
  }

  it.each([
    ["name", "first", "second"],
    ["first", "name", "second"],
    ["first", "second", "name"],
  ] as const)("notifies once: %s, %s, %s", async (created, edited, again) => {
    const { owner, ben, forms, item, edit, settle, readAll, write } = await setUpForms();
    const { comment } = await write({ mentions: [forms[created]] });
    await inboxHas(owner, ben.id, [{ subject_id: comment.id, unread: true }]);
    await readAll();
    for (const form of [edited, again]) await edit(comment.id, forms[form]);
    await settle(comment);
    expect(await item()).toMatchObject({ unread: false });
  });

  it("notifies a subscriber once, and neither after a deletion nor after a change of groups", async () => {
    const { owner, ben, forms, item, edit, settle, write } = await setUpForms();
    const { comment } = await write({ mentions: [forms.name] });
    await inboxHas(owner, ben.id, [{ subject_id: comment.id }]);
    const { comment: reply } = await write({ threadId: comment.id, mentions: [forms.first] });
    const { comment: plain } = await write({ threadId: comment.id });
    const all = [{ activities: [plain, reply, comment].map(({ id }) => ({ id })) }];
    await vi.waitFor(async () => expect(await inbox(owner, ben.id)).toMatchObject(all), 20_000);
    await openInboxOf(owner.id, ben.id).deleteAll({ identityId: ben.id });
    await owner.api.delete(`/groups/${forms.first.id}/members/${ben.id}`);
    await edit(reply.id, forms.name);
    await edit(comment.id, forms.second);
    await settle(comment);
    expect(await item()).toBe(undefined);
    // The third comment notified Ben as any reply does, and not of a mention.
    await edit(plain.id, forms.second);
    const once = [{ unread: true, activities: [{ id: plain.id }] }];
    await vi.waitFor(async () => expect(await inbox(owner, ben.id)).toMatchObject(once), 20_000);
  });
});

it("a mention in a document reaches an inbox once, and leaves it when it is taken out of the text (R91)", async () => {
  const { owner, room, ben, cleo, allow, socket } = await setUp();
  const mention = { mentionId: "m1", userId: ben.id, document: "notes" };
  for (let times = 0; times < 2; times += 1)
    expect((await socket.call("TEXT_MENTION_CREATE", mention)).data).toEqual({});
  const at = (id: string, mentionId: string) => `/rooms/${room.id}/users/${id}/text-mentions/${mentionId}`;
  expect((await owner.api.put(at(cleo.id, "m2"), {})).data).toEqual({ unnotified: [cleo.id] });
  for (const call of [
    owner.api.put(at(ben.id, "m".repeat(256)), {}),
    owner.api.delete(at(ben.id, "m".repeat(256))),
  ])
    expect(await call).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR", message: "mentionId: must have 1 to 255 characters" },
    });
  await owner.api.put(at(ben.id, "m2"), {});
  const found = await vi.waitFor(async () => {
    const page = await openInboxOf(owner.id, ben.id).list({ identityId: ben.id }, PAGE);
    expect(page?.notifications).toHaveLength(2);
    return page?.notifications.toReversed();
  }, 20_000);
  expect(found).toMatchObject([
    { kind: "textMention", subject_id: "m1", activities: [{ seq: 1, data: { document: "notes" } }] },
    { kind: "textMention", subject_id: "m2", activities: [{ created_by: null, data: {} }] },
  ]);
  await socket.call("TEXT_MENTION_DELETE", mention);
  await owner.api.delete(at(ben.id, "m2"));
  await inboxHas(owner, ben.id, []);
  await owner.api.patch(`/rooms/${room.id}/users/${ben.id}/subscription-settings`, { textMentions: "none" });
  await owner.api.put(at(ben.id, "m3"), {});
  await allow(cleo.id, ["*:read"]);
  await owner.api.put(at(cleo.id, "m4"), {});
  await inboxHas(owner, cleo.id, [{ subject_id: "m4", unread: true }]);
  expect(await inbox(owner, ben.id)).toEqual([]);
  const { socket: reader } = await joinWith(owner.id, room.id, ben.token);
  for (const type of ["TEXT_MENTION_CREATE", "TEXT_MENTION_DELETE"])
    expect(await reader.call(type, mention)).toMatchObject({ success: false, error: { code: "FORBIDDEN" } });
});

it("a deletion reaches those who have left a mentioned group, and members of one that was deleted (R91)", async () => {
  const { owner, room, ada, ben, cleo, allow, at, socket, write } = await setUp();
  await allow(cleo.id, ["*:read"]);
  const group = async (memberId: string) => {
    const { data } = await owner.api.post<{ group: { id: string } }>("/groups", { name: "Team" });
    await owner.api.put(`/groups/${data.group.id}/members/${memberId}`, {});
    return data.group.id;
  };
  const [left, deleted] = [await group(ben.id), await group(cleo.id)];
  const { comment } = await write();
  const mentions = [mentionOf(left, "group"), mentionOf(deleted, "group")];
  const { comment: reply } = await write({ threadId: comment.id, mentions });
  const { comment: other } = await write({ mentions });
  for (const { id } of [ben, cleo])
    await inboxHas(owner, id, [{ subject_id: other.id }, { subject_id: comment.id }]);
  await owner.api.delete(`/groups/${left}/members/${ben.id}`);
  await owner.api.delete(`/groups/${deleted}`);
  await socket.call("COMMENT_DELETE", { commentId: reply.id });
  for (const { id } of [ben, cleo]) await inboxHas(owner, id, [{ subject_id: other.id }]);
  await allow(ben.id, null);
  await owner.api.delete(`${at}/${other.id}`);
  await inboxHas(owner, cleo.id, []);
  await allow(ben.id, ["*:read"]);
  expect(await inbox(owner, ben.id)).toEqual([]);
  expect(await inbox(owner, ada.id)).toEqual([]);
  const known = await runInDurableObject(env.ROOMS.getByName(room.id), (_, { storage }) =>
    storage.sql.exec("SELECT thread_id FROM notified_threads").toArray(),
  );
  expect(known).toEqual([{ thread_id: comment.id }]);
});

it("a mention that is taken out of a document leaves the inbox of a reader without access, too (R91)", async () => {
  const { owner, room, ben, allow, socket } = await setUp();
  const user = { name: "Ben", roomId: room.id, identityId: ben.id };
  const { data } = await owner.api.post<{ user: { id: string } }>("/users", user);
  const mentions = [ben.id, data.user.id].map((userId, number) => ({ mentionId: `m${number}`, userId }));
  for (const mention of mentions) await socket.call("TEXT_MENTION_CREATE", mention);
  await inboxHas(owner, ben.id, [{ subject_id: "m1" }, { subject_id: "m0" }]);
  await allow(ben.id, null);
  for (const mention of mentions) await socket.call("TEXT_MENTION_DELETE", mention);
  await vi.waitFor(async () => {
    const { notifications } = await openInboxOf(owner.id, ben.id).export(ben.id, PAGE);
    expect(notifications).toEqual([]);
  }, 20_000);
});

it("a thread that is read in the room is read in the inbox, and one that is deleted leaves it", async () => {
  const { owner, ben, at, write } = await setUp();
  const { comment } = await write({ mentions: [mentionOf(ben.id)] });
  const thread = `${at}/${comment.id}`;
  await inboxHas(owner, ben.id, [{ subject_id: comment.id, unread: true }]);
  const read = await owner.api.post<{ thread: Thread }>(`${thread}/mark-as-read`, { userId: ben.id });
  expect(read.data.thread).toMatchObject({ read_seq: 1, unread_count: 0 });
  await inboxHas(owner, ben.id, [{ subject_id: comment.id, unread: false }]);
  await owner.api.delete(thread);
  await inboxHas(owner, ben.id, []);
  expect(refusalOf(await owner.api.get(thread))).toEqual([404, "Rooms", "NOT_FOUND"]);
});

it("the organization lists threads for a reader, resolves them, and subscribes readers", async () => {
  const { owner, room, ada, ben, at, write } = await setUp();
  const [{ comment: first }, { comment: other }] = [
    await write(),
    await write({ mentions: [mentionOf(ben.id)] }),
  ];
  const list = async (query: string) => {
    const { data } = await owner.api.get<{ threads: Thread[]; total: number; cursor: string | null }>(
      `${at}?${query}`,
    );
    return [data.threads.map(({ id }) => id), data.total, data.cursor] as const;
  };
  expect(await list("")).toEqual([[other.id, first.id], 2, null]);
  const [page, total, cursor] = await list("limit=1");
  expect([page, total]).toEqual([[other.id], 2]);
  expect(await list(`limit=1&after=${cursor}`)).toEqual([[first.id], 2, null]);
  expect(await list(`userId=${ben.id}&subscribed=true`)).toEqual([[other.id], 1, null]);
  for (const filter of ["unread", "subscribed"]) {
    const refused = await owner.api.get(`${at}?${filter}=false&resolved=true`);
    expect(refusalOf(refused)).toEqual([400, "Rooms", "BAD_REQUEST"]);
    expect(refused.error?.message).toBe(`${filter}: is known of a reader only; send userId as well`);
  }
  const act = (action: string, id: string) =>
    owner.api.post<{ thread: Thread }>(`${at}/${first.id}/${action}`, { userId: id });
  expect((await act("subscribe", ben.id)).data.thread).toMatchObject({ subscribed: true, unread_count: 1 });
  expect((await act("unsubscribe", ada.id)).data.thread).toMatchObject({ subscribed: false });
  const resolved = await owner.api.patch<{ thread: Thread }>(`${at}/${first.id}`, { resolved: true });
  expect(resolved.data.thread).toMatchObject({ id: first.id, resolved: true });
  expect(await list("resolved=true")).toEqual([[first.id], 1, null]);
  const { data } = await owner.api.get<{ participants: ThreadParticipant[] }>(
    `${at}/${other.id}/participants`,
  );
  expect(
    data.participants.toSorted((a, b) => Number(a.user_id === null) - Number(b.user_id === null)),
  ).toEqual([
    { user_id: other.user_id, identity_id: ada.id },
    { user_id: null, identity_id: ben.id },
  ]);
  const settings = `/rooms/${room.id}/users/${ben.id}/subscription-settings`;
  expect((await owner.api.patch(settings, { threads: "all" })).data).toEqual({
    settings: { threads: "all", textMentions: "mine" },
  });
  expect((await owner.api.get(settings)).data).toMatchObject({ settings: { threads: "all" } });
  expect(refusalOf(await act("subscribe", crypto.randomUUID()))).toEqual([404, "Users", "NOT_FOUND"]);
  expect(refusalOf(await owner.api.patch(settings, { threads: "some" }))).toEqual([
    400,
    "Rooms",
    "VALIDATION_ERROR",
  ]);
});

it("all sockets of a reader learn what it has read and is notified of, and others do not (R93)", async () => {
  const { owner, room, ada, ben, at, socket: writer, write } = await setUp();
  const { comment } = await write();
  const { socket: tab } = await joinWith(owner.id, room.id, ben.token);
  const { socket: phone } = await joinWith(owner.id, room.id, ben.token);
  const { socket: other } = await joinWith(owner.id, room.id, ada.token);
  for (const socket of [tab, phone, other, writer]) await socket.call("THREAD_GET", { threadId: comment.id });
  const told = async (socket: TestSocket) => {
    await socket.call("STORE_GET", { store: "none", key: "none" }); // earlier messages have arrived
    return socket.events
      .splice(0)
      .flatMap((event) => (/^(thread|settings)/.test(event.event) ? [event.data] : []));
  };
  await Promise.all([tab, phone, other, writer].map(told));
  const changes = [
    async () => (await tab.call("THREAD_READ", { threadId: comment.id })).data,
    async () => (await phone.call("THREAD_SUBSCRIBE", { threadId: comment.id, on: true })).data,
    async () => (await tab.call("SUBSCRIPTION_SETTINGS", { threads: "none" })).data,
    async () =>
      (await owner.api.post<{ thread: Thread }>(`${at}/${comment.id}/mark-as-read`, { userId: ben.id })).data,
  ];
  for (const change of changes) {
    const data = await change();
    expect([await told(tab), await told(phone)]).toEqual([[data], [data]]);
  }
  await tab.call("SUBSCRIPTION_SETTINGS", {});
  expect(await Promise.all([tab, phone, other, writer].map(told))).toEqual([[], [], [], []]);
});

it("a mention of a group that an edit adds is read with the thread by a reader at its end, or by a reply (R93)", async () => {
  const { owner, ben, cleo, allow, at, socket, write } = await setUp();
  await allow(cleo.id, ["*:write"]);
  const { data } = await owner.api.post<{ group: { id: string } }>("/groups", { name: "Team" });
  for (const { id } of [ben, cleo]) await owner.api.put(`/groups/${data.group.id}/members/${id}`, {});
  const { comment } = await write();
  const read = (userId: string) => owner.api.post(`${at}/${comment.id}/mark-as-read`, { userId });
  for (const { id } of [ben, cleo]) await read(id);
  await socket.call("COMMENT_UPDATE", {
    ...{ commentId: comment.id, mentions: [mentionOf(data.group.id, "group")] },
  });
  for (const { id } of [ben, cleo]) await inboxHas(owner, id, [{ subject_id: comment.id, unread: true }]);
  await read(ben.id);
  await inboxHas(owner, ben.id, [{ subject_id: comment.id, unread: false }]);
  const { socket: replying } = await joinWith(owner.id, comment.room_id, cleo.token);
  await replying.call("COMMENT_CREATE", { text: "Yes", threadId: comment.id });
  await inboxHas(owner, cleo.id, [{ subject_id: comment.id, unread: false }]);
});

it("an identity that loses access before an update is passed on is not notified", async () => {
  const { owner, room, ben, allow, write } = await setUp();
  await allow(ben.id, null);
  const { comment } = await write();
  const page: UpdatePage = {
    id: crypto.randomUUID(),
    roomId: room.id,
    update: { ...UPDATE, at: Date.now(), threadId: comment.id, commentId: comment.id, to: [ben.id] },
    subjects: [ben.id],
  };
  await exports.InboxFanOut.deliver(owner.id, page);
  await allow(ben.id, ["*:read"]);
  expect(await inbox(owner, ben.id)).toEqual([]);
  await exports.InboxFanOut.deliver(owner.id, page);
  await exports.InboxFanOut.deliver(owner.id, page);
  expect(await inbox(owner, ben.id)).toMatchObject([{ subject_id: comment.id, unread: true }]);
});

const UPDATE = {
  type: "comment",
  threadId: "thread",
  commentId: "comment",
  seq: 1,
  at: 0,
  by: "author",
  groups: [],
  except: [],
} as const;

it("a defect behind an update that is retried stands in the log with its cause, and the update arrives once it is mended", async () => {
  const { owner, ben, write } = await setUp();
  const shard = env.INBOXES.getByName(shardName(owner.id, ben.id));
  const setClock = (clock: () => number) =>
    runInDurableObject(shard, (object: InboxObjectBase) => {
      object.clock = clock;
    });
  await setClock(() => {
    throw new TypeError("time.now is not a function");
  });
  const { comment } = await write({ mentions: [mentionOf(ben.id)] });
  const entry = "Updates of a room could not be passed to inboxes yet: time.now is not a function";
  await vi.waitFor(() => expect(countLogged(entry)).toBeGreaterThan(1), { timeout: 20_000 });
  await setClock(Date.now);
  await inboxHas(owner, ben.id, [{ subject_id: comment.thread_id, unread: true }]);
  expectLogged(entry);
});

/** A group of an organization with new identities of these IDs. */
async function groupOf(owner: Account, memberIds: readonly string[]): Promise<string> {
  const { data } = await owner.api.post<{ group: { id: string } }>("/groups", { name: "Crowd" });
  await env.DB.prepare(
    `INSERT INTO identities (account_id, id, name, name_folded, kind, created_at)
     SELECT ?, value, value, upper(value), 'user', 0 FROM json_each(?)`,
  )
    .bind(owner.id, JSON.stringify(memberIds))
    .run();
  await env.DB.prepare(
    "INSERT INTO group_members (account_id, group_id, identity_id, added_at) SELECT ?, ?, value, 0 FROM json_each(?)",
  )
    .bind(owner.id, data.group.id, JSON.stringify(memberIds))
    .run();
  return data.group.id;
}

it("an update goes to a thousand at a time, and goes on where it was interrupted", async () => {
  const owner = await account();
  const members = Array.from({ length: 2_300 }, (_, number) => `member ${String(number).padStart(4, "0")}`);
  const group = await groupOf(owner, members);
  const named = Array.from({ length: 1_200 }, (_, number) => `named ${number}`);
  const after = named.at(-1) ?? "";
  const update: InboxUpdate = { ...UPDATE, to: named, after, groups: [group], except: ["member 0001"] };
  const further = Array.from({ length: 1_100 }, (_, number) => `subscriber ${number}`);
  const shards = new Set<string>();
  const threads = {
    subscribers: (_: string, behind: string, limit: number) => {
      const from = behind === after ? 0 : further.indexOf(behind) + 1;
      return further.slice(from, from + limit);
    },
    willing: (_: string, ids: readonly string[]) => ids.filter((id) => id !== "member 0002"),
    shardsOf: () => null,
    addShards: (_: string, subjects: readonly string[]) => {
      for (const subject of subjects) shards.add(subject.slice(0, 2));
    },
  };
  const given: string[][] = [];
  let failures = 1;
  const run = (pending: string | null) =>
    fanOutInboxUpdates(
      openTenant(env, owner.id),
      "room",
      threads,
      [{ seq: 1, id: "update", body: JSON.stringify(update), pending }],
      newCallBudget("paid").calls,
      async ({ subjects }) => {
        if (given.length === 3 && failures-- > 0) throw new Error("on purpose");
        given.push([...subjects]);
      },
    );
  const { left, failures: causes } = await run(null);
  expect(causes.map(String)).toEqual(["Error: on purpose"]);
  expect(given.map(({ length }) => length)).toEqual([1_000, 200, 1_000]);
  expect(await run(left.get("update") ?? null)).toEqual({ left: new Map(), failures: [] });
  expect(given.map(({ length }) => length)).toEqual([1_000, 200, 1_000, 100, 998, 1_000, 300]);
  const unwilling = ["member 0001", "member 0002"];
  expect(given.flat()).toEqual([...named, ...further, ...members.filter((id) => !unwilling.includes(id))]);
  expect(shards).toEqual(new Set(["na", "su", "me"]));
});

it("no request finds a large thread once its deletion is answered, and others are served while its comments go", async () => {
  const { owner, room, ben, at, socket, write } = await setUp();
  const { comment: first } = await write({ mentions: [mentionOf(ben.id)] });
  for (let more = 0; more < 249; more += 1) await write({ threadId: first.id });
  await inboxHas(owner, ben.id, [{ subject_id: first.id }]);
  const { data } = await owner.api.delete<{ thread: Thread }>(`${at}/${first.id}`);
  expect(data.thread.comment_count).toBe(250);
  const comments = `/rooms/${room.id}/comments`;
  const totals = [comments, `${comments}?threadId=${first.id}`, `${comments}?search=hello`, at];
  for (const path of totals) expect((await owner.api.get<{ total: number }>(path)).data.total).toBe(0);
  for (const path of [`${at}/${first.id}`, `${at}/${first.id}/participants`])
    expect((await owner.api.get(path)).status).toBe(404);
  expect((await owner.api.delete(`${comments}/${first.id}`)).status).toBe(404);
  expect(await write()).toHaveProperty("comment");
  const deleted = new Set<string>();
  await vi.waitFor(async () => {
    for (const { event, data } of await socket.takeEvents())
      if (event === "commentDeleted") deleted.add((data as { comment: Comment }).comment.id);
    expect(deleted.size).toBe(250);
  }, 30_000);
  expect(deleted).toContain(first.id);
  await inboxHas(owner, ben.id, []);
}, 60_000);

it("an erasure serves others between its slices, and is complete when it is answered", async () => {
  const { owner, room, ada, write } = await setUp();
  const { comment } = await write();
  for (let more = 0; more < 249; more += 1) await write({ threadId: comment.id });
  const totals = await runInDurableObject(env.ROOMS.getByName(room.id), async (object) => {
    const list = { type: "COMMENT_LIST", data: { after: 0, limit: 1, offset: 0 } };
    const total = async () => JSON.parse(await object.call(owner.id, JSON.stringify(list))).data.total;
    const command = { type: "user.erased", userId: comment.user_id, identityId: ada.id } as const;
    const erasing = object.apply(owner.id, command);
    const seen: number[] = [];
    while (seen.at(-1) !== 0) {
      seen.push(await total());
      await scheduler.wait(0);
    }
    await erasing;
    return seen;
  });
  expect([...new Set(totals)]).toEqual([250, 150, 50, 0]);
}, 60_000);
