/** `atrium/inbox`: notifications arrive live, and are read and deleted for all clients of an identity. */

import { Atrium, type AuthToken } from "atrium/client";
import { type AgentMentionedEvent, type Inbox, type InboxNotification, openInbox } from "atrium/inbox";
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

it("shows an agent a mention with the text of its thread, beside the notification", async () => {
  const { customer, roomId } = meeting;
  const agent = await customer.send<{ identity: { id: string } }>("POST", "/identities", {
    ...{ name: "Assistant", kind: "agent" },
  });
  const { id } = agent.data.identity;
  const access = { identitiesAccesses: { [id]: "editor" } };
  await customer.send("PUT", `/rooms/${roomId}/access`, access);
  const { data } = await customer.send<{ token: string }>("POST", `/identities/${id}/tokens`, {});
  const inbox = await connect(personOf(data.token));
  const mentioned = next<AgentMentionedEvent>("the agent is mentioned", (listener) =>
    inbox.on("mention", listener),
  );
  const notified = next<InboxNotification>("the agent is notified", (listener) =>
    inbox.on("notification", listener),
  );
  const room = personOf(ada.token).enterRoom(roomId);
  onTestFinished(() => room.disconnect());
  await room.join();
  const first = await room.comments.create({ text: "It is on Monday" });
  const mentions = [{ kind: "user", id } as const];
  await room.comments.create({ text: "Is it?", threadId: first.id, mentions });
  expect(await mentioned).toMatchObject({
    event: "agent.mentioned",
    data: { roomId, identityId: id, by: { identityId: ada.identity.id, kind: "person" }, depth: 1 },
    comment: { text: "Is it?" },
    thread: { id: first.id, comments: [{ text: "It is on Monday" }] },
  });
  expect(await notified).toMatchObject({ thread_id: first.id });
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
