/** Mentions of agents: their events, webhooks of agents, and inbox sockets. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { AgentMentionedEvent, Event } from "@atrium/contract/resources/events.ts";
import type { Identity } from "@atrium/contract/resources/identity.ts";
import type { Webhook } from "@atrium/contract/rest/webhooks.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { openDelivery } from "../../src/delivery/subscribers.ts";
import { RecordingSubscriber } from "../delivery/recording-subscriber.ts";
import { openInboxSocket } from "../inbox/support.ts";
import { joinRoom } from "../room/support/join.ts";
import { gateway } from "../room/support/rooms.ts";
import type { TestSocket } from "../room/support/test-socket.ts";
import { type Account, type Api, account, refusalOf } from "../support/api.ts";
import { collectSlices, dropTables, restoreSlices } from "../support/archive.ts";
import { rowsReadBy } from "../support/rows-read.ts";

let owner: Account;
let roomId: string;
let agent: Identity;
let ada: string;

interface Written {
  readonly comment: Comment;
  readonly unnotified?: readonly string[];
}

beforeEach(async () => {
  owner = await account();
  roomId = (await owner.api.createRoom()).id;
  agent = await identify("Bot", { kind: "agent", customId: `bot of ${owner.id}` });
  await allow(agent.id, "editor");
  ada = (await owner.api.createUser(roomId, { name: "Ada" })).id;
});

const identify = async (name: string, fields: object = {}) =>
  (await owner.api.post<{ identity: Identity }>("/identities", { name, ...fields })).data.identity;

const allow = async (id: string, permissions: string | null, to = roomId) => {
  const access = { identitiesAccesses: { [id]: permissions } };
  expect((await owner.api.put(`/rooms/${to}/access`, access)).status).toBe(200);
};

const userOf = async (identity: Identity) =>
  (await owner.api.post<{ user: { id: string } }>("/users", { roomId, name: "Bot", identityId: identity.id }))
    .data.user.id;

/** Identities that are written at once, as many requests take long. All may read the room. */
async function create(count: number, kind: string): Promise<{ readonly id: string }[]> {
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  const query = `INSERT INTO identities (account_id, id, name, name_folded, kind, created_at)
    SELECT ?, value, value, upper(value), ?, 0 FROM json_each(?)`;
  await env.DB.prepare(query).bind(owner.id, kind, JSON.stringify(ids)).run();
  const access = { defaultAccesses: "editor" };
  expect((await owner.api.put(`/rooms/${roomId}/access`, access)).status).toBe(200);
  return ids.map((id) => ({ id }));
}

const agents = (count: number) => create(count, "agent");
const people = (count: number) => create(count, "person");

/** A group with these members, or one that gets them in addition. */
async function group(members: readonly { readonly id: string }[], existing?: string) {
  const id =
    existing ?? (await owner.api.post<{ group: { id: string } }>("/groups", { name: "Team" })).data.group.id;
  const query = `INSERT INTO group_members (account_id, group_id, identity_id, added_at)
    SELECT ?, ?, value, 0 FROM json_each(?)`;
  const ids = JSON.stringify(members.map((member) => member.id));
  await env.DB.prepare(query).bind(owner.id, id, ids).run();
  return { id };
}

const mention = ({ id }: { readonly id: string }, kind = "user") => ({ kind, id });

async function write(fields: object, api: Api = owner.api): Promise<Written> {
  const answer = await api.post<Written>(`/rooms/${roomId}/comments`, {
    text: "Hello",
    userId: ada,
    ...fields,
  });
  expect(answer.status, answer.error?.message).toBe(201);
  return answer.data;
}

async function edit({ id }: Comment, fields: object): Promise<Written> {
  const answer = await owner.api.patch<Written>(`/rooms/${roomId}/comments/${id}`, fields);
  expect(answer.status, answer.error?.message).toBe(200);
  return answer.data;
}

const webhookOf = ({ id }: Identity, behaviour = "ok") =>
  RecordingSubscriber.create(owner.api, { identityId: id, behaviour });

