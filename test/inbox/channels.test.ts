/** Notifications that stay unread: what is sent of them by mail or as an event, to whom, and when not. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import {
  DEFAULTS,
  type NotificationSettingsUpdate,
} from "@atrium/contract/resources/notification-settings.ts";
import type { SentNotifications } from "@atrium/contract/resources/sent-notification.ts";
import { expect, inject, it, vi } from "vitest";
import { InboxObjectBase as InboxShard } from "../../src/features/inbox/shard/inbox-object.ts";
import type { Attempt, Sender } from "../../src/features/inbox/shard/sender.ts";
import { takeFromLimits } from "../../src/features/mail/limits.ts";
import { InboxObject } from "../../src/objects.ts";
import { openDirectory } from "../../src/platform/d1/databases.ts";
import { LINKS, Mailbox } from "../mail/mailbox.ts";
import { countLogged, expectLogged } from "../support/log-guard.ts";
import { freshEmail } from "../support/person.ts";
import { randomOf } from "../support/random.ts";
import { activity, Inbox, PAGE, waitingIn } from "./support.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Beyond the present, so that these mails are due only here; another day for each inbox. */
let start = Date.UTC(2090, 0);

/** The inbox of an identity with an address, in a deployment that sends mails. */
class MailedInbox {
  readonly inbox: Inbox;
  readonly email: string;
  readonly mailbox = new Mailbox();
  readonly #start = start;
  minutes = 0;

  private constructor(inbox: Inbox, email: string) {
    this.inbox = inbox;
    this.email = email;
    start += 2 * DAY_MS;
  }

  static async create(): Promise<MailedInbox> {
    const inbox = await Inbox.create();
    const email = freshEmail();
    await inbox.owner.api.patch(`/identities/${inbox.identityId}`, { email });
    const mailed = new MailedInbox(inbox, email);
    await mailed.change({ webPush: {} }); // makes the tables, which both objects then find, and which settings keep
    return mailed;
  }

  get now(): number {
    return this.#start + this.minutes * MINUTE_MS;
  }

  /** Works on the object as a deployment with mail makes it, at the time of the test. */
  run<T>(work: (object: InboxObject) => T | Promise<T>): Promise<T> {
    return runInDurableObject(this.inbox.stub, (_, state) => {
      const object = new InboxObject(state, this.mailbox.env);
      object.clock = () => this.now;
      return work(object);
    }) as Promise<T>;
  }

  async deliver(changes: Parameters<typeof activity>[0] = {}): Promise<void> {
    const defaults = (await this.inbox.owner.api.get<{ defaults: never }>("/notification-defaults")).data
      .defaults;
    const activities = [activity({ at: this.now, ...changes })];
    await this.run((object) => object.deliver([this.inbox.identityId], activities, defaults));
  }

  /** The alarm, so many minutes later. Returns the texts of the mails since the last one. */
  async after(minutes: number): Promise<string[]> {
    this.minutes += minutes;
    const known = this.mailbox.sent.length;
    await this.run((object) => object.alarm());
    return this.mailbox.sent.slice(known).map(({ text }) => text);
  }

  async sent(): Promise<readonly SentNotifications[]> {
    const path = `/identities/${this.inbox.identityId}/sent-notifications`;
    return (await this.inbox.owner.api.get<{ sent: SentNotifications[] }>(path)).data.sent;
  }

  async outcomes(): Promise<string[]> {
    return (await this.sent()).map(({ outcome }) => outcome).sort();
  }

  /** The outcome of each subject, as the listing has it. */
  async outcomeOf(): Promise<Record<string, string>> {
    const sent = (await this.sent()).flatMap(({ outcome, notifications }) =>
      notifications.map(({ subject_id: id }) => [id, outcome] as const),
    );
    return Object.fromEntries(sent);
  }

  /** The alarm, with other work while it reads access. Returns the texts of the mails. */
  async whileReading(work: (object: InboxObject) => unknown): Promise<string[]> {
    const known = this.mailbox.sent.length;
    await this.run(async (object) => {
      const alarm = object.alarm();
      await work(object);
      await alarm;
    });
    return this.mailbox.sent.slice(known).map(({ text }) => text);
  }

  /** Leaves the mails that are due unsent, for a mail service that is closed. */
  async fail(minutes: number): Promise<void> {
    this.mailbox.refusal = new Error("The mail service is closed");
    expect(await this.after(minutes)).toEqual([]);
    expectLogged("Notifications could not be sent yet: Error: The mail service is closed");
    expect(await this.outcomes()).toEqual(["waiting"]);
    this.mailbox.refusal = null;
  }

  async setEmail(email: string | null): Promise<void> {
    await this.inbox.owner.api.patch(`/identities/${this.inbox.identityId}`, { email });
  }

  async change(settings: NotificationSettingsUpdate): Promise<void> {
    await this.inbox.owner.api.patch(`/identities/${this.inbox.identityId}/notification-settings`, settings);
  }
}

/** A thread in a room that the identity may enter, with a comment of another user. */
async function withThread(mailed: MailedInbox, text = "Shall we move this up?") {
  const { api } = mailed.inbox.owner;
  const roomId = await mailed.inbox.room();
  await api.patch(`/rooms/${roomId}`, { name: "Weekly planning" });
  const { id: userId } = await api.createUser(roomId, { name: "Grace" });
  const { data: created } = await api.post<{ comment: { id: string; thread_id: string } }>(
    `/rooms/${roomId}/comments`,
    { text, userId },
  );
  const { id: commentId, thread_id: subjectId } = created.comment;
  await mailed.deliver({ roomId, subjectId, data: { commentId } });
  return { roomId, subjectId, commentId };
}

