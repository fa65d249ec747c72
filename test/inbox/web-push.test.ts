/** Notifications that stay unread are pushed to the browsers of an identity: encrypted, while they hold, and where they matter. */
import { runInDurableObject } from "cloudflare:test";
import type { InboxActivity } from "@atrium/contract/resources/inbox.ts";
import { DEFAULTS } from "@atrium/contract/resources/notification-settings.ts";
import type { PushSubscriptions } from "@atrium/contract/resources/push-subscription.ts";
import { expect, it } from "vitest";
import { InboxStore } from "../../src/features/inbox/shard/inbox-store.ts";
import { InboxTables } from "../../src/features/inbox/shard/inbox-tables.ts";
import { PushTargets } from "../../src/features/inbox/shard/push-store.ts";
import type { InboxObject } from "../../src/objects.ts";
import { joinRoom } from "../room/support/join.ts";
import type { Api } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { PushBrowser, verifyVapid } from "./browser.ts";
import { activity, Inbox } from "./support.ts";

const SECOND_MS = 1000;
const PATH = "/me/push-subscriptions";
/** Beyond the present, so that no alarm comes by itself. */
const START = Date.UTC(2080, 0);

/** The inbox of an identity that has subscribed browsers. */
class PushedInbox {
  readonly inbox: Inbox;
  readonly api: Api;
  #now = START;

  private constructor(inbox: Inbox, api: Api) {
    this.inbox = inbox;
    this.api = api;
  }

  static async create(...browsers: readonly PushBrowser[]): Promise<PushedInbox> {
    const inbox = await Inbox.create();
    const pushed = new PushedInbox(inbox, inbox.owner.api.as(await inbox.token()));
    for (const browser of browsers) await pushed.subscribe(browser);
    return pushed;
  }

  async subscribe(browser: PushBrowser): Promise<void> {
    await this.#run(() => {}); // sets the clock
    expect((await this.api.post(PATH, browser.toJSON())).error).toBeNull();
    this.#now += SECOND_MS;
  }

  get now(): number {
    return this.#now;
  }

  #run(work: (object: InboxObject) => unknown): Promise<void> {
    return runInDurableObject(this.inbox.stub, async (object) => {
      const inbox = object as unknown as InboxObject;
      inbox.clock = () => this.#now;
      await work(inbox);
    });
  }

  /** Delivers an activity as the service does, by the defaults of its organization. */
  async deliver(changes: Parameters<typeof activity>[0] = {}): Promise<void> {
    const { data } = await this.inbox.owner.api.get<{ defaults: never }>("/notification-defaults");
    const own = { kind: "$invoice", subjectId: "invoice-7", seq: null } as const;
    await this.#run((object) =>
      object.deliver(
        [this.inbox.identityId],
        [activity({ ...own, at: this.#now, ...changes })],
        data.defaults,
      ),
    );
  }

  read(): Promise<void> {
    return this.#run((object) => object.markAll(this.inbox.caller));
  }

  /** The alarm, so many seconds later, with activities that arrive while it reads access. */
  async afterWith(seconds: number, activities: readonly InboxActivity[]): Promise<void> {
    this.#now += seconds * SECOND_MS;
    await this.#run(async (object) => {
      const alarm = object.alarm();
      object.deliver([this.inbox.identityId], activities, DEFAULTS);
      await alarm;
    });
  }

  /** The alarm, so many seconds later. */
  async after(seconds: number): Promise<void> {
    this.#now += seconds * SECOND_MS;
    await this.#run((object) => object.alarm());
  }

  async outcomes(): Promise<string[]> {
    const path = `/identities/${this.inbox.identityId}/sent-notifications`;
    const { data } = await this.inbox.owner.api.get<{ sent: { outcome: string }[] }>(path);
    return data.sent.map(({ outcome }) => outcome);
  }

  async subscriptions(): Promise<PushSubscriptions> {
    return (await this.api.get<PushSubscriptions>(PATH)).data;
  }

  async endpoints(): Promise<string[]> {
    return (await this.subscriptions()).subscriptions.map(({ endpoint }) => endpoint);
  }

  /** A room that the identity may enter, with a comment by another user. */
  async room(text: string) {
    const { api } = this.inbox.owner;
    const roomId = await this.inbox.room();
    await api.patch(`/rooms/${roomId}`, { name: "Weekly planning" });
    const { id: userId } = await api.createUser(roomId, { name: "Grace" });
    const { data } = await api.post<{ comment: { id: string } }>(`/rooms/${roomId}/comments`, {
      text,
      userId,
    });
    const { id } = data.comment;
    return {
      roomId,
      activity: { kind: "thread", roomId, subjectId: id, seq: 1, data: { commentId: id } } as const,
    };
  }
}

