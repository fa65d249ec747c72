/** Notifications that stay unread: what is sent of them by mail or as an event, to whom, and when not. */
import { runInDurableObject } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { expect, inject, it } from "vitest";
import { InboxObject as InboxShard } from "../../src/features/inbox/inbox-object.ts";
import { InboxObject } from "../../src/objects.ts";
import { DEFAULTS, type NotificationSettingsUpdate } from "../../src/wire/notification-settings.ts";
import { LINKS, Mailbox } from "../mail/mailbox.ts";
import { expectLogged } from "../support/log-guard.ts";
import { freshEmail } from "../support/person.ts";
import { randomOf } from "../support/random.ts";
import { activity, Inbox, PAGE } from "./support.ts";

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

  async outcomes(): Promise<string[]> {
    const path = `/identities/${this.inbox.identityId}/sent-notifications`;
    const { data } = await this.inbox.owner.api.get<{ sent: { outcome: string }[] }>(path);
    return data.sent.map(({ outcome }) => outcome).sort();
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
  await mailed.run((object) => object.markAll(mailed.inbox.viewer));
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
  expect(await mailed.outcomes()).toEqual([]);
});

it("sends to 50 people by an alarm, and postpones only those whose access cannot be read", async () => {
  const { stub, identityId } = await Inbox.create();
  const ids = Array.from({ length: 60 }, () => identityId.slice(0, 2) + crypto.randomUUID().slice(2)).sort();
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
      },
    );
    object.clock = () => now;
    object.deliver(ids, [activity()], DEFAULTS);
    const waiting = () =>
      state.storage.sql
        .exec<{ id: string; due: number }>("SELECT identity_id AS id, due FROM waiting")
        .toArray();
    object.clock = () => now + 15 * MINUTE_MS;
    await object.alarm();
    expectLogged("The notifications of an inbox could not be sent yet");
    expect(waiting()).toHaveLength(11);
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

it("writes a queued mail from what is so when it is sent", async () => {
  const mailed = await MailedInbox.create();
  const { roomId } = await withThread(mailed, "canary");
  await mailed.deliver({ kind: "$invoice", subjectId: "invoice-7" });
  mailed.mailbox.refusal = new Error("The mail service is closed");
  expect(await mailed.after(15)).toEqual([]);
  expectLogged("A mail could not be sent yet");
  expect(await mailed.outcomes()).toEqual(["queued"]);
  await mailed.inbox.allow(roomId, null);
  mailed.mailbox.refusal = null;
  mailed.minutes += 5;
  await mailed.mailbox.sendDue(mailed.now);
  const [mail] = mailed.mailbox.to(mailed.email);
  expect(mail?.text).toContain("invoice: invoice-7");
  expect(mail?.text).not.toContain("canary");
  expect(await mailed.outcomes()).toEqual(["sent"]);
});

it("sends no queued mail about what was read meanwhile", async () => {
  const mailed = await MailedInbox.create();
  await mailed.deliver();
  mailed.mailbox.refusal = new Error("The mail service is closed");
  await mailed.after(15);
  expectLogged("A mail could not be sent yet");
  await mailed.run((object) => object.markAll(mailed.inbox.viewer));
  mailed.mailbox.refusal = null;
  mailed.minutes += 5;
  await mailed.mailbox.sendDue(mailed.now);
  expect(mailed.mailbox.sent).toEqual([]);
  expect(await mailed.outcomes()).toEqual(["read"]);
});

it("asks the room first, then the kind, then the organization whether a mail is wanted", async () => {
  const mailed = await MailedInbox.create();
  const [wanted, unwanted] = [await mailed.inbox.room(), await mailed.inbox.room()];
  await mailed.inbox.owner.api.patch("/notification-defaults", { email: { kinds: { $chat: false } } });
  await mailed.change({ email: { kinds: { thread: false }, rooms: { [wanted]: true, [unwanted]: false } } });
  const of = (roomId: string | null, kind: "thread" | "$chat" | "$task", subjectId: string) =>
    mailed.deliver({ roomId, kind, subjectId, data: { title: subjectId } });
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

/** The mails of random histories beside a model of who has read what, and may read it. */
async function expectRightMails(seed: number): Promise<void> {
  const random = randomOf(seed);
  const mailed = await MailedInbox.create();
  const rooms = [await mailed.inbox.room(), await mailed.inbox.room()];
  const unread = new Map<string, { readonly roomId: string; readonly since: number }>();
  const allowed = new Set(rooms);
  const wanted = new Set(rooms);
  const any = () => rooms[random(rooms.length)] ?? "";
  for (let step = 1; step <= 20; step += 1) {
    const roomId = any();
    switch (random(6)) {
      case 0:
      case 1: {
        const subjectId = `${roomId} ${random(3)}`;
        await mailed.deliver({ roomId, kind: "$task", subjectId, seq: null, data: { title: subjectId } });
        if (wanted.has(roomId) && !unread.has(subjectId))
          unread.set(subjectId, { roomId, since: mailed.minutes });
        break;
      }
      case 2: {
        const page = await mailed.run((object) =>
          object.list(mailed.inbox.viewer, { ...PAGE, unread: true }),
        );
        const item = page?.notifications[0];
        if (item === undefined) break;
        await mailed.run((object) => object.markItem(mailed.inbox.viewer, item.id, null));
        unread.delete(item.subject_id);
        break;
      }
      case 3: {
        await mailed.inbox.allow(roomId, allowed.has(roomId) ? null : "editor");
        if (!allowed.delete(roomId)) allowed.add(roomId);
        break;
      }
      case 4: {
        await mailed.change({ email: { rooms: { [roomId]: !wanted.has(roomId) } } });
        if (!wanted.delete(roomId)) wanted.add(roomId);
        break;
      }
      default: {
        const texts = await mailed.after(5);
        const isDue = [...unread.values()].some(({ since }) => since + 15 <= mailed.minutes);
        const told = isDue
          ? [...unread].filter(([, { roomId }]) => allowed.has(roomId) && wanted.has(roomId))
          : [];
        expect(texts.length).toBe(told.length > 0 ? 1 : 0);
        for (const subjectId of rooms.flatMap((id) => [0, 1, 2].map((number) => `${id} ${number}`)))
          expect(texts.join().includes(subjectId)).toBe(told.some(([id]) => id === subjectId));
        if (isDue) unread.clear();
      }
    }
  }
}

const { seed: firstSeed, mails } = inject("endurance");

it(
  "mails in random histories what is unread, wanted and may be read, and nothing else",
  async () => {
    for (let seed = firstSeed; seed < firstSeed + mails; seed += 1) await expectRightMails(seed);
  },
  120_000 + mails * 2_000,
);