it("says of a comment that it mentions the reader, by the identity, its user in the room or its group", async () => {
  const mailed = await MailedInbox.create();
  const { identityId, owner } = mailed.inbox;
  const roomId = await mailed.inbox.room();
  const { id: userId } = await owner.api.createUser(roomId, { name: "Grace" });
  const { data } = await owner.api.post<{ group: { id: string } }>("/groups", { name: "Designers" });
  await owner.api.put(`/groups/${data.group.id}/members/${identityId}`);
  const other = (await owner.api.post<{ identity: { id: string } }>("/identities", { name: "Bo" })).data
    .identity;
  const mentions = [
    [{ kind: "user", id: identityId }],
    [{ kind: "group", id: data.group.id }],
    [{ kind: "user", id: other.id }],
  ];
  for (const [index, mentioned] of mentions.entries()) {
    const { data: created } = await owner.api.post<{ comment: { id: string } }>(`/rooms/${roomId}/comments`, {
      text: `No. ${index} 👩\u200d👩\u200d👧`,
      userId,
      mentions: mentioned,
    });
    const { id: commentId } = created.comment;
    await mailed.deliver({ roomId, subjectId: `thread-${index}`, data: { commentId } });
  }
  await mailed.after(30);
  const text = mailed.mailbox
    .to(mailed.email)
    .map((mail) => mail.text)
    .join("\n");
  expect(text).toContain("Grace mentioned you: No. 0 👩\u200d👩\u200d👧");
  expect(text).toContain("Grace mentioned you: No. 1");
  expect(text).toContain("Grace: No. 2");
});

it("mails what is unread after 15 minutes, once, with its text and a way out", async () => {
  const mailed = await MailedInbox.create();
  await mailed.inbox.owner.api.patch("/notification-defaults", {
    link: "https://app.example/rooms/{roomId}?thread={subjectId}",
  });
  await mailed.inbox.owner.api.patch("/notification-defaults", { email: { delay: 900 } }); // keeps the link
  const { roomId, subjectId } = await withThread(mailed);
  expect(await mailed.after(14)).toEqual([]);
  await mailed.deliver({ kind: "$invoice", subjectId: "invoice-7", data: { title: "Invoice 7 is due" } });
  const [text, ...others] = await mailed.after(1);
  expect(others).toEqual([]);
  expect(text).toContain("In Weekly planning\n\nGrace: Shall we move this up?");
  expect(text).toContain(`https://app.example/rooms/${roomId}?thread=${subjectId}`);
  expect(text).toContain("Invoice 7 is due\n\nYou receive this mail"); // without a room, without a link
  const [mail] = mailed.mailbox.to(mailed.email);
  expect(mail?.subject).toMatch(/: 2 unread notifications$/);
  expect(mail?.headers).toEqual({
    "List-Unsubscribe": expect.stringMatching(new RegExp(`^<${LINKS}/unsubscribe\\?token=`)),
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
  });
  expect(await mailed.after(60)).toEqual([]);
  expect(await mailed.outcomes()).toEqual(["sent"]);
  const { data } = await mailed.inbox.owner.api.get<{ records: { type: string }[] }>(
    `/identities/${mailed.inbox.identityId}/personal-data`,
  );
  expect(data.records).toContainEqual(expect.objectContaining({ type: "notification_settings" }));
  expect(data.records).toContainEqual({
    type: "sent_notifications",
    sent: expect.objectContaining({ channel: "email", outcome: "sent" }),
  });
});

it("waits anew when a notification was read in between", async () => {
  const mailed = await MailedInbox.create();
  await mailed.deliver({ seq: 1 });
  await mailed.after(10);
  await mailed.run((object) => object.markAll(mailed.inbox.caller));
  await mailed.deliver({ seq: 2 });
  expect(await mailed.after(10)).toEqual([]);
  expect(await mailed.after(5)).toHaveLength(1);
  expect(await mailed.outcomes()).toEqual(["sent"]);
});

it("tells nothing of a room that the identity may not enter any more", async () => {
  const mailed = await MailedInbox.create();
  const { roomId } = await withThread(mailed, "canary");
  await mailed.inbox.allow(roomId, null);
  expect(await mailed.after(15)).toEqual([]);
  expect(await mailed.outcomes()).toEqual(["no_access"]);
});

it("lets nothing wait for a mail that was read before, or is not wanted", async () => {
  const mailed = await MailedInbox.create();
  await mailed.inbox.markRead({ roomId: null, kind: "thread", subjectId: "read", upTo: 1 });
  await mailed.deliver({ subjectId: "read" });
  await mailed.change({ email: { enabled: false } });
  await mailed.deliver({ subjectId: "unwanted" });
  expect(await mailed.after(15)).toEqual([]);
  expect(await mailed.outcomeOf()).toEqual({ unwanted: "unwanted" });
});

