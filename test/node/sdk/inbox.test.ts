/** `atrium/inbox`: notifications arrive live, and are read and deleted for all clients of an identity. */

import { Atrium, type AuthToken } from "atrium/client";
import { type Inbox, type InboxNotification, type MentionPage, openInbox } from "atrium/inbox";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { eventually } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { EAGER, type Meeting, meet, next, nextOf } from "./clients.ts";
import { BreakableProxy } from "./proxy.ts";

interface Identified {
  readonly identity: { readonly id: string };
  readonly token: string;
}

const service = await sharedService();

let meeting: Meeting;
let ada: Identified;
let bo: Identified;

const identify = async (name: string): Promise<Identified> => {
  const body = { customId: `${name}-${meeting.roomId}`, name };
  return (await meeting.customer.send<Identified>("POST", "/identify", body)).data;
};

const personOf = (authToken: AuthToken, serverUrl = service.url) =>
  new Atrium({ serverUrl, authToken }, EAGER);

async function connect(source: Atrium): Promise<Inbox> {
  const inbox = openInbox(source);
  onTestFinished(() => inbox.disconnect());
  await inbox.connect();
  return inbox;
}

const notify = (subjectId: string) =>
  meeting.customer.send("POST", "/inbox-notifications/trigger", {
    ...{ identityId: bo.identity.id, kind: "$invoice", subjectId, data: { amount: 12 } },
  });

const subjectsOf = async (inbox: Inbox, unread?: boolean): Promise<string[]> =>
  (await inbox.list({ unread })).notifications.map(({ subject_id }) => subject_id);

beforeEach(async () => {
  meeting = await meet(service);
  [ada, bo] = [await identify("Ada"), await identify("Bo")];
  await meeting.customer.send("PUT", `/rooms/${meeting.roomId}/access`, {
    identitiesAccesses: { [ada.identity.id]: ["*:write"], [bo.identity.id]: ["*:write"] },
  });
});