it("pushes what is unread after 10 seconds, encrypted for each browser and signed with the key", async () => {
  const browsers = [await PushBrowser.create(), await PushBrowser.create()] as const;
  const pushed = await PushedInbox.create(...browsers);
  await pushed.inbox.owner.api.patch("/notification-defaults", {
    link: "https://app.example/rooms/{roomId}?thread={subjectId}",
  });
  const { roomId, activity: comment } = await pushed.room("Shall we move this up?");
  await pushed.deliver(comment);
  await pushed.after(9);
  expect(await browsers[0].pushed()).toEqual([]);
  await pushed.after(1);
  await pushed.after(60);
  const [{ notifications } = { notifications: [] }] = [
    (await pushed.api.get<{ notifications: { id: string }[] }>("/me/inbox-notifications")).data,
  ];
  const id = notifications[0]?.id ?? "";
  const { public_key: publicKey } = await pushed.subscriptions();
  for (const browser of browsers) {
    const [message, ...more] = await browser.pushed();
    expect(more).toEqual([]);
    expect(message?.data).toEqual({
      atrium: {
        id,
        title: "Weekly planning",
        body: "Grace: Shall we move this up?",
        url: `https://app.example/rooms/${roomId}?thread=${comment.subjectId}`,
      },
    });
    expect(message?.headers).toMatchObject({
      "content-encoding": "aes128gcm",
      ttl: "86400",
      urgency: "normal",
      topic: id.replaceAll("-", ""),
    });
    const claims = await verifyVapid(message?.headers.authorization ?? "", publicKey ?? "", pushed.now);
    expect(claims).toMatchObject({ aud: new URL(browser.endpoint).origin, sub: "https://atrium.test" });
  }
  expect(await pushed.outcomes()).toEqual(["sent"]);
});

it("pushes nothing that was read, that is seen in its room, or whose room is closed to the identity", async () => {
  const browser = await PushBrowser.create();
  const pushed = await PushedInbox.create(browser);
  await pushed.deliver();
  await pushed.read();
  await pushed.after(10);
  const { roomId, activity: comment } = await pushed.room("canary");
  const token = await pushed.inbox.token();
  const socket = await joinRoom(pushed.inbox.owner.id, roomId, token);
  await pushed.deliver(comment);
  await pushed.after(10);
  socket.close();
  expect(await pushed.outcomes()).toEqual(["online"]);
  await pushed.deliver({ ...comment, seq: 2 });
  await pushed.inbox.allow(roomId, null);
  await pushed.after(10);
  expect(await pushed.outcomes()).toEqual(["no_access", "online"]);
  expect(await browser.pushed()).toEqual([]);
});

it("says of pushes that were not wanted why there are none, and nothing without a browser", async () => {
  const browser = await PushBrowser.create();
  const pushed = await PushedInbox.create(browser);
  const path = "/me/notification-settings";
  await pushed.api.patch(path, { email: { enabled: false }, webPush: { kinds: { $invoice: false } } });
  await pushed.deliver();
  await pushed.after(10);
  const sent = async () =>
    (
      await pushed.inbox.owner.api.get<{ sent: { channel: string; outcome: string }[] }>(
        `/identities/${pushed.inbox.identityId}/sent-notifications`,
      )
    ).data.sent.map(({ channel, outcome }) => `${channel} ${outcome}`);
  expect((await sent()).toSorted()).toEqual(["email unwanted", "webPush unwanted"]);
  await pushed.api.delete(PATH, { endpoint: browser.endpoint });
  await pushed.deliver({ subjectId: "another" });
  expect((await sent()).toSorted()).toEqual(["email unwanted", "email unwanted", "webPush unwanted"]);
  expect(await browser.pushed()).toEqual([]);
});