it("says of what was not wanted when it arrived why it was not mailed, without a row of its own", async () => {
  const mailed = await MailedInbox.create();
  const [kept, muted] = [await mailed.inbox.room(), await mailed.inbox.room()];
  await mailed.change({ email: { kinds: { $chat: false }, rooms: { [muted]: false } } });
  await mailed.deliver({ kind: "$chat", subjectId: "a kind" });
  await mailed.deliver({ kind: "$task", roomId: muted, subjectId: "a room" });
  await mailed.deliver({ kind: "$task", roomId: kept, subjectId: "wanted" });
  expect(await mailed.inbox.contents()).not.toContain("sendings");
  expect(await mailed.sent()).toMatchObject([
    { channel: "email", outcome: "unwanted", at: new Date(mailed.now).toISOString() },
    { channel: "email", outcome: "unwanted", notifications: [{ seq: 1 }] },
  ]);
  expect(await mailed.outcomeOf()).toEqual({ "a kind": "unwanted", "a room": "unwanted" });
  await mailed.run((object) => object.markAll(mailed.inbox.caller));
  await mailed.change({ email: { kinds: { $chat: null }, rooms: { [muted]: null } } });
  expect(await mailed.outcomeOf()).toEqual({ "a kind": "unwanted", "a room": "unwanted" });
  const own = { kind: "$task", roomId: muted, subjectId: "a room", seq: null } as const;
  await mailed.deliver(own);
  expect(await mailed.outcomeOf()).toEqual({ "a kind": "unwanted" });
  expect(await mailed.after(15)).toHaveLength(1);
  await mailed.change({ email: { enabled: false } });
  mailed.minutes += 1;
  await mailed.deliver(own);
  const listed = await mailed.sent();
  expect(listed.map(({ outcome, notifications }) => [outcome, notifications[0]?.subject_id])).toEqual([
    ["unwanted", "a room"],
    ["sent", "a room"],
    ["unwanted", "a kind"],
  ]);
  expect(new Set(listed.map(({ id }) => id)).size).toBe(3);
});

it("mails a notification of another room that arrives while access is read, when its own time comes", async () => {
  const mailed = await MailedInbox.create();
  const [asked, other] = [await mailed.inbox.room(), await mailed.inbox.room()];
  await mailed.deliver({ roomId: asked, kind: "$task", subjectId: "first" });
  mailed.minutes += 15;
  const late = activity({ at: mailed.now, roomId: other, kind: "$task", subjectId: "second" });
  const [text, ...others] = await mailed.whileReading((object) =>
    object.deliver([mailed.inbox.identityId], [late], DEFAULTS),
  );
  expect([text?.match(/first|second/g), others]).toEqual([["first"], []]);
  expect(await mailed.outcomeOf()).toEqual({ first: "sent" });
  const [next] = await mailed.after(15);
  expect(next?.match(/first|second/g)).toEqual(["second", "first"].filter((id) => next?.includes(id)));
  expect(await mailed.outcomeOf()).toMatchObject({ second: "sent" });
});

it("mails what waits while another notification is refused when its own time comes, and not before", async () => {
  const mailed = await MailedInbox.create();
  const [closing, open] = [await mailed.inbox.room(), await mailed.inbox.room()];
  await mailed.deliver({ roomId: closing, kind: "$task", subjectId: "first" });
  await mailed.after(10);
  await mailed.deliver({ roomId: open, kind: "$task", subjectId: "second" });
  await mailed.deliver({ roomId: closing, kind: "$task", subjectId: "third", at: mailed.now + 1 });
  await mailed.inbox.allow(closing, null);
  expect(await mailed.after(5)).toEqual([]);
  expect(await mailed.outcomeOf()).toEqual({ first: "no_access" });
  await mailed.inbox.allow(closing, "viewer");
  const [text] = await mailed.after(10);
  expect(text?.match(/second|third/g)).toEqual(["second", "third"]);
});

it("neither lists, counts nor mails a notification of a closed room, until it is open again", async () => {
  const mailed = await MailedInbox.create();
  const { api } = mailed.inbox.owner;
  const { roomId } = await withThread(mailed, "canary");
  await mailed.deliver({ kind: "$task", subjectId: "another" });
  const seen = async () => {
    const path = `/identities/${mailed.inbox.identityId}/inbox-notifications`;
    const { data } = await api.get<{ notifications: object[] }>(path);
    return [data.notifications.length, (await api.get<{ unread: number }>(`${path}/count`)).data.unread];
  };
  // Of the service's own clock, all of it is far in the future, and shown.
  expect(await seen()).toEqual([2, 2]);
  await api.patch(`/rooms/${roomId}`, { state: "closed" });
  expect(await seen()).toEqual([1, 1]);
  const [text] = await mailed.after(15);
  expect(text).toContain("task: another");
  expect(text).not.toContain("canary");
  expect(await mailed.outcomes()).toEqual(["no_access", "sent"]);
  await api.patch(`/rooms/${roomId}`, { state: "active" });
  expect(await seen()).toEqual([2, 2]);
});