it("shows a mention in a room at once, and what one client reads or deletes in all others", async () => {
  let asked = 0;
  const person = personOf(async () => {
    asked += 1;
    return (await identify("Bo")).token;
  });
  const [inbox, other] = [await connect(person), await connect(personOf(bo.token))];
  expect([inbox.unread, other.unread, asked]).toEqual([0, 0, 1]);
  const notified = next<InboxNotification>("Bo is mentioned", (listener) =>
    inbox.on("notification", listener),
  );
  const room = personOf(ada.token).enterRoom(meeting.roomId);
  onTestFinished(() => room.disconnect());
  await room.join();
  const { id } = await room.comments.create({
    text: "Shall we, @Bo?",
    mentions: [{ kind: "user", id: bo.identity.id }],
  });
  const notification = await notified;
  expect(notification).toMatchObject({ thread_id: id, room_id: meeting.roomId, unread: true });
  expect([inbox.unread, (await inbox.list({ roomId: meeting.roomId })).notifications[0]?.id]).toEqual([
    1,
    notification.id,
  ]);
  await eventually("it is unread for the other client", () => other.unread === 1);
  expect(await other.markAsRead({ notificationId: notification.id, upTo: 0 })).toBe(1);
  expect(await other.markAsRead({ notificationId: notification.id })).toBe(0);
  await eventually("it is read for both", () => inbox.unread === 0 && other.unread === 0);
  await Promise.all([notify("invoice-1"), notify("invoice-2")]);
  await eventually("two invoices are unread", () => inbox.unread === 2);
  const page = await inbox.list({ kind: "$invoice", limit: 1 });
  const rest = await inbox.list({ kind: "$invoice", after: page.cursor ?? "" });
  expect([...page.notifications, ...rest.notifications].map(({ unread }) => unread)).toEqual([true, true]);
  await inbox.delete({ notificationId: page.notifications[0]?.id ?? "" });
  await eventually("one is gone", () => other.unread === 1);
  expect(await inbox.markAllAsRead()).toBe(0);
  expect(await subjectsOf(other, true)).toEqual([]);
  await inbox.deleteAll();
  expect(await subjectsOf(other)).toEqual([]);
  await Promise.all([notify("invoice-3"), notify("invoice-4")]);
  const apart = openInbox(personOf(bo.token));
  const { notifications } = await apart.list();
  expect([notifications.length, apart.unread]).toEqual([2, null]);
  await apart.delete({ notificationId: notifications[0]?.id ?? "" });
  expect(apart.unread).toBe(1);
  await apart.markAsRead({ notificationId: notifications[1]?.id ?? "" });
  expect(apart.unread).toBe(0);
  await expect(inbox.delete({ notificationId: notification.id })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
});

/** An agent that may enter the room, and its token. */
async function makeAgent() {
  const { customer, roomId } = meeting;
  const agent = await customer.send<Identified>("POST", "/identities", { name: "Assistant", kind: "agent" });
  const { id } = agent.data.identity;
  const access = { identitiesAccesses: { [id]: "editor" } };
  await customer.send("PUT", `/rooms/${roomId}/access`, access);
  const { data } = await customer.send<{ token: string }>("POST", `/identities/${id}/tokens`, {});
  return { id, token: data.token };
}

/** Ada's comments in the room. */
async function speaker() {
  const room = personOf(ada.token).enterRoom(meeting.roomId);
  onTestFinished(() => room.disconnect());
  await room.join();
  return room.comments;
}

const texts = ({ events }: MentionPage) => events.map(({ comment }) => comment.text);

/** The next mentions, behind pages without any. */
async function nextMentions(mentions: AsyncGenerator<MentionPage, void, void>) {
  for await (const { events } of { [Symbol.asyncIterator]: () => ({ next: () => mentions.next() }) })
    if (events.length > 0) return events;
  throw new Error("The mentions have ended");
}

it("shows an agent a mention with the text of its thread, beside the notification", async () => {
  const { id, token } = await makeAgent();
  const inbox = await connect(personOf(token));
  const mentions = inbox.mentions();
  expect((await mentions.next()).value).toMatchObject({ events: [], has_more: false });
  const notified = next<InboxNotification>("the agent is notified", (listener) =>
    inbox.on("notification", listener),
  );
  const comments = await speaker();
  const first = await comments.create({ text: "It is on Monday" });
  await comments.create({ text: "Is it?", threadId: first.id, mentions: [{ kind: "user", id }] });
  expect(await nextMentions(mentions)).toMatchObject([
    {
      event: "agent.mentioned",
      data: { identityId: id, by: { identityId: ada.identity.id, kind: "person" }, depth: 1 },
      comment: { text: "Is it?" },
      thread: { id: first.id, comments: [{ text: "It is on Monday" }] },
    },
  ]);
  expect(await notified).toMatchObject({ thread_id: first.id });
  inbox.disconnect();
  for await (const { events } of mentions) expect(events).toEqual([]);
});

it("shows an agent the mentions that it missed: in this process, and in the next one by the cursor", async () => {
  const { id, token } = await makeAgent();
  const mention = [{ kind: "user", id } as const];
  const comments = await speaker();
  const proxy = await BreakableProxy.before(service);
  onTestFinished(() => proxy.close());
  const inbox = await connect(personOf(token, proxy.url));
  const mentions = inbox.mentions();
  const begin = (await mentions.next()).value?.cursor ?? "";
  const lost = next("the connection is lost", (listener) => inbox.socket.on("disconnected", listener));
  proxy.cut();
  await lost;
  await comments.create({ text: "Missed", mentions: mention });
  expect((await nextMentions(mentions)).map(({ comment }) => comment.text)).toEqual(["Missed"]);
  await mentions.return();
  inbox.disconnect();
  await comments.create({ text: "While it is away", mentions: mention });
  const late: string[] = [];
  for await (const page of openInbox(personOf(token)).mentions({ after: begin })) {
    late.push(...texts(page));
    if (late.length === 2) break;
  }
  expect(late).toEqual(["Missed", "While it is away"]);
});

it("ends the read of mentions without an error when it is disconnected, also before it has connected", async () => {
  const { token } = await makeAgent();
  const never = openInbox(personOf(() => new Promise<string>(() => {})));
  const [waiting, inbox] = [never.mentions().next(), await connect(personOf(token))];
  never.disconnect();
  expect(await waiting).toMatchObject({ done: true });
  const mentions = inbox.mentions();
  await mentions.next();
  inbox.disconnect();
  await inbox.connect();
  expect(await mentions.next()).toMatchObject({ done: true });
});

it("ends the read of mentions with the agent's tokens, by a signal, and by a cursor of no log", async () => {
  const { id, token } = await makeAgent();
  const inbox = await connect(personOf(token));
  const aborting = new AbortController();
  const [mentions, aborted] = [inbox.mentions(), inbox.mentions({ signal: aborting.signal })];
  for (const each of [mentions, aborted]) await each.next();
  const reason = new Error("Enough");
  const rejected = expect(aborted.next()).rejects.toBe(reason);
  aborting.abort(reason);
  await rejected;
  await expect(inbox.mentions({ after: "none" }).next()).rejects.toMatchObject({ code: "BAD_REQUEST" });
  const ended = expect(mentions.next()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  await meeting.customer.send("DELETE", `/identities/${id}/tokens`, {});
  await ended;
});

it("comes back after a broken socket with all that has happened meanwhile, and with another token", async () => {
  const proxy = await BreakableProxy.before(service);
  onTestFinished(() => proxy.close());
  let asked = 0;
  const authToken = async () => {
    asked += 1;
    return (await identify("Bo")).token;
  };
  const inbox = await connect(personOf(authToken, proxy.url));
  let updates = 0;
  inbox.on("updated", () => {
    updates += 1;
  });
  const back = nextOf(inbox, "reconnected");
  proxy.cut();
  await back;
  expect([inbox.unread, updates]).toEqual([0, 0]);
  proxy.shut();
  await nextOf(inbox, "reconnecting");
  await notify("invoice-1");
  const updated = next<{ unread: number }>("Bo's inbox is updated", (listener) =>
    inbox.on("updated", listener),
  );
  proxy.open();
  expect(await updated).toEqual({ unread: 1 });
  expect(await subjectsOf(inbox)).toEqual(["invoice-1"]);
  const renewed = nextOf(inbox, "reconnected");
  await meeting.customer.send("DELETE", `/identities/${bo.identity.id}/tokens`);
  await renewed;
  expect([inbox.unread, asked]).toEqual([1, 2]);
  inbox.disconnect();
  expect(inbox.socket.state).toBe("closed");
  expect(await inbox.markAllAsRead()).toBe(0);
  await inbox.connect();
  expect(inbox.unread).toBe(0);
});

it("refuses the token of a user, and that of an identity that was deleted", async () => {
  const { token } = await meeting.customer.createUser(meeting.roomId, "Cleo");
  expect(() => openInbox({ serverUrl: service.url, authToken: token })).toThrow("token of an identity");
  await meeting.customer.send("DELETE", `/identities/${bo.identity.id}`);
  const inbox = openInbox({ serverUrl: service.url, authToken: bo.token });
  await expect(inbox.connect()).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(inbox.socket.state).toBe("closed");
});