const isMention = (event: Event): event is AgentMentionedEvent => event.event === "agent.mentioned";

/** The comments of the mentions that a webhook has received, once there are so many. */
const mentionsOf = async (subscriber: RecordingSubscriber, count: number) =>
  (await subscriber.receivedEvents(count)).filter(isMention);

const textsIn = (events: readonly AgentMentionedEvent[]) => events.map(({ comment }) => comment.text);

async function inboxOf({ id }: Identity, terms: object = {}): Promise<TestSocket> {
  const { data } = await owner.api.post<{ token: string }>(`/identities/${id}/tokens`, terms);
  const socket = await openInboxSocket(owner.id, id);
  expect(await socket.request("INBOX_JOIN", { token: data.token })).toMatchObject({ success: true });
  return socket;
}

/** Resolves when a socket of an inbox receives that its agent is mentioned, behind other events. */
async function mentioned(socket: TestSocket): Promise<void> {
  for (;;) {
    const frame: { event: string; data: object } = await socket.nextEvent();
    if (frame.event === "mentioned") return expect(frame.data).toEqual({});
  }
}

interface Mentions {
  readonly events: readonly AgentMentionedEvent[];
  readonly cursor: string;
  readonly has_more: boolean;
}

const apiOf = async ({ id }: Identity, terms: object = {}): Promise<Api> =>
  owner.api.as((await owner.api.post<{ token: string }>(`/identities/${id}/tokens`, terms)).data.token);

async function listed(api: Api, query = ""): Promise<Mentions> {
  const { status, data, error } = await api.get<Mentions>(`/me/mentions${query}`);
  expect(status, error?.message).toBe(200);
  return data;
}