it("pushes a notification of another room that arrives while access is read", async () => {
  const browser = await PushBrowser.create();
  const pushed = await PushedInbox.create(browser);
  const [first, second] = [await pushed.inbox.room(), await pushed.inbox.room()];
  await pushed.deliver({ roomId: first, subjectId: "first" });
  await pushed.afterWith(10, [activity({ roomId: second, subjectId: "second", at: pushed.now })]);
  expect(await pushed.outcomes()).toEqual(["sent"]);
  await pushed.after(10);
  expect(await pushed.outcomes()).toEqual(["sent", "sent"]);
  expect(await browser.pushed()).toHaveLength(2);
});

it("pushes nothing of a closed room", async () => {
  const browser = await PushBrowser.create();
  const pushed = await PushedInbox.create(browser);
  const { roomId, activity: comment } = await pushed.room("canary");
  await pushed.deliver(comment);
  await pushed.inbox.owner.api.patch(`/rooms/${roomId}`, { state: "closed" });
  await pushed.after(10);
  expect([await browser.pushed(), await pushed.outcomes()]).toEqual([[], ["no_access"]]);
});

it("keeps a browser that subscribes under later terms than those that a sender has read", async () => {
  const { stub, identityId } = await Inbox.create();
  await runInDurableObject(stub, (_, state) => {
    const tables = new InboxTables(state.storage);
    const targets = new PushTargets(new InboxStore(tables, identityId));
    const subscribe = (endpoint: string, publicKey: string, identity: number) =>
      targets.add(
        { endpoint, p256dh: "", auth: "", origin: "https://atrium.test", createdAt: 0, expiresAt: null },
        { publicKey, epochs: { account: 0, identity } },
      );
    subscribe("earlier", "key", 0);
    subscribe("read", "key", 1);
    subscribe("later", "key", 2);
    subscribe("other key", "another key", 2);
    const listed = targets.list({ publicKey: "key", epochs: { account: 0, identity: 1 } }, 0);
    expect(listed.map(({ endpoint }) => endpoint)).toEqual(["read"]);
    expect(targets.all.map(({ endpoint }) => endpoint)).toEqual(["later", "read"]);
  });
});

it("forgets a browser that is gone, and repeats for the others what a push service did not take", async () => {
  const [gone, taking, failing] = [
    await PushBrowser.create("status/410"),
    await PushBrowser.create(),
    await PushBrowser.create("fragile"),
  ] as const;
  const pushed = await PushedInbox.create(gone, taking, failing);
  await failing.service("break");
  await pushed.deliver({ data: { title: "Invoice 7 is due" } });
  await pushed.after(10);
  expectLogged("Notifications could not be sent yet: A push service did not answer, or asks to wait");
  expect(await pushed.outcomes()).toEqual(["waiting"]);
  expect(await pushed.endpoints()).toEqual([failing.endpoint, taking.endpoint]);
  await failing.service("repair");
  await pushed.after(60);
  expect(await pushed.outcomes()).toEqual(["sent"]);
  expect([(await taking.pushed()).length, (await failing.pushed()).length]).toEqual([1, 2]);
  expect((await failing.pushed()).at(-1)?.data).toMatchObject({
    atrium: { title: "An organization", body: "Invoice 7 is due", url: null },
  });
});

it("waits with 429 as well, and gives up a message that is refused", async () => {
  const [busy, refusing] = [
    await PushBrowser.create("status/429"),
    await PushBrowser.create("status/403"),
  ] as const;
  const pushed = await PushedInbox.create(busy);
  await pushed.deliver();
  await pushed.after(10);
  expectLogged("A push service did not answer, or asks to wait");
  await pushed.api.delete(PATH, { endpoint: busy.endpoint });
  await pushed.subscribe(refusing);
  await pushed.after(60);
  expectLogged("A push service refused a message with 403");
  expect(await pushed.outcomes()).toEqual(["failed"]);
  expect(await pushed.endpoints()).toEqual([refusing.endpoint]);
});