it("sends to 20 people by an alarm, and postpones only those whose access cannot be read", async () => {
  const { stub, identityId } = await Inbox.create();
  const ids = Array.from({ length: 24 }, () => identityId.slice(0, 2) + crypto.randomUUID().slice(2)).sort();
  await runInDurableObject(stub, async (_, state) => {
    let isClosed = true;
    const sent: string[] = [];
    const now = Date.now();
    const object = new InboxShard(
      state,
      {},
      {
        readAccess: async () => ({ epochs: null, rooms: new Map() }),
        readRecipient: async (key) => {
          if (isClosed && key.identityId === ids[0]) throw new Error("The database is closed");
          return { epochs: { identity: 0, account: 0 }, rooms: new Map(), email: null, defaults: DEFAULTS };
        },
        senders: ({ identityId: id }) => {
          const send = async () => {
            sent.push(id);
            return "sent" as const;
          };
          const sender = { refusal: () => null, send };
          return { email: sender, webPush: sender, webhook: sender };
        },
        verifyToken: async () => null,
        isTokenCurrent: async () => false,
      },
    );
    object.clock = () => now;
    object.deliver(ids, [activity()], DEFAULTS);
    const waiting = () => waitingIn(state.storage).map(({ id, due }) => ({ id, due }));
    object.clock = () => now + 15 * MINUTE_MS;
    await object.alarm();
    expectLogged("The notifications of an inbox could not be sent yet");
    expect(waiting()).toHaveLength(5);
    await object.alarm();
    expect(waiting()).toEqual([{ id: ids[0], due: now + 16 * MINUTE_MS }]);
    isClosed = false;
    object.clock = () => now + 16 * MINUTE_MS;
    await object.alarm();
    expect(waiting()).toEqual([]);
    expect(sent.toSorted()).toEqual(ids);
    expect(object.export(ids[1] ?? "", PAGE).sendings).toMatchObject([{ channel: "email", outcome: "sent" }]);
  });
});

it("writes a repeated mail from what is so when it is sent", async () => {
  const mailed = await MailedInbox.create();
  const { roomId } = await withThread(mailed, "canary");
  await mailed.deliver({ kind: "$invoice", subjectId: "invoice-7" });
  await mailed.fail(15);
  await mailed.inbox.allow(roomId, null);
  await mailed.after(5);
  const [mail] = mailed.mailbox.to(mailed.email);
  expect(mail?.text).toContain("invoice: invoice-7");
  expect(mail?.text).not.toContain("canary");
  expect(await mailed.outcomes()).toEqual(["no_access", "sent"]);
});

it("sends no repeated mail about what was read meanwhile", async () => {
  const mailed = await MailedInbox.create();
  await mailed.deliver();
  await mailed.fail(15);
  await mailed.run((object) => object.markAll(mailed.inbox.caller));
  await mailed.after(5);
  expect(mailed.mailbox.sent).toEqual([]);
  expect(await mailed.outcomes()).toEqual(["read"]);
});

it("sends no repeated mail about what was read, when a later comment was deleted", async () => {
  const mailed = await MailedInbox.create();
  const thread = { roomId: await mailed.inbox.room(), subjectId: "thread" };
  await mailed.deliver({ ...thread, seq: 1, id: "read comment" });
  await mailed.deliver({ ...thread, seq: 5, id: "deleted comment" });
  await mailed.fail(15);
  await mailed.run((object) => {
    object.markRead([mailed.inbox.identityId], { ...thread, kind: "thread", upTo: 1 });
    const activityIds = ["deleted comment"];
    object.removeItems([mailed.inbox.identityId], { ...thread, kind: "thread", activityIds });
    const later = activity({ ...thread, seq: 9, at: mailed.now });
    object.deliver([mailed.inbox.identityId], [later], DEFAULTS);
  });
  await mailed.after(5);
  expect(mailed.mailbox.sent).toEqual([]);
  expect(await mailed.outcomes()).toEqual(["read"]);
  expect(await mailed.after(10)).toHaveLength(1);
});

it("says of each notification of a mail whether it was in it", async () => {
  const mailed = await MailedInbox.create();
  const [open, lost] = [await mailed.inbox.room(), await mailed.inbox.room()];
  for (const [roomId, subjectId] of [
    [open, "sent"],
    [open, "read"],
    [lost, "lost"],
  ] as const)
    await mailed.deliver({ roomId, kind: "$task", subjectId });
  await mailed.fail(15);
  const read = await mailed.run(async (object) => {
    const page = await object.list(mailed.inbox.caller, PAGE);
    const item = page?.notifications.find(({ subject_id: id }) => id === "read");
    return object.markItem(mailed.inbox.caller, item?.id ?? "", null);
  });
  expect(read).toBe(2);
  await mailed.inbox.allow(lost, null);
  await mailed.after(5);
  expect(mailed.mailbox.sent).toHaveLength(1);
  expect(await mailed.outcomeOf()).toEqual({ sent: "sent", read: "read", lost: "no_access" });
});

it("sends a repeated mail to the address that the identity has by then", async () => {
  const mailed = await MailedInbox.create();
  await mailed.deliver();
  await mailed.fail(15);
  const [first, second] = [freshEmail(), freshEmail()];
  for (const email of [first, mailed.email, second]) {
    await mailed.setEmail(email);
    mailed.mailbox.refusal = new Error(`${email} is not there`);
    await mailed.after(15);
    expectLogged("Notifications could not be sent yet: Error: the recipient is not there");
  }
  mailed.mailbox.refusal = null;
  await mailed.after(30);
  await mailed.after(30);
  expect(mailed.mailbox.sent.map(({ to }) => to)).toEqual([second]);
  expect(await mailed.outcomes()).toEqual(["sent"]);
});