describe("a mention of an agent (R91)", () => {
  it("that opens a thread, and one in a reply, reach its webhook and its list with the thread's text, and its socket without", async () => {
    const [webhook, socket] = [await webhookOf(agent), await inboxOf(agent)];
    const { comment: first } = await write({ mentions: [mention(agent)], metadata: { page: 3 } });
    const { comment } = await write({ text: "And?", threadId: first.id, mentions: [mention(agent)] });
    const [opening, reply, ...others] = await mentionsOf(webhook, 2);
    expect(others).toEqual([]);
    const data = { roomId, threadId: first.id, identityId: agent.id, userId: ada };
    const by = { identityId: null, kind: "person" };
    const thread = { id: first.id, user_id: ada, metadata: { page: 3 }, comments: [] };
    expect(opening).toMatchObject({ data: { ...data, by, commentId: first.id, depth: 1 }, thread });
    expect(opening?.data).not.toHaveProperty("customId"); // it would outlive an erased agent in the log
    expect(reply).toMatchObject({
      data: { ...data, by, commentId: comment.id, depth: 1 },
      comment: { text: "And?", user_id: ada },
      thread: { ...thread, comments: [{ id: first.id, user_id: ada, text: "Hello" }] },
    });
    await mentioned(socket);
    expect((await listed(await apiOf(agent))).events).toEqual([opening, reply]);
  });

  it("by its user, by a group and over a socket wakes it once, as a member may read the room", async () => {
    const webhook = await webhookOf(agent);
    const user = await userOf(agent);
    const { data } = await owner.api.post<{ group: { id: string } }>("/groups", { name: "Team" });
    const shutOut = await identify("Shut out", { kind: "agent" });
    const deaf = await webhookOf(shutOut);
    for (const { id } of [agent, shutOut]) await owner.api.put(`/groups/${data.group.id}/members/${id}`, {});
    const person = await owner.api.createUser(roomId, { name: "Ben" });
    const socket = await joinRoom(owner.id, roomId, person.token);
    const mentions = [user, mention(agent), mention(data.group, "group")];
    const { data: written } = await socket.call("COMMENT_CREATE", { text: "All", mentions });
    expect(written).not.toHaveProperty("unnotified");
    await socket.call("COMMENT_CREATE", { text: "Group", mentions: [mention(data.group, "group")] });
    expect(textsIn(await mentionsOf(webhook, 2))).toEqual(["All", "Group"]);
    expect(await deaf.received()).toEqual([]);
    expect((await write({ mentions: [mention(shutOut)] })).unnotified).toEqual([shutOut.id]);
  });

  it("that an edit adds or puts in another's place wakes the agents that the comment has not woken", async () => {
    const other = await identify("Tool", { kind: "agent" });
    const [first, second] = [await webhookOf(agent), await webhookOf(other)];
    const { comment, unnotified } = await write({ mentions: [mention(agent), mention(other)] });
    expect(unnotified).toEqual([other.id]);
    await allow(other.id, "editor");
    expect(await edit(comment, { text: "Again", mentions: [mention(agent), mention(other)] })).toEqual({
      comment: expect.objectContaining({ text: "Again" }),
    });
    expect(textsIn(await mentionsOf(second, 1))).toEqual(["Again"]);
    await edit(comment, { mentions: [] });
    await edit(comment, { text: "Back", mentions: [mention(agent)] });
    const { comment: swapped } = await write({ text: "Swapped", mentions: [mention(other)] });
    await edit(swapped, { mentions: [mention(agent)] });
    expect(textsIn(await mentionsOf(first, 2))).toEqual(["Hello", "Swapped"]);
  });

  it("by agents ends at a depth, and the answer names the agent that was not woken", async () => {
    const other = await identify("Tool", { kind: "agent" });
    await allow(other.id, "editor");
    const all = await RecordingSubscriber.create(owner.api, { events: ["agent.mentioned"] });
    const users = [await userOf(agent), await userOf(other)];
    const { comment } = await write({ mentions: [mention(agent), mention(other)] });
    const answer = async (turn: number) =>
      (
        await write({
          ...{ userId: users[turn % 2], threadId: comment.id, text: `Turn ${turn}` },
          mentions: [mention(turn % 2 === 0 ? other : agent), mention(turn % 2 === 0 ? agent : other)],
        })
      ).unnotified;
    const answers: (readonly string[] | undefined)[] = [];
    for (let turn = 0; turn < 6; turn += 1) answers.push(await answer(turn));
    // The other agent was not woken by the fifth turn: its latest mention is that of the third.
    expect(answers).toEqual([...Array(4).fill(undefined), [other.id], undefined]);
    const events = await mentionsOf(all, 7);
    expect(events.map(({ data }) => data.depth)).toEqual([1, 1, 2, 3, 4, 5, 5]);
    expect(events.at(-1)?.data.by).toEqual({ identityId: other.id, kind: "agent" });
  });

  it("by more than 50 agents of groups wakes 50, and the answer names the groups, but no member", async () => {
    const members = await agents(53);
    const [first, second] = [await group(members.slice(0, 52)), await group(members.slice(51))];
    const all = await RecordingSubscriber.create(owner.api, { events: ["agent.mentioned"] });
    const both = [mention(first, "group"), mention(second, "group")];
    expect((await write({ text: "Both", mentions: both })).unnotified).toEqual([first.id, second.id]);
    const { comment, unnotified } = await write({ text: "Second", mentions: [mention(second, "group")] });
    expect(unnotified).toBeUndefined();
    const woken = (await mentionsOf(all, 52)).filter(({ data }) => data.commentId !== comment.id);
    const expected = members.slice(0, 52).map(({ id }) => id);
    expect(woken.map(({ data }) => data.identityId)).toEqual(expected.toSorted().slice(0, 50));
  });

  it("of 200 agents in groups names all groups", async () => {
    const members = await agents(201);
    const many = await group(members);
    const ofLast = await group(members.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(200));
    const { unnotified } = await write({ mentions: [mention(many, "group"), mention(ofLast, "group")] });
    expect(unnotified).toEqual([many.id, ofLast.id]);
  });

  it("by a group reads the shorter of its members and the organization's agents", async () => {
    const [few, many] = [await group(await agents(1)), await group([agent, ...(await people(60))])];
    const readBy = (id: string) => rowsReadBy(() => write({ mentions: [mention({ id }, "group")] }));
    const before = [await readBy(few.id), await readBy(many.id)];
    await agents(60);
    await group(await people(60), many.id);
    const [ofFew = 0, ofMany = 0] = [await readBy(few.id), await readBy(many.id)].map(
      (rows, index) => rows - (before[index] ?? 0),
    );
    // Each of the others is counted once, and looked at no further.
    expect(ofFew).toBeLessThan(100);
    expect(ofMany).toBeLessThan(300);
  });

  it("by the agent itself, with its own token, wakes no one", async () => {
    const webhook = await webhookOf(agent);
    const { token } = (await owner.api.post<{ token: string }>(`/identities/${agent.id}/tokens`)).data;
    const user = await userOf(agent);
    const own = await write({ text: "Me", userId: user, mentions: [mention(agent)] }, owner.api.as(token));
    expect(own).not.toHaveProperty("unnotified");
    await write({ text: "You", mentions: [mention(agent)] });
    expect(textsIn(await mentionsOf(webhook, 1))).toEqual(["You"]);
  });
});

