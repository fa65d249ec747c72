/** Guests act, mention and are mentioned in the room of their link alone, and have no channel but the page. */
import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { Identity } from "@atrium/contract/resources/identity.ts";
import type { NotificationDefaults } from "@atrium/contract/resources/notification-settings.ts";
import { describe, expect, it, vi } from "vitest";
import { openInbox, shardName } from "../../src/delivery/inboxes.ts";
import type { InboxObjectBase } from "../../src/features/inbox/shard/inbox-object.ts";
import { PushBrowser } from "../inbox/browser.ts";
import { activity, PAGE, waitingIn } from "../inbox/support.ts";
import { joinWith, openSocket } from "../room/support/join.ts";
import { type Account, account, makeGuest, refusalOf } from "../support/api.ts";

const open = openInbox<InboxObjectBase>(env);
const subjectsOf = async (owner: Account, identityId: string) =>
  ((await open(owner.id, identityId).list({ identityId }, PAGE))?.notifications ?? []).map(
    ({ subject_id }) => subject_id,
  );

/** Resolves once the inbox has these subjects, in any order. */
const inboxHas = (owner: Account, identityId: string, subjects: readonly string[]) =>
  vi.waitFor(
    async () => expect((await subjectsOf(owner, identityId)).toSorted()).toEqual(subjects.toSorted()),
    { timeout: 20_000 },
  );

/** The channels that are to carry notifications of the inbox. */
const waitingOf = (owner: Account, identityId: string) =>
  runInDurableObject(env.INBOXES.getByName(shardName(owner.id, identityId)), (_, { storage }) =>
    waitingIn(storage).flatMap(({ id, channel }) => (id === identityId ? [{ channel }] : [])),
  );

async function identify({ api }: Account, name: string) {
  const { data } = await api.post<{ identity: Identity; token: string }>("/identify", {
    customId: name,
    name,
  });
  return { id: data.identity.id, token: data.token };
}

const mentionOf = (id: string, kind = "user") => ({ kind, id });

/** A room that all identities may edit: Ada has joined it, Ben has not; both are in a group; Gale is its guest. */
async function setUp() {
  const owner = await account();
  const room = await owner.api.createRoom();
  await owner.api.put(`/rooms/${room.id}/access`, { defaultAccesses: "editor" });
  const [ada, ben] = [await identify(owner, "Ada"), await identify(owner, "Ben")];
  const { joined } = await joinWith(owner.id, room.id, ada.token);
  const { data } = await owner.api.post<{ group: { id: string } }>("/groups", { name: "Team" });
  for (const { id } of [ada, ben]) await owner.api.put(`/groups/${data.group.id}/members/${id}`, {});
  const { guest, secret } = await makeGuest(owner.api, room.id);
  const { socket, joined: asGuest } = await joinWith(owner.id, room.id, guest.token);
  const userOf = (answer: unknown) => (answer as { user: { id: string } }).user.id;
  const call = async (type: string, body: object) => {
    const { data: answer, error } = await socket.call(type, body);
    return { ...(answer as { comment: Comment; unnotified?: string[] }), error };
  };
  return {
    ...{ owner, room, ada: { ...ada, userId: userOf(joined) }, ben, team: data.group.id, call, secret },
    gale: { id: guest.identity.id, userId: userOf(asGuest), token: guest.token },
  };
}