it("sends no repeated mail without an address, nor to one that has enough mails", async () => {
  const mailed = await MailedInbox.create();
  await mailed.deliver();
  await mailed.fail(15);
  await mailed.setEmail(null);
  await mailed.after(5);
  expect(await mailed.outcomes()).toEqual(["no_address"]);
  const other = await MailedInbox.create();
  await other.deliver();
  await other.fail(15);
  const full = freshEmail();
  await fillAddress(other, full);
  await other.setEmail(full);
  await other.after(5);
  expect([...mailed.mailbox.sent, ...other.mailbox.sent]).toEqual([]);
  expect(await other.outcomes()).toEqual(["limit"]);
});

/** As many mails as the organization may send to an address in a day. */
async function fillAddress(mailed: MailedInbox, address: string): Promise<void> {
  const take = () => takeFromLimits(openDirectory(env), mailed.inbox.owner.id, address, mailed.now);
  for (let count = 0; count < 100; count += 1) expect(await take()).toBe(true);
  expect(await take()).toBe(false);
}

it("counts the mails to an address in each 24 hours, and a repeated one once", async () => {
  const mailed = await MailedInbox.create();
  await mailed.deliver();
  await mailed.fail(15);
  await mailed.after(5);
  const count = "SELECT sum(count) AS count FROM mail_counts WHERE account_id = ? AND recipient <> ''";
  const counted = await env.DB.prepare(count).bind(mailed.inbox.owner.id).first<{ count: number }>();
  expect([mailed.mailbox.sent.length, counted]).toEqual([1, { count: 1 }]);
  await fillAddress(mailed, freshEmail());
  const take = (at: number, address: string) =>
    takeFromLimits(openDirectory(env), mailed.inbox.owner.id, address, at);
  for (let number = 1; number < 100; number += 1) await take(mailed.now, mailed.email);
  expect(await take(mailed.now + DAY_MS, mailed.email.toUpperCase())).toBe(false);
  expect(await take(mailed.now + DAY_MS + 60 * MINUTE_MS, mailed.email)).toBe(true);
});

it("sends a mail that is due after a crash, once", async () => {
  const mailed = await MailedInbox.create();
  await mailed.deliver();
  await evictDurableObject(mailed.inbox.stub);
  expect(await mailed.after(15)).toHaveLength(1);
  await evictDurableObject(mailed.inbox.stub);
  expect(await mailed.after(15)).toEqual([]);
  expect(await mailed.outcomes()).toEqual(["sent"]);
});

it("repeats a mail whose end is not known after five minutes, and no third time", async () => {
  const mailed = await MailedInbox.create();
  await mailed.deliver();
  mailed.minutes = 15;
  /** The mail service takes the mail and never answers. */
  const attempt = async () => {
    const known = mailed.mailbox.sent.length;
    mailed.mailbox.isSilent = true;
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    await mailed.run(async (object) => {
      const alarm = object.alarm();
      await vi.waitUntil(() => mailed.mailbox.sent.length > known, { timeout: 30_000 });
      await vi.advanceTimersByTimeAsync(20_000);
      await alarm;
    });
    vi.useRealTimers();
    expectLogged("It is not known whether a mail was sent");
    mailed.mailbox.isSilent = false;
  };
  await attempt();
  expect(await mailed.after(4)).toEqual([]);
  expect(await mailed.outcomes()).toEqual(["waiting"]);
  mailed.minutes += 1;
  await attempt();
  expect(await mailed.after(5)).toEqual([]);
  expect(await mailed.outcomes()).toEqual(["unknown"]);
  expect(mailed.mailbox.sent).toHaveLength(2);
});

it("logs an outage of the mail service once, and sends everything after it", async () => {
  const mailed = await MailedInbox.create();
  mailed.mailbox.refusal = new Error("The mail service is closed");
  await mailed.deliver({ subjectId: "first" });
  await mailed.run(async (object) => {
    const alarm = async (minutes: number) => {
      mailed.minutes += minutes;
      await object.alarm();
    };
    await alarm(15);
    object.deliver([mailed.inbox.identityId], [activity({ subjectId: "second", at: mailed.now })], DEFAULTS);
    for (const minutes of [1, 2, 4, 8]) await alarm(minutes);
    expect(countLogged("Notifications could not be sent yet")).toBe(1);
    mailed.mailbox.refusal = null;
    await alarm(60);
  });
  expectLogged("Notifications could not be sent yet");
  expect(await mailed.outcomes()).toEqual(["sent", "sent"]);
  expect(mailed.mailbox.to(mailed.email)).toHaveLength(2);
});

it("gives a mail up after eight failures", async () => {
  const mailed = await MailedInbox.create();
  await mailed.deliver();
  await mailed.fail(15);
  mailed.mailbox.refusal = new Error("The mail service is closed");
  for (let attempt = 2; attempt < 8; attempt += 1) {
    await mailed.after(120);
    expectLogged("Notifications could not be sent yet");
  }
  await mailed.after(120);
  expectLogged("Notifications could not be sent, and were given up");
  mailed.mailbox.refusal = null;
  expect(await mailed.after(24 * 60)).toEqual([]);
  expect(await mailed.outcomes()).toEqual(["failed"]);
});