describe("a webhook of an agent", () => {
  it("receives the mentions of that agent, and one without an agent those of all", async () => {
    const other = await identify("Tool", { kind: "agent" });
    await allow(other.id, "editor");
    const [own, all] = [
      await webhookOf(agent),
      await RecordingSubscriber.create(owner.api, { events: ["agent.mentioned", "comment.created"] }),
    ];
    expect(own.webhook).toMatchObject({ identity_id: agent.id, events: ["agent.mentioned"] });
    expect(all.webhook).not.toHaveProperty("identity_id");
    await write({ text: "Tool", mentions: [mention(other)] });
    await write({ text: "Both", mentions: [mention(other), mention(agent)] });
    expect((await all.receivedEvents(5)).filter(isMention).length).toBe(3);
    expect(textsIn(await mentionsOf(own, 1))).toEqual(["Both"]);
    const replay = await owner.api.post(`/webhooks/${own.webhook.id}/replay`, {
      from: new Date(0).toISOString(),
    });
    expect(replay.status).toBe(200);
    expect(textsIn(await mentionsOf(own, 2))).toEqual(["Both", "Both"]);
  });

  it("is refused for other kinds, other events, batches, and without the identity", async () => {
    const person = await identify("Ada");
    const create = (fields: object) =>
      owner.api.post("/webhooks", {
        ...{ url: "https://hooks.example.com/a", events: ["agent.mentioned"], identityId: agent.id },
        ...fields,
      });
    const refusals = [
      await create({ identityId: person.id }),
      await create({ events: ["agent.mentioned", "comment.created"] }),
      await create({ batch: { maxEvents: 2, maxWaitMs: 0 } }),
      await create({ identityId: crypto.randomUUID() }),
    ];
    expect(refusals.map(({ status, error }) => [status, error?.message])).toEqual([
      [400, "identityId: is of kind person, and only an agent has webhooks; give the ID of an agent"],
      [400, "events: must be agent.mentioned alone for a webhook with identityId"],
      [400, "batch: must be absent for a webhook with identityId"],
      [404, expect.any(String)],
    ]);
    const { data } = await create({});
    const { id } = data.webhook as Webhook;
    const patch = (body: object) => owner.api.patch<{ webhook: Webhook }>(`/webhooks/${id}`, body);
    expect(refusalOf(await patch({ events: ["user.created"] }))).toEqual([
      400,
      "Webhooks",
      "VALIDATION_ERROR",
    ]);
    expect(refusalOf(await patch({ batch: { maxEvents: 2, maxWaitMs: 0 } }))[0]).toBe(400);
    const saved = await patch({
      url: "https://hooks.example.com/b",
      events: ["agent.mentioned"],
      batch: null,
    });
    expect(saved.data.webhook).toMatchObject({ identity_id: agent.id, url: "https://hooks.example.com/b" });
  });

  it("takes a sample, and no texts once the room is closed, or the agent may not read it", async () => {
    const webhook = await webhookOf(agent);
    const test = await owner.api.post(`/webhooks/${webhook.webhook.id}/test`);
    expect(test.data).toMatchObject({ delivery: { status: "success" } });
    const [sample] = await mentionsOf(webhook, 1);
    expect(sample?.data.identityId).toBe(agent.id);
    await write({ mentions: [mention(agent)] });
    const [delivery] = await webhook.settled(2);
    const path = `/webhooks/${webhook.webhook.id}/deliveries/${delivery?.id}/redeliver`;
    const refuses = async (count: number) => {
      expect((await owner.api.post(path)).status).toBe(200);
      const [refused] = await webhook.settled(count);
      expect(refused).toMatchObject({ status: "failed", error: "The agent may not read the room any more" });
    };
    await owner.api.patch(`/rooms/${roomId}`, { state: "closed" });
    await refuses(3);
    await owner.api.patch(`/rooms/${roomId}`, { state: "active" });
    await allow(agent.id, null);
    await refuses(4);
    expect((await webhook.received()).length).toBe(2);
  });

  it("is sent no event of another agent, also by mistake", async () => {
    const [webhook, other] = [await webhookOf(agent), await identify("Tool", { kind: "agent" })];
    await allow(other.id, "editor");
    const all = await RecordingSubscriber.create(owner.api, { events: ["agent.mentioned"] });
    await write({ text: "A secret of others", mentions: [mention(other)] });
    const [event] = await mentionsOf(all, 1);
    const { id, version } = { id: webhook.webhook.id, version: 1 };
    const key = { kind: "webhook", accountId: owner.id, id } as const;
    const outgoing = { eventId: crypto.randomUUID(), event: "agent.mentioned", roomId } as const;
    const body = JSON.stringify(event);
    await openDelivery(env)
      .subscribers(key)
      .enqueue(key, [{ ...outgoing, body, occurredAt: Date.now() }], version);
    expect(await webhook.settled(1)).toMatchObject([{ status: "failed" }]);
    expect(await webhook.received()).toEqual([]);
  });

  it("ends with its identity, and no other webhook does", async () => {
    const [own, all] = [await webhookOf(agent), await RecordingSubscriber.create(owner.api)];
    expect((await owner.api.delete(`/identities/${agent.id}`)).status).toBe(200);
    expect((await owner.api.get(`/webhooks/${own.webhook.id}`)).status).toBe(404);
    expect((await owner.api.get(`/webhooks/${all.webhook.id}`)).status).toBe(200);
  });
});