it("tells the number of many notifications instead of each", async () => {
  const browser = await PushBrowser.create();
  const pushed = await PushedInbox.create(browser);
  for (const subjectId of ["1", "2", "3", "4"]) await pushed.deliver({ subjectId });
  await pushed.after(10);
  expect((await browser.pushed()).map(({ data }) => data)).toEqual([
    { atrium: { id: "unread", title: "An organization", body: "4 unread notifications", url: null } },
  ]);
});

it("ends subscriptions with the tokens of the identity, after 20 further ones, and at their own time", async () => {
  const browser = await PushBrowser.create();
  const pushed = await PushedInbox.create(browser);
  await pushed.deliver();
  await pushed.inbox.owner.api.delete(`/identities/${pushed.inbox.identityId}/tokens`);
  await pushed.after(10);
  expect([await browser.pushed(), await pushed.outcomes()]).toEqual([[], ["no_address"]]);
  const other = await PushedInbox.create();
  const browsers = await Promise.all(Array.from({ length: 21 }, () => PushBrowser.create()));
  for (const each of browsers) await other.subscribe(each);
  const kept = browsers.slice(1).map(({ endpoint }) => endpoint);
  expect(await other.endpoints()).toEqual(kept.toReversed());
  const path = `/identities/${other.inbox.identityId}/push-subscriptions`;
  const { data } = await other.inbox.owner.api.get(path);
  expect(JSON.stringify(data)).not.toContain(browsers[1]?.toJSON().keys.auth);
  await other.inbox.owner.api.delete(path, { endpoint: kept[0] });
  expect(await other.endpoints()).toHaveLength(19);
  const expirationTime = other.now + SECOND_MS;
  await other.api.post(PATH, { ...browsers[0]?.toJSON(), expirationTime });
  expect(await other.endpoints()).toHaveLength(20);
  await other.after(1);
  expect(await other.endpoints()).toHaveLength(19);
});

it("keeps subscriptions in an inbox without anything else, exports them without keys, and deletes them with the identity", async () => {
  const browser = await PushBrowser.create();
  const pushed = await PushedInbox.create(browser);
  await pushed.after(91 * 24 * 60 * 60);
  expect(await pushed.endpoints()).toEqual([browser.endpoint]);
  const { api } = pushed.inbox.owner;
  const path = `/identities/${pushed.inbox.identityId}`;
  const { data } = await api.get<{ records: { type: string }[] }>(`${path}/personal-data`);
  expect(data.records.filter(({ type }) => type === "push_subscription")).toMatchObject([
    { subscription: { endpoint: browser.endpoint, expires_at: null } },
  ]);
  expect(JSON.stringify(data)).not.toContain(browser.toJSON().keys.p256dh);
  await api.delete(path);
  expect(await pushed.inbox.contents()).toEqual(["inboxes"]);
});

it("refuses endpoints that are not public, and keys that are none", async () => {
  const pushed = await PushedInbox.create();
  const given = (await PushBrowser.create()).toJSON();
  const refusal = async (changes: object) =>
    (await pushed.api.post(PATH, { ...given, ...changes })).error?.message;
  expect(await refusal({ endpoint: "http://push.example.com/a" })).toBe("endpoint: must begin with https://");
  expect(await refusal({ endpoint: "https://10.0.0.1/a" })).toContain("private or reserved address");
  expect(await refusal({ endpoint: "https://atrium.test/a" })).toContain(
    "must not lead back to this service",
  );
  const p256dh = `BA${"A".repeat(85)}`;
  expect(await refusal({ keys: { ...given.keys, p256dh } })).toBe(
    "keys.p256dh: must be a public key on P-256",
  );
  expect(await refusal({ keys: { ...given.keys, auth: "short" } })).toContain(
    "must be Base64url of 22 characters",
  );
});