describe("a guest's mention", () => {
  it("reaches users of its room alone, and no group: others are unnotified (R91)", async () => {
    const { owner, ada, ben, team, call } = await setUp();
    const everyone = [ada.userId, mentionOf(ada.id), mentionOf(ben.id), mentionOf(team, "group")];
    const created = await call("COMMENT_CREATE", { text: "Hello", mentions: everyone });
    expect(created.unnotified).toEqual([ben.id, team]);
    const plain = await call("COMMENT_CREATE", { text: "Hello" });
    const edit = { commentId: plain.comment.id, mentions: everyone.slice(1) };
    expect((await call("COMMENT_UPDATE", edit)).unnotified).toEqual([ben.id, team]);
    expect(await call("TEXT_MENTION_CREATE", { mentionId: "m1", userId: ben.id })).toMatchObject({
      unnotified: [ben.id],
    });
    await call("TEXT_MENTION_CREATE", { mentionId: "m2", userId: ada.id });
    await inboxHas(owner, ada.id, [created.comment.id, plain.comment.id, "m2"]);
    expect(await subjectsOf(owner, ben.id)).toEqual([]);
  });

  it("reaches no one else when the organization writes for the guest", async () => {
    const { owner, room, gale, ada, ben, team } = await setUp();
    const { data } = await owner.api.post<{ comment: Comment }>(`/rooms/${room.id}/comments`, {
      ...{ userId: gale.userId, text: "Hello" },
      mentions: [mentionOf(ben.id), mentionOf(team, "group"), mentionOf(ada.id)],
    });
    expect(data).toMatchObject({ unnotified: [ben.id, team] });
    await inboxHas(owner, ada.id, [data.comment.id]);
    expect(await subjectsOf(owner, ben.id)).toEqual([]);
  });

  it("reaches no one else when the organization edits the guest's comment (R91)", async () => {
    const { owner, room, ada, ben, team, call } = await setUp();
    const { comment } = await call("COMMENT_CREATE", { text: "Hello" });
    const mentions = [mentionOf(ben.id), mentionOf(team, "group"), mentionOf(ada.id)];
    const path = `/rooms/${room.id}/comments/${comment.id}`;
    const { data } = await owner.api.patch<{ comment: Comment }>(path, { mentions });
    expect(data).toMatchObject({ unnotified: [ben.id, team], comment: { mentioned: mentions } });
    await inboxHas(owner, ada.id, [comment.id]);
    expect(await subjectsOf(owner, ben.id)).toEqual([]);
    const missing = await owner.api.patch(`/rooms/${room.id}/comments/${crypto.randomUUID()}`, { mentions });
    expect(refusalOf(missing)).toEqual([404, "Rooms", "NOT_FOUND"]);
  });

  it("binds the organization no more in the comment of a guest whose user is deleted", async () => {
    const { owner, room, gale, ben, team, call } = await setUp();
    const { comment } = await call("COMMENT_CREATE", { text: "Hello" });
    await owner.api.delete(`/users/${gale.userId}?roomId=${room.id}`);
    const mentions = [mentionOf(ben.id), mentionOf(team, "group")];
    const { data } = await owner.api.patch(`/rooms/${room.id}/comments/${comment.id}`, { mentions });
    expect(data).toMatchObject({ comment: { mentioned: mentions } });
    expect(data).not.toHaveProperty("unnotified");
    await inboxHas(owner, ben.id, [comment.id]);
  });

  it("is refused above a hundred in an hour, over every socket and by the organization for the guest", async () => {
    const { owner, room, gale, ada, call } = await setUp();
    const others = await Promise.all(
      Array.from({ length: 24 }, async (_, number) => {
        const { id, token } = await identify(owner, `Other ${number}`);
        await joinWith(owner.id, room.id, token);
        return mentionOf(id);
      }),
    );
    const mentions = [...others, mentionOf(ada.id)];
    const { comment } = await call("COMMENT_CREATE", { text: "Hello" });
    for (let times = 0; times < 3; times += 1)
      expect((await call("COMMENT_CREATE", { text: "Hello", mentions })).error).toBe(null);
    const { socket: second } = await joinWith(owner.id, room.id, gale.token);
    expect(await second.call("COMMENT_CREATE", { text: "Hello", mentions })).toMatchObject({ success: true });
    const one = { mentions: [mentionOf(ada.id)] };
    const refused = await call("COMMENT_CREATE", { text: "Hello", ...one });
    expect(refused.error).toMatchObject({
      code: "FORBIDDEN",
      message: expect.stringMatching(/notifications_per_hour.* 100 of 100 .*wait until \d{4}-/),
    });
    for (const [type, body] of [
      ["COMMENT_UPDATE", { commentId: comment.id, ...one }],
      ["TEXT_MENTION_CREATE", { mentionId: "m1", userId: ada.id }],
    ] as const)
      expect((await call(type, body)).error).toMatchObject({ code: "FORBIDDEN" });
    const path = `/rooms/${room.id}/comments`;
    const posted = await owner.api.post(path, { userId: gale.userId, text: "Hello", ...one });
    expect(refusalOf(posted)).toEqual([403, "Rooms", "FORBIDDEN"]);
    expect((await call("COMMENT_CREATE", { text: "Without mentions" })).error).toBe(null);
    const { socket: ofAda } = await joinWith(owner.id, room.id, ada.token);
    expect(await ofAda.call("COMMENT_CREATE", { text: "Hello", mentions })).toMatchObject({ success: true });
  });
});