describe("the mentions of an agent (R95)", () => {
  /** A room that the agent may enter, and how to mention it there. */
  async function another() {
    const { id } = await owner.api.createRoom();
    await allow(agent.id, "editor", id);
    const userId = (await owner.api.createUser(id)).id;
    const say = async (text: string) => {
      const answer = await owner.api.post<Written>(`/rooms/${id}/comments`, {
        ...{ userId, text, mentions: [mention(agent)] },
      });
      expect(answer.status, answer.error?.message).toBe(201);
      return answer.data;
    };
    return { id, say };
  }

  /** Waits until the log has a mention. */
  const recorded = (api: Api, text: string) =>
    expect.poll(async () => textsIn((await listed(api)).events)).toContain(text);

  it("go on behind a cursor, begin with now, and are none of another agent or of a person", async () => {
    const [api, other] = [await apiOf(agent), await identify("Tool", { kind: "agent" })];
    await allow(other.id, "editor");
    await write({ text: "Early", mentions: [mention(agent)] });
    await recorded(api, "Early");
    const [first, now] = [await listed(api), await listed(api, "?after=now")];
    expect([textsIn(first.events), textsIn(now.events), now.has_more]).toEqual([["Early"], [], false]);
    await write({ text: "For the other", mentions: [mention(other)] });
    await write({ text: "Late", mentions: [mention(agent)] });
    await recorded(api, "Late");
    for (const { cursor } of [first, now])
      expect(textsIn((await listed(api, `?after=${cursor}`)).events)).toEqual(["Late"]);
    const pages = [await listed(api, "?limit=1")];
    pages.push(await listed(api, `?limit=1&after=${pages[0]?.cursor}`));
    expect(pages.map(({ events, has_more }) => [textsIn(events), has_more])).toEqual([
      [["Early"], true],
      [["Late"], false],
    ]);
    const [others, person] = [await apiOf(other), await apiOf(await identify("Ada"))];
    expect(textsIn((await listed(others)).events)).toEqual(["For the other"]);
    expect((await listed(person)).events).toEqual([]);
    expect(refusalOf(await others.get(`/me/mentions?after=${first.cursor}`))).toEqual([
      ...[400, "Events", "BAD_REQUEST"],
    ]);
    const { data } = await owner.api.post<{ secret: string }>(`/rooms/${roomId}/links`, {
      permissions: "viewer",
    });
    const { secret } = data;
    const guest = await owner.api.post<{ token: string }>("/links/redeem", { secret, name: "Gale" });
    for (const refused of [owner.api, owner.api.as(guest.data.token)])
      expect((await refused.get("/me/mentions")).status).toBe(403);
  });

  it("are those that wake it, in open rooms that it may enter, and that its token names", async () => {
    const [there, api] = [await another(), await apiOf(agent)];
    const narrowed = await apiOf(agent, { rooms: [there.id] });
    await write({ text: "Here", mentions: [mention(agent)] });
    await there.say("There");
    await recorded(api, "Here");
    await recorded(api, "There");
    expect(textsIn((await listed(narrowed)).events)).toEqual(["There"]);
    await allow(agent.id, null);
    expect((await write({ text: "Unheard", mentions: [mention(agent)] })).unnotified).toEqual([agent.id]);
    expect(textsIn((await listed(api)).events)).toEqual(["There"]);
    await owner.api.patch(`/rooms/${there.id}`, { state: "closed" });
    expect((await listed(api)).events).toEqual([]);
    expect((await there.say("While it is closed")).unnotified).toEqual([agent.id]);
    await owner.api.patch(`/rooms/${there.id}`, { state: "active" });
    expect(textsIn((await listed(api)).events)).toEqual(["There"]);
    await owner.api.delete(`/rooms/${there.id}`);
    await allow(agent.id, "editor");
    expect(textsIn((await listed(api)).events)).toEqual(["Here"]);
  });

  it("have one that an edit adds once the agent has access, and none that is too deep", async () => {
    const other = await identify("Tool", { kind: "agent" });
    await allow(agent.id, null);
    const { comment } = await write({ text: "Look", mentions: [mention(agent)] });
    await allow(agent.id, "editor");
    await allow(other.id, "editor");
    await edit(comment, { mentions: [mention(agent)] });
    const users = [await userOf(agent), await userOf(other)];
    for (let depth = 2; depth <= 6; depth += 1)
      await write({
        ...{ text: `Depth ${depth}`, userId: users[depth % 2], threadId: comment.id },
        mentions: [mention(depth % 2 === 0 ? other : agent)],
      });
    const api = await apiOf(agent);
    await recorded(api, "Depth 5");
    expect((await listed(api)).events.map(({ data, comment: { text } }) => [text, data.depth])).toEqual([
      ["Look", 1],
      ["Depth 3", 3],
      ["Depth 5", 5],
    ]);
  });

  it("are announced to sockets by a frame without content", async () => {
    const there = await another();
    const socket = await inboxOf(agent, { rooms: [there.id] });
    await write({ text: "Here", mentions: [mention(agent)] });
    await mentioned(socket);
    expect((await listed(await apiOf(agent, { rooms: [there.id] }))).events).toEqual([]);
  });
});