it("sends one mail about many notifications, with the texts of the first 20", async () => {
  const mailed = await MailedInbox.create();
  for (let number = 1; number <= 30; number += 1)
    await mailed.deliver({ kind: "$task", subjectId: `number ${number}.` });
  const [text = "", ...others] = await mailed.after(15);
  expect(others).toEqual([]);
  expect(text.match(/number \d+\./g)).toHaveLength(20);
  expect(text).toContain("And 10 more.");
  expect(mailed.mailbox.sent[0]?.subject).toMatch(/: 30 unread notifications$/);
});

it("sends nothing to an identity that was erased while its mail was due", async () => {
  const mailed = await MailedInbox.create();
  await mailed.deliver();
  await mailed.fail(15);
  await mailed.inbox.owner.api.delete(`/identities/${mailed.inbox.identityId}`);
  expect(await mailed.after(5)).toEqual([]);
  expect(await mailed.inbox.contents()).toEqual(["inboxes"]);
});

const SUBJECT = { kind: "thread", roomId: null, subjectId: "subject" } as const;

const MEANWHILE: Readonly<Record<string, (object: InboxShard, id: string) => unknown>> = {
  "was read": (object, id) => object.markRead([id], { ...SUBJECT, upTo: 9 }),
  "was erased": (object, id) => object.remove([id]),
  "is not wanted": (object, id) => object.changeSettings(id, { email: { enabled: false } }),
};

it.each(Object.entries(MEANWHILE))(
  "begins no attempt at what %s while the mail was written",
  async (_, change) => {
    const { stub, identityId } = await Inbox.create();
    await runInDurableObject(stub, async (__, state) => {
      const begun: boolean[] = [];
      const email = async (attempt: Attempt) => {
        await change(object, identityId);
        begun.push(attempt.begin());
        return "waiting" as const;
      };
      const object: InboxShard = shardSending(state, email);
      object.deliver([identityId], [activity(SUBJECT)], DEFAULTS);
      object.clock = () => Date.now() + 15 * MINUTE_MS;
      await object.alarm();
      await object.alarm();
      expect(begun).toEqual([false]);
      expect(object.export(identityId, PAGE).sendings.map(({ outcome }) => outcome)).not.toContain("sent");
    });
  },
);

/** A shard whose channels send by `send`, to identities with an address. */
function shardSending(state: DurableObjectState, send: Sender["send"]): InboxShard {
  const [epochs, email] = [{ identity: 0, account: 0 }, "ada@example.com"];
  const sender = { refusal: () => null, send };
  const ports = {
    readAccess: async () => ({ epochs, rooms: new Map() }),
    readRecipient: async () => ({ epochs, rooms: new Map(), email, defaults: DEFAULTS }),
    senders: () => ({ email: sender, webPush: sender, webhook: sender }),
    verifyToken: async () => null,
    isTokenCurrent: async () => false,
  };
  return new InboxShard(state, {}, ports);
}

it("keeps what was sent of a deleted room for 90 days, as IDs without data, and then nothing of it", async () => {
  const mailed = await MailedInbox.create();
  const { api } = mailed.inbox.owner;
  const roomId = await mailed.inbox.room();
  await mailed.deliver({ kind: "$task", roomId, subjectId: "task-7", data: { secret: "canary" } });
  expect(await mailed.after(15)).toHaveLength(1);
  await mailed.deliver({ kind: "$task", roomId, subjectId: "task-8", data: { secret: "canary" } });
  await mailed.change({ email: { enabled: false } });
  expect(await mailed.after(15)).toEqual([]);
  await api.delete(`/rooms/${roomId}`);
  await mailed.after(1);
  const reference = { id: expect.any(String), kind: "$task", room_id: roomId, seq: 1 };
  expect(await mailed.sent()).toMatchObject([
    { outcome: "unwanted", notifications: [{ ...reference, subject_id: "task-8" }] },
    { outcome: "sent", notifications: [{ ...reference, subject_id: "task-7" }] },
  ]);
  const exported = await api.get(`/identities/${mailed.inbox.identityId}/personal-data?limit=1000`);
  expect(JSON.stringify(exported.data)).toContain("task-7");
  expect(JSON.stringify(exported.data)).not.toContain("canary");
  await mailed.after(90 * 24 * 60);
  expect(await mailed.sent()).toEqual([]);
  expect(await mailed.inbox.contents()).toEqual(["inboxes"]);
});

it("keeps a sending that has yet to end beside many later ones", async () => {
  const { stub, identityId } = await Inbox.create();
  await runInDurableObject(stub, async (_, state) => {
    const object = shardSending(state, async ({ items: [item] }) =>
      item?.subjectId === "waiting" ? "waiting" : "sent",
    );
    let now = Date.now();
    object.clock = () => now;
    const defaults = { ...DEFAULTS, email: { ...DEFAULTS.email, delay: 60 } };
    const send = async (subjectId: string) => {
      object.deliver([identityId], [activity({ subjectId, at: now })], defaults);
      now += MINUTE_MS;
      await object.alarm();
    };
    await send("waiting");
    for (let number = 1; number <= 220; number += 1) await send(`${number}`);
    const listed = (await object.listSendings(identityId, 300)) ?? [];
    expect(listed.at(-1)).toMatchObject({ outcome: "waiting", items: [{ subjectId: "waiting" }] });
    // Beside 200, the latest one has ended since they were counted.
    expect(listed).toHaveLength(202);
  });
});