describe("a guest in another room", () => {
  it("can neither be mentioned there nor enter it, whatever the organization grants", async () => {
    const { owner, gale, ada, team } = await setUp();
    await owner.api.put(`/groups/${team}/members/${gale.id}`, {});
    const other = await owner.api.createRoom();
    await owner.api.put(`/rooms/${other.id}/access`, {
      ...{ defaultAccesses: "editor", groupsAccesses: { [team]: "editor" } },
      identitiesAccesses: { [gale.id]: "editor" },
    });
    const { socket } = await joinWith(owner.id, other.id, ada.token);
    const mentions = [mentionOf(gale.id), mentionOf(team, "group")];
    const { data } = await socket.call("COMMENT_CREATE", { text: "Hello", mentions });
    expect(data).toMatchObject({ unnotified: [gale.id] });
    const { comment } = data as { comment: Comment };
    const page = { id: crypto.randomUUID(), roomId: other.id, subjects: [gale.id] };
    const by = { type: "comment", threadId: comment.id, commentId: comment.id, seq: 1, by: ada.id } as const;
    const update = { ...by, at: Date.now(), to: [gale.id], groups: [], except: [] };
    await exports.InboxFanOut.deliver(owner.id, { ...page, update });
    expect(await subjectsOf(owner, gale.id)).toEqual([]);
    const { data: issued } = await owner.api.post<{ token: string }>(`/identities/${gale.id}/tokens`);
    const second = await openSocket(owner.id, other.id);
    await second.request("JOIN_ROOM", { token: issued.token });
    expect((await second.closed).code).toBe(4403);
    const question = { identityId: gale.id };
    expect((await owner.api.post(`/rooms/${other.id}/access/check`, question)).data).toMatchObject({
      permissions: [],
    });
  });
});

describe("the channels of a guest", () => {
  it("are the page alone: no browser subscribes", async () => {
    const { owner, gale } = await setUp();
    const { data } = await owner.api.post<{ token: string }>(`/identities/${gale.id}/tokens`);
    const browser = await PushBrowser.create();
    for (const token of [gale.token, data.token]) {
      const own = owner.api.as(token);
      expect(refusalOf(await own.post("/me/push-subscriptions", browser.toJSON()))).toEqual([
        ...[403, "Auth", "FORBIDDEN"],
      ]);
      expect(refusalOf(await own.get("/me/push-subscriptions"))).toEqual([403, "Auth", "FORBIDDEN"]);
    }
  });

  it("send nothing of what waits for them already", async () => {
    const { owner, gale } = await setUp();
    const webhook = { sender: "webhook", delay: 60 };
    await owner.api.patch("/notification-defaults", { email: webhook, webPush: webhook });
    const { data } = await owner.api.get<{ defaults: NotificationDefaults }>("/notification-defaults");
    // The activity is delivered in the form of a room of the version before.
    await open(owner.id, gale.id).deliver([gale.id], [activity({ kind: "$invoice" })], data.defaults);
    expect(await waitingOf(owner, gale.id)).toHaveLength(2);
    await runInDurableObject(env.INBOXES.getByName(shardName(owner.id, gale.id)), async (object) => {
      const inbox = object as unknown as InboxObjectBase;
      inbox.clock = () => Date.now() + 120_000;
      await inbox.alarm();
    });
    const path = `/identities/${gale.id}/sent-notifications`;
    const { sent } = (await owner.api.get<{ sent: { outcome: string }[] }>(path)).data;
    expect(sent.map(({ outcome }) => outcome)).toEqual(["unwanted", "unwanted"]);
  });

  it("have nothing waiting for a mail, a push or an event of what the inbox shows", async () => {
    const { owner, room, gale, ada } = await setUp();
    await owner.api.patch(`/identities/${gale.id}`, { email: "gale@example.com" });
    const defaults = { email: { sender: "webhook" }, webPush: { sender: "webhook" } };
    await owner.api.patch("/notification-defaults", defaults);
    const { socket } = await joinWith(owner.id, room.id, ada.token);
    const { data } = await socket.call("COMMENT_CREATE", { text: "Hello", mentions: [gale.userId] });
    const trigger = { identityId: gale.id, kind: "$invoice", subjectId: "invoice-7" };
    await owner.api.post("/inbox-notifications/trigger", trigger);
    await inboxHas(owner, gale.id, [(data as { comment: Comment }).comment.id, "invoice-7"]);
    expect(await waitingOf(owner, gale.id)).toEqual([]);
  });
});