it("a user whose agent's identity was deleted is bounded as an agent", async () => {
  const other = await identify("Tool", { kind: "agent" });
  await allow(other.id, "editor");
  const [webhook, user] = [await webhookOf(other), await userOf(agent)];
  await userOf(other); // it mentions users of the room alone
  expect((await owner.api.delete(`/identities/${agent.id}`)).status).toBe(200);
  await write({ userId: user, mentions: [mention(other)] });
  const [heard] = await mentionsOf(webhook, 1);
  expect(heard?.data.by).toEqual({ identityId: agent.id, kind: "agent" });
});

it("a room that was restored remembers whom its comments have woken, and how deep", async () => {
  const other = await identify("Tool", { kind: "agent" });
  await allow(other.id, "editor");
  const users = { [agent.id]: await userOf(agent), [other.id]: await userOf(other) };
  const { comment } = await write({ mentions: [mention(agent)] });
  const answer = (by: Identity, to: Identity) =>
    write({ userId: users[by.id], threadId: comment.id, mentions: [mention(to)] });
  for (const [by, to] of [0, 1, 2, 3].map((turn) => (turn % 2 === 0 ? [agent, other] : [other, agent])))
    expect(await answer(by as Identity, to as Identity)).not.toHaveProperty("unnotified");
  const object = gateway.archived(roomId);
  const inRoom = <T>(work: (storage: DurableObjectStorage) => T) =>
    runInDurableObject(env.ROOMS.getByName(roomId), (_, { storage }) => work(storage));
  const waiting = "SELECT 1 FROM inbox_updates UNION ALL SELECT 1 FROM events";
  await expect.poll(() => inRoom(({ sql }) => sql.exec(waiting).toArray().length)).toBe(0);
  const slices = await collectSlices(object);
  await inRoom(dropTables);
  await evictDurableObject(env.ROOMS.getByName(roomId));
  await restoreSlices(object, slices);
  expect((await answer(agent, other)).unnotified).toEqual([other.id]);
  const webhook = await webhookOf(agent);
  await edit(comment, { mentions: [] });
  await edit(comment, { mentions: [mention(agent)] });
  await write({ text: "Anew", mentions: [mention(agent)] });
  expect(textsIn(await mentionsOf(webhook, 1))).toEqual(["Anew"]);
});