it("asks the room first, then the kind, then the organization whether a mail is wanted", async () => {
  const mailed = await MailedInbox.create();
  const [wanted, unwanted] = [await mailed.inbox.room(), await mailed.inbox.room()];
  await mailed.inbox.owner.api.patch("/notification-defaults", { email: { kinds: { $chat: false } } });
  await mailed.change({ email: { kinds: { thread: false }, rooms: { [wanted]: true, [unwanted]: false } } });
  let at = mailed.now;
  const of = (roomId: string | null, kind: "thread" | "$chat" | "$task", subjectId: string) => {
    at += 1;
    return mailed.deliver({ roomId, kind, subjectId, data: { title: subjectId }, at });
  };
  await of(wanted, "$task", "wanted room");
  await of(unwanted, "$task", "unwanted room");
  await of(null, "$chat", "kind that the organization does not send");
  await of(null, "$task", "another kind");
  await of(null, "thread", "kind that the identity does not want");
  const [text] = await mailed.after(15);
  expect(text?.match(/unwanted room|wanted room|kind that .*|another kind/g)).toEqual([
    "wanted room",
    "another kind",
  ]);
});

it("sends no mail to an identity without an address, and says so", async () => {
  const mailed = await MailedInbox.create();
  await mailed.inbox.owner.api.patch(`/identities/${mailed.inbox.identityId}`, { email: null });
  await mailed.deliver();
  expect(await mailed.after(15)).toEqual([]);
  expect(await mailed.outcomes()).toEqual(["no_address"]);
});

it("ends the mails of an identity with one click, and not by opening the link", async () => {
  const mailed = await MailedInbox.create();
  await mailed.deliver();
  const [text = ""] = await mailed.after(15);
  const [link = ""] = text.match(/https:\S+\/unsubscribe\S+/) ?? [];
  const open = (url: string, init: RequestInit = {}) => exports.default.fetch(new Request(url, init));
  const asked = await open(link);
  expect(await asked.text()).toContain('<form method="post">');
  await mailed.deliver({ subjectId: "another" });
  expect(await mailed.after(15)).toHaveLength(1);
  const body = "List-Unsubscribe=One-Click";
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  const done = await open(link, { method: "POST", body, headers });
  expect(done.status).toBe(200);
  await mailed.deliver({ subjectId: "a third one" });
  expect(await mailed.after(15)).toEqual([]);
  const forged = await open(`${link.slice(0, -2)}AA`, { method: "POST" });
  expect(forged.status).toBe(404);
});

it("gives the organization's own back end an event instead", async () => {
  const mailed = await MailedInbox.create();
  const { api } = mailed.inbox.owner;
  await api.patch("/notification-defaults", {
    webPush: { sender: "webhook", delay: 0 },
    email: { sender: "none" },
  });
  mailed.minutes = (Date.now() - mailed.now) / MINUTE_MS;
  await mailed.deliver({ kind: "$invoice", subjectId: "invoice-7" });
  await mailed.after(0);
  const { data } = await api.get<{ events: object[] }>("/events?events=notification");
  expect(data.events).toMatchObject([
    {
      event: "notification",
      data: {
        identityId: mailed.inbox.identityId,
        channel: "webPush",
        notifications: [{ kind: "$invoice", room_id: null, subject_id: "invoice-7", seq: 1 }],
      },
      identity: { email: mailed.email },
    },
  ]);
  expect(await mailed.outcomes()).toEqual(["sent"]);
});

it("refuses settings with too many rooms, and keeps those that there are", async () => {
  const { inbox } = await MailedInbox.create();
  const path = `/identities/${inbox.identityId}/notification-settings`;
  const rooms = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`room ${index}`, false]));
  await inbox.owner.api.patch(path, { webPush: { rooms } });
  const more = Object.fromEntries(Object.keys(rooms).map((id) => [`other ${id}`, true]));
  const refused = await inbox.owner.api.patch(path, { webPush: { rooms: more } });
  expect(refused.status).toBe(400);
  const { data } = await inbox.owner.api.get<{ settings: { webPush: { rooms: object } } }>(path);
  expect(data.settings.webPush.rooms).toEqual(rooms);
  await inbox.owner.api.patch(path, { webPush: { rooms: { "room 0": null } } });
  const { data: fewer } = await inbox.owner.api.get<{ settings: { webPush: { rooms: object } } }>(path);
  expect(Object.keys(fewer.settings.webPush.rooms)).toHaveLength(399);
});

/** A thread of the model, with the seqs of its comments. */
interface ModelThread {
  readonly roomId: string;
  readonly comments: Map<string, number>;
  readSeq: number;
  /** When a mail is due, in minutes; null while it waits for none. */
  due: number | null;
}