it("an agent whose user is erased lives on with its chain, and is woken once by a comment", async () => {
  const other = await identify("Tool", { kind: "agent" });
  await allow(other.id, "editor");
  const webhook = await webhookOf(agent);
  const user = await userOf(agent);
  const { comment } = await write({ mentions: [mention(agent)] });
  await mentionsOf(webhook, 1);
  const erased = await owner.api.delete(`/users/${user}/personal-data?roomId=${roomId}`);
  expect(erased.status, erased.error?.message).toBe(200);
  await edit(comment, { mentions: [] });
  await edit(comment, { mentions: [mention(agent)] });
  const heard = await webhookOf(other);
  await write({ userId: await userOf(agent), mentions: [mention(other)] });
  const [mentioned] = await mentionsOf(heard, 1);
  expect(mentioned?.data.depth).toBe(2);
  expect((await webhook.received()).length).toBe(1);
});

it("an erased user leaves no text in the mentions of the event log", async () => {
  const { comment } = await write({ text: "A secret", metadata: { of: "a secret" } });
  const ben = (await owner.api.createUser(roomId, { name: "Ben" })).id;
  await write({ text: "An answer", userId: ben, threadId: comment.id, mentions: [mention(agent)] });
  const erased = await owner.api.delete(`/users/${ada}/personal-data?roomId=${roomId}`);
  expect(erased.status, erased.error?.message).toBe(200);
  const { data } = await owner.api.get<{ events: { event: string }[] }>("/events?events=agent.mentioned");
  expect(data.events.length).toBe(1);
  expect(JSON.stringify(data.events)).not.toContain("secret");
  expect(JSON.stringify(data.events)).toContain("An answer");
});