/** The mails of random histories beside a model of who has read what, and may read it. */
async function expectRightMails(seed: number): Promise<void> {
  const random = randomOf(seed);
  const mailed = await MailedInbox.create();
  const { identityId, owner } = mailed.inbox;
  await owner.api.patch("/notification-defaults", { link: "https://app.example/{subjectId}" });
  const rooms = [await mailed.inbox.room(), await mailed.inbox.room()];
  const [allowed, open, wanted] = [new Set(rooms), new Set(rooms), new Set(rooms)];
  const names = rooms.flatMap((roomId, room) => [0, 1, 2].map((n) => [`${room}-${n}`, roomId] as const));
  const threads = new Map(
    names.map(([name, roomId]): [string, ModelThread] => [
      name,
      { roomId, comments: new Map(), readSeq: 0, due: null },
    ]),
  );
  let [seq, email]: [number, string | null] = [0, mailed.email];
  const anyRoom = () => rooms[random(2)] ?? "";
  const any = () => [...threads][random(threads.size)] as [string, ModelThread];
  const latest = ({ comments }: ModelThread) => Math.max(0, ...comments.values());
  const settle = (thread: ModelThread) => {
    if (thread.readSeq >= latest(thread)) thread.due = null;
  };
  const toggle = (set: Set<string>, roomId: string) => set.delete(roomId) || !set.add(roomId);

  const arrive = (object: InboxObject) => {
    const [subjectId, thread] = any();
    const { roomId } = thread;
    const comment = activity({ roomId, subjectId, seq: ++seq, at: mailed.now });
    object.deliver([identityId], [comment], { ...DEFAULTS, link: null });
    thread.comments.set(comment.id, seq);
    if (wanted.has(roomId)) thread.due ??= mailed.minutes + 15;
  };
  const read = (object: InboxObject) => {
    const [subjectId, thread] = any();
    const upTo = random(seq + 1);
    object.markRead([identityId], { roomId: thread.roomId, kind: "thread", subjectId, upTo });
    thread.readSeq = Math.max(thread.readSeq, upTo);
    settle(thread);
  };
  const remove = (object: InboxObject) => {
    const [subjectId, thread] = any();
    const activityIds = [...thread.comments.keys()].filter(() => random(2) === 0);
    object.removeItems([identityId], { roomId: thread.roomId, kind: "thread", subjectId, activityIds });
    for (const id of activityIds) thread.comments.delete(id);
    settle(thread);
  };
  const changes = [
    () => mailed.run(arrive),
    () => mailed.run(arrive),
    () => mailed.run(read),
    () => mailed.run(remove),
    async () => {
      const roomId = anyRoom();
      await mailed.inbox.allow(roomId, toggle(allowed, roomId) ? null : "editor");
    },
    async () => {
      const roomId = anyRoom();
      await owner.api.patch(`/rooms/${roomId}`, { state: toggle(open, roomId) ? "closed" : "active" });
    },
    async () => {
      const roomId = anyRoom();
      await mailed.change({ email: { rooms: { [roomId]: !toggle(wanted, roomId) } } });
    },
    async () => {
      email = random(3) === 0 ? null : freshEmail();
      await mailed.setEmail(email);
    },
  ];
  const change = async () => changes[random(changes.length)]?.();

  const isSent = ({ roomId }: ModelThread) =>
    email !== null && allowed.has(roomId) && open.has(roomId) && wanted.has(roomId);
  const expectMail = (known: number, told: readonly string[]) => {
    const sent = mailed.mailbox.sent.slice(known);
    expect(sent.map(({ to }) => to)).toEqual(told.length > 0 ? [email] : []);
    const found = names.map(([name]) => name).filter((name) => sent[0]?.text.includes(`example/${name}`));
    expect(found).toEqual(told);
  };
  /** The alarm, five minutes later, with or without the mail service and with something that happens meanwhile. */
  const alarm = async () => {
    mailed.minutes += 5;
    const known = mailed.mailbox.sent.length;
    const asked = [...threads].filter(([, { due }]) => due !== null);
    const isAsked = asked.some(([, { due }]) => (due ?? 0) <= mailed.minutes);
    const isClosed = random(2) === 0;
    if (isClosed) mailed.mailbox.refusal = new Error("closed");
    const meanwhile = [() => {}, arrive, read][random(3)];
    await mailed.whileReading((object) => isAsked && meanwhile?.(object));
    const waiting = asked.filter(([, { due }]) => due !== null);
    const isDue = ([, { due }]: [string, ModelThread]) => due !== null && due <= mailed.minutes;
    const going = waiting.filter(([, thread]) => isSent(thread));
    const told = going.some(isDue) ? going : [];
    const sending = told.map(([name, thread]) => ({ name, thread, upTo: latest(thread) }));
    for (const [, thread] of [...told, ...waiting.filter(isDue)]) thread.due = null;
    if (!isClosed || sending.length === 0) {
      mailed.mailbox.refusal = null;
      return expectMail(known, isClosed ? [] : sending.map(({ name }) => name));
    }
    expectLogged("Notifications could not be sent yet");
    for (let count = random(4); count > 0; count -= 1) await change();
    mailed.mailbox.refusal = null;
    await mailed.after(5);
    const left = sending.filter(
      ({ thread, upTo }) =>
        isSent(thread) && [...thread.comments.values()].some((each) => each > thread.readSeq && each <= upTo),
    );
    expectMail(
      known,
      left.map(({ name }) => name),
    );
  };
  for (let step = 1; step <= 20; step += 1) await (random(4) === 0 ? alarm() : change());
}

const { seed: firstSeed, mails } = inject("endurance");

it(
  "mails in random histories what is unread, wanted and may be read, and nothing else",
  async () => {
    for (let seed = firstSeed; seed < firstSeed + mails; seed += 1) await expectRightMails(seed);
  },
  120_000 + mails * 2_000,
);
