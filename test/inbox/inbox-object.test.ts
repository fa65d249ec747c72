/** The object of an inbox: what activities, positions and deletions do in any order, and what it keeps. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import type { InboxActivity, InboxKind, InboxRemoval } from "@atrium/contract/resources/inbox.ts";
import { DEFAULTS } from "@atrium/contract/resources/notification-settings.ts";
import { describe, expect, it } from "vitest";
import { InboxChanges } from "../../src/features/inbox/shard/change-store.ts";
import { InboxDeliveries } from "../../src/features/inbox/shard/delivery-store.ts";
import { InboxStore } from "../../src/features/inbox/shard/inbox-store.ts";
import { InboxTables } from "../../src/features/inbox/shard/inbox-tables.ts";
import { ORIGIN } from "../support/api.ts";
import { type Random, randomOf } from "../support/random.ts";
import { activity, Inbox, PAGE, shareShard } from "./support.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A subject as the model knows it. */
interface Subject {
  readonly roomId: string | null;
  readonly kind: InboxKind;
  readonly subjectId: string;
  seq: number;
  readSeq: number;
  deletedSeq: number;
  /** The seq of the activities that are shown, by their IDs. */
  readonly activities: Map<string, number>;
}

/** An inbox beside a small model of it. */
class InboxSimulation {
  readonly #inbox: Inbox;
  readonly #random: Random;
  readonly #rooms: string[];
  readonly #hidden = new Set<string>();
  readonly #subjects: Subject[];
  readonly #delivered: InboxActivity[] = [];
  /** The highest seq at which an activity has taken effect, by its ID. */
  readonly #known = new Map<string, number>();
  /** The activities that have mentioned the identity. */
  readonly #mentions = new Set<string>();
  readonly #late: InboxActivity[] = [];
  #seq = 0;

  private constructor(inbox: Inbox, rooms: string[], random: Random) {
    this.#inbox = inbox;
    this.#random = random;
    this.#rooms = rooms;
    const positions = { seq: 0, readSeq: 0, deletedSeq: 0 };
    const start = () => ({ ...positions, activities: new Map<string, number>() });
    const ofRooms = rooms.flatMap((roomId) =>
      (["thread", "textMention", "$task"] as const).map((kind) => ({
        ...start(),
        roomId,
        kind,
        subjectId: `${kind} ${roomId}`,
      })),
    );
    this.#subjects = [...ofRooms, { ...start(), roomId: null, kind: "$invoice", subjectId: "invoice" }];
  }

  static async begin(seed: number): Promise<InboxSimulation> {
    const inbox = await Inbox.create();
    const rooms = await Promise.all([inbox.room(), inbox.room()]);
    return new InboxSimulation(inbox, rooms, randomOf(seed));
  }

  #any<T>(items: readonly T[]): T {
    return items[this.#random(items.length)] as T;
  }

  /** Activities of which some arrive later than others, and some twice. */
  async #deliver(): Promise<void> {
    const fresh = Array.from({ length: 1 + this.#random(4) }, () => this.#fresh());
    const isLate = fresh.map(() => this.#random(4) === 0);
    this.#late.push(...fresh.filter((_, index) => isLate[index]));
    const now = fresh.filter((_, index) => !isLate[index]);
    if (this.#late.length > 0 && this.#random(2) === 0)
      now.push(...this.#late.splice(this.#random(this.#late.length), 1));
    if (this.#delivered.length > 0) {
      const again = this.#any(this.#delivered);
      const isMoved = again.seq !== null && this.#random(3) === 0;
      if (isMoved) this.#seq += 1;
      const mentioned = this.#mentioned();
      now.splice(this.#random(now.length + 1), 0, isMoved ? { ...again, seq: this.#seq, mentioned } : again);
    }
    for (const each of now) this.#take(each);
    await this.#inbox.deliver(now);
  }

  #fresh(): InboxActivity {
    const { roomId, kind, subjectId } = this.#any(this.#subjects);
    this.#seq += 1;
    const seq = kind.startsWith("$") ? null : this.#seq;
    return activity({ roomId, kind, subjectId, seq, mentioned: this.#mentioned() });
  }

  #mentioned(): string[] {
    return this.#random(2) === 0 ? [this.#inbox.identityId] : ["another"];
  }

  #take(given: InboxActivity): void {
    const known = this.#known.get(given.id);
    const isAgain = this.#mentions.has(given.id);
    if (given.mentioned?.includes(this.#inbox.identityId)) this.#mentions.add(given.id);
    if (known !== undefined && (isAgain || (given.seq ?? 0) <= known)) return;
    this.#delivered.push(given);
    const subject = this.#subjects.find(
      ({ roomId, kind, subjectId }) =>
        roomId === given.roomId && kind === given.kind && subjectId === given.subjectId,
    ) as Subject;
    const seq = given.seq ?? subject.seq + 1;
    this.#known.set(given.id, seq);
    if (seq <= subject.deletedSeq) return;
    subject.activities.set(given.id, seq);
    subject.seq = Math.max(subject.seq, seq);
  }

  /** Comments are deleted, also some that have yet to arrive. */
  async #removeActivities(): Promise<void> {
    const subject = this.#any(this.#subjects.filter(({ kind }) => kind === "thread"));
    const { roomId, kind, subjectId, activities } = subject;
    const late = this.#late.find((each) => each.roomId === roomId && each.kind === kind);
    const activityIds = [...activities.keys()].filter(() => this.#random(3) === 0);
    if (late !== undefined) activityIds.push(late.id);
    for (const id of activityIds) {
      this.#known.set(id, Number.MAX_SAFE_INTEGER);
      if (activities.delete(id)) subject.seq = Math.max(subject.deletedSeq, ...activities.values());
    }
    await this.#removeAs({ roomId: roomId ?? "", kind, subjectId, activityIds });
  }

  /** From this inbox, or from all of the shard. */
  #removeAs(removal: InboxRemoval): Promise<void> {
    return this.#random(2) === 0
      ? this.#inbox.removeItems(removal)
      : this.#inbox.object.removeFromAll(removal);
  }

  async #markRead(): Promise<void> {
    const subject = this.#any(this.#subjects.filter(({ kind }) => !kind.startsWith("$")));
    const upTo = this.#random(this.#seq + 2);
    subject.readSeq = Math.max(subject.readSeq, upTo);
    await this.#inbox.markRead({ ...subject, upTo });
  }

  async #remove(): Promise<void> {
    const subject = this.#any(
      this.#subjects.filter(({ kind, roomId }) => kind === "thread" && roomId !== null),
    );
    subject.deletedSeq = Number.MAX_SAFE_INTEGER;
    subject.activities.clear();
    const { kind, subjectId } = subject;
    await this.#removeAs({ roomId: subject.roomId ?? "", kind, subjectId });
  }

  async #toggle(): Promise<void> {
    const roomId = this.#any(this.#rooms);
    const hides = !this.#hidden.has(roomId);
    await this.#inbox.allow(roomId, hides ? null : "viewer");
    if (hides) this.#hidden.add(roomId);
    else this.#hidden.delete(roomId);
  }

  #isShown = ({ roomId, seq, deletedSeq }: Subject): boolean =>
    seq > deletedSeq && (roomId === null || !this.#hidden.has(roomId));

  async #delete(): Promise<void> {
    const page = await this.#inbox.object.list(this.#inbox.caller, PAGE);
    const found = page?.notifications ?? [];
    if (found.length === 0) return;
    const { id, subject_id } = this.#any(found);
    await this.#inbox.object.deleteItem(this.#inbox.caller, id);
    const subject = this.#subjects.find(({ subjectId }) => subjectId === subject_id) as Subject;
    subject.deletedSeq = subject.seq;
    subject.activities.clear();
    subject.readSeq = Math.max(subject.readSeq, subject.seq);
  }

  async #markAll(): Promise<void> {
    await this.#inbox.object.markAll(this.#inbox.caller);
    for (const subject of this.#subjects.filter(this.#isShown))
      subject.readSeq = Math.max(subject.readSeq, subject.seq);
  }

  async step(): Promise<void> {
    const chance = this.#random(22);
    if (chance < 11) await this.#deliver();
    else if (chance < 14) await this.#markRead();
    else if (chance < 16) await this.#delete();
    else if (chance < 17) await this.#markAll();
    else if (chance < 18) await this.#toggle();
    else if (chance < 19) await evictDurableObject(this.#inbox.stub);
    else if (chance < 21) await this.#removeActivities();
    else if (this.#random(4) === 0) await this.#remove();
    const shown = this.#subjects.filter(this.#isShown);
    const isUnread = ({ seq, readSeq, deletedSeq }: Subject) => seq > Math.max(readSeq, deletedSeq);
    expect(await this.#inbox.object.count(this.#inbox.caller)).toBe(shown.filter(isUnread).length);
    const page = await this.#inbox.object.list(this.#inbox.caller, PAGE);
    const found = page?.notifications.map(({ subject_id, unread, seq }) => [subject_id, { unread, seq }]);
    const expected = shown.map((subject) => [
      subject.subjectId,
      { unread: isUnread(subject), seq: subject.seq },
    ]);
    expect(Object.fromEntries(found ?? [])).toEqual(Object.fromEntries(expected));
  }
}

describe("an inbox", () => {
  it.each([1, 2, 3, 4])("shows and counts what a model of it does, at every step (seed %i)", async (seed) => {
    const simulation = await InboxSimulation.begin(seed);
    for (let step = 0; step < 60; step += 1) await simulation.step();
  });

  it("gives an activity one effect, also when it is repeated after a crash and after its item was deleted", async () => {
    const inbox = await Inbox.create();
    const own = activity({ kind: "$invoice", seq: null });
    await inbox.deliver([own, own]);
    await evictDurableObject(inbox.stub);
    await inbox.deliver([own]);
    const page = await inbox.object.list(inbox.caller, PAGE);
    expect(page?.notifications).toMatchObject([{ seq: 1, activities: [{ id: own.id }] }]);
    await inbox.object.deleteAll(inbox.caller);
    await inbox.deliver([own]);
    expect(await inbox.shown()).toEqual({});
    await inbox.deliver([activity({ kind: "$invoice", seq: null })]);
    expect((await inbox.object.list(inbox.caller, PAGE))?.notifications).toMatchObject([
      { seq: 2, unread: true },
    ]);
  });

  it("shows no activity from before the deletion of its item, also when it arrives later", async () => {
    const inbox = await Inbox.create();
    await inbox.deliver([activity({ seq: 2 })]);
    await inbox.object.deleteAll(inbox.caller);
    await inbox.deliver([activity({ seq: 1 })]);
    expect(await inbox.shown()).toEqual({});
    await inbox.deliver([activity({ seq: 3 })]);
    const page = await inbox.object.list(inbox.caller, PAGE);
    expect(page?.notifications.map(({ activities }) => activities.map(({ seq }) => seq))).toEqual([[3]]);
  });

  it("takes data that are nested deeper than the database reads JSON, and forgets them", async () => {
    const inbox = await Inbox.create();
    const data = { deep: JSON.parse(`${"[".repeat(2_000)}${"]".repeat(2_000)}`) as unknown };
    const [first, second] = [activity({ roomId: "", seq: 1, data }), activity({ roomId: "", seq: 2, data })];
    await inbox.deliver([first, second]);
    const listed = async () => (await inbox.object.list(inbox.caller, PAGE))?.notifications;
    expect((await listed())?.[0]?.activities.map((each) => each.data)).toEqual([data, data]);
    const subject = { roomId: "", kind: "thread", subjectId: "subject" } as const;
    await inbox.removeItems({ ...subject, activityIds: [second.id] });
    expect((await listed())?.[0]?.activities).toMatchObject([{ id: first.id }]);
    await inbox.object.deleteAll(inbox.caller);
    expect(await listed()).toEqual([]);
  });

  it("keeps the latest 50 activities of an item, in the order of their seq", async () => {
    const [inbox, other] = await shareShard();
    const all = Array.from({ length: 60 }, (_, index) => activity({ seq: index + 1 }));
    await inbox.object.deliver([inbox.identityId, other.identityId], all.toReversed(), DEFAULTS);
    for (const each of [inbox, other]) {
      const [item] = (await each.object.list(each.caller, PAGE))?.notifications ?? [];
      expect(item?.activities.map(({ seq }) => seq)).toEqual(
        Array.from({ length: 50 }, (_, index) => 60 - index),
      );
    }
    const [item] = (await inbox.object.list(inbox.caller, PAGE))?.notifications ?? [];
    await inbox.deliver(all.slice(0, 5));
    expect((await inbox.object.list(inbox.caller, PAGE))?.notifications).toEqual([item]);
  });

  it("lets read items make room first, then the oldest", async () => {
    const { stub, identityId } = await Inbox.create();
    await runInDurableObject(stub, (_, { storage }) => {
      const limits = { items: 3, countedEvery: 1 };
      const tables = new InboxTables(storage);
      const store = new InboxStore(tables, identityId);
      const changes = new InboxChanges(store, () => crypto.randomUUID(), limits);
      const now = Date.now();
      const deliveries = new InboxDeliveries(tables, () => crypto.randomUUID(), limits);
      const given = { identityIds: [identityId], defaults: DEFAULTS, now };
      const deliver = (subjectId: string, at: number) =>
        deliveries.deliver({ ...given, activities: [activity({ subjectId, at })] });
      for (const [index, subject] of ["a", "b", "c"].entries()) deliver(subject, now + index);
      changes.markRead({ roomId: null, kind: "thread", subjectId: "b", upTo: 1 }, now);
      deliver("d", now + 3);
      const left = () => store.list(PAGE, [], now).map(({ subjectId }) => subjectId);
      expect(left()).toEqual(["d", "c", "a"]);
      deliver("e", now - 1);
      expect(left()).toEqual(["d", "c", "e"]);
    });
  });

  it("keeps items for 90 days, then nothing at all", async () => {
    const inbox = await Inbox.create();
    const at = Date.now();
    await inbox.deliver([activity({ at })]);
    await runInDurableObject(inbox.stub, async (object, { storage }) => {
      object.clock = () => at + 90 * DAY_MS - 1;
      expect(await object.count(inbox.caller)).toBe(1);
      object.clock = () => at + 90 * DAY_MS;
      expect([await object.count(inbox.caller), await object.list(inbox.caller, PAGE)]).toEqual([
        0,
        { notifications: [], next: null },
      ]);
      await object.alarm();
      const tables = "SELECT name FROM sqlite_master WHERE name = 'items'";
      expect([storage.sql.exec(tables).toArray(), await storage.getAlarm()]).toEqual([[], null]);
      object.deliver([inbox.identityId], [activity({ at })], DEFAULTS);
      expect(await object.count(inbox.caller)).toBe(0);
    });
  });

  it("keeps settings also when there is nothing else", async () => {
    const inbox = await Inbox.create();
    await inbox.object.changeSettings(inbox.identityId, { email: { enabled: false } });
    await inbox.deliver([activity()]);
    await runInDurableObject(inbox.stub, async (object) => {
      object.clock = () => Date.now() + 91 * DAY_MS;
      await object.alarm();
    });
    expect(await inbox.contents()).toEqual(["inboxes"]);
    expect(await inbox.object.readSettings(inbox.identityId)).toMatchObject({ email: { enabled: false } });
  });

  it("takes nothing of an identity that was deleted, whatever arrives later", async () => {
    const [inbox, other] = await shareShard();
    for (const each of [inbox, other]) await each.deliver([activity()]);
    await inbox.owner.api.delete(`/identities/${inbox.identityId}`);
    expect(await inbox.contents()).toEqual(["inboxes"]);
    await evictDurableObject(inbox.stub);
    await inbox.deliver([activity({ seq: 2 })]);
    await inbox.markRead({ roomId: null, kind: "thread", subjectId: "subject", upTo: 1 });
    await inbox.removeItems({ roomId: "", kind: "thread", subjectId: "subject" });
    expect(await inbox.contents()).toEqual(["inboxes"]);
    expect([await inbox.object.count(inbox.caller), await inbox.object.list(inbox.caller, PAGE)]).toEqual([
      null,
      null,
    ]);
    expect(await other.shown()).toEqual({ subject: true });
  });

  it("is apart from the others of its shard: what one of them does, the others do not notice", async () => {
    const [inbox, other] = await shareShard();
    const roomId = await inbox.room();
    await other.allow(roomId, "viewer");
    const shared = activity({ roomId, at: Date.now() - 1 });
    const own = activity({ kind: "$invoice", subjectId: "own", seq: null });
    await inbox.deliver([shared]);
    await inbox.object.deliver([inbox.identityId, other.identityId, inbox.identityId], [shared], DEFAULTS);
    await other.deliver([own]);
    expect([await inbox.shown(), await other.shown()]).toEqual([
      { subject: true },
      { subject: true, own: true },
    ]);
    expect([await inbox.object.count(inbox.caller), await other.object.count(other.caller)]).toEqual([1, 2]);
    await inbox.markRead({ roomId, kind: "thread", subjectId: "subject", upTo: 1 });
    expect([await inbox.shown(), await other.shown()]).toEqual([
      { subject: false },
      { subject: true, own: true },
    ]);
    const [item] = (await other.object.list(other.caller, PAGE))?.notifications ?? [];
    const id = item?.id ?? "";
    expect(await inbox.object.markItem(inbox.caller, id, null)).toBeNull();
    expect(await inbox.object.deleteItem(inbox.caller, id)).toBe(false);
    await inbox.object.markAll(inbox.caller);
    await inbox.object.deleteAll(inbox.caller);
    await inbox.removeItems({ roomId });
    await inbox.removeItems({
      roomId,
      kind: "thread",
      subjectId: "subject",
      activityIds: [shared.id, own.id],
    });
    await inbox.object.changeSettings(inbox.identityId, { email: { enabled: false } });
    expect([await inbox.shown(), await other.shown()]).toEqual([{}, { subject: true, own: true }]);
    expect(await other.object.readSettings(other.identityId)).toMatchObject({ email: { enabled: true } });
    expect(await other.object.export(other.identityId, PAGE)).toMatchObject({
      settings: null,
      notifications: [{ activities: [{ id: own.id }] }, { activities: [{ id: shared.id }] }],
    });
    const target = { endpoint: "https://push.example/1", p256dh: "key", auth: "auth", origin: ORIGIN };
    await inbox.object.addPushTarget(inbox.identityId, { ...target, expiresAt: null }, "key");
    await other.object.removePushTarget(other.identityId, target.endpoint);
    const listed = (each: Inbox) => each.object.listPushTargets(each.identityId, "key");
    expect([await listed(other), await listed(inbox)]).toMatchObject([[], [target]]);
  });

  it("forgets what was deleted together with all others of its shard, also if it arrives later (R91)", async () => {
    const [inbox, other] = await shareShard();
    const rooms = [await inbox.room(), await inbox.room()];
    for (const roomId of rooms) await other.allow(roomId, "viewer");
    const ids = [inbox.identityId, other.identityId];
    const [roomId = "", otherRoomId = ""] = rooms;
    const data = { text: "A canary" };
    const [first, second] = [1, 2].map((seq) => activity({ roomId, seq, data }));
    const ofThread = activity({ roomId, subjectId: "thread", data });
    const ofRoom = activity({ roomId: otherRoomId, kind: "$task", subjectId: "task", seq: null, data });
    const all = [first, second, ofThread, ofRoom] as InboxActivity[];
    const deliver = () => inbox.object.deliver(ids, all, DEFAULTS);
    await deliver();
    await inbox.markRead({ roomId, kind: "thread", subjectId: "subject", upTo: 1 });
    const thread = { roomId, kind: "thread" } as const;
    await inbox.object.removeFromAll({ ...thread, subjectId: "subject", activityIds: [second?.id ?? ""] });
    await inbox.object.removeFromAll({ ...thread, subjectId: "thread" });
    const seqOf = () =>
      runInDurableObject(inbox.stub, (_, { storage }) =>
        storage.sql.exec("SELECT seq FROM inboxes WHERE identity_id = ?", other.identityId).one(),
      );
    const { seq } = await seqOf();
    await inbox.object.removeFromAll({ roomId: otherRoomId });
    expect(await seqOf()).toEqual({ seq: Number(seq) + 1 });
    for (let times = 0; times < 2; times += 1) {
      expect([await inbox.shown(), await other.shown()]).toEqual([{ subject: false }, { subject: true }]);
      await deliver();
    }
    await inbox.object.removeFromAll({ ...thread, subjectId: "subject" });
    const kept = await runInDurableObject(inbox.stub, (_, { storage }) =>
      storage.sql.exec("SELECT activities FROM items WHERE activities <> '[]'").toArray(),
    );
    expect(kept).toEqual([]);
    expect(await inbox.object.count(inbox.caller)).toBe(0);
  });

  it("forgets a deleted room with many notifications in slices, and nothing in a shard without inboxes", async () => {
    const inbox = await Inbox.create();
    const [roomId, otherId] = [await inbox.room(), await inbox.room()];
    const items = Array.from({ length: 1_200 }, (_, number) =>
      activity({ roomId, subjectId: `thread ${number}`, data: { text: "A canary" } }),
    );
    await inbox.object.removeFromAll({ roomId });
    await inbox.deliver([...items, activity({ roomId: otherId, subjectId: "other" })]);
    await inbox.object.removeFromAll({ roomId });
    const left = () =>
      runInDurableObject(
        inbox.stub,
        (_, { storage }) =>
          storage.sql.exec<{ n: number }>("SELECT count(*) AS n FROM items WHERE room_id = ?", roomId).one()
            .n,
      );
    for (let runs = 0; (await left()) > 0; runs += 1) {
      expect(runs).toBeLessThan(5);
      await runDurableObjectAlarm(inbox.stub);
    }
    expect(await inbox.shown()).toEqual({ other: true });
  });

  it("marks all as they were when it was asked, and an item up to a seq", async () => {
    const inbox = await Inbox.create();
    await inbox.deliver([activity({ subjectId: "a" }), activity({ subjectId: "b" })]);
    const [all] = await Promise.all([
      inbox.object.markAll(inbox.caller),
      inbox.deliver([activity({ subjectId: "b", seq: 2 })]),
    ]);
    expect(all).toBe(1);
    expect(await inbox.shown()).toEqual({ a: false, b: true });
    const [b] = (await inbox.object.list(inbox.caller, PAGE))?.notifications ?? [];
    await inbox.deliver([activity({ subjectId: "b", seq: 3 })]);
    expect(await inbox.object.markItem(inbox.caller, b?.id ?? "", 2)).toBe(1);
    expect(await inbox.object.markItem(inbox.caller, b?.id ?? "", 99)).toBe(0);
    expect((await inbox.object.list(inbox.caller, PAGE))?.notifications[0]).toMatchObject({
      read_seq: 3,
      unread: false,
    });
    expect(await inbox.object.markItem(inbox.caller, "unknown", 1)).toBeNull();
  });

  it("deletes items as they were when it was asked: an activity that arrives meanwhile stays unread", async () => {
    const inbox = await Inbox.create();
    await inbox.deliver([activity({ subjectId: "a" }), activity({ subjectId: "b" })]);
    await Promise.all([
      inbox.object.deleteAll(inbox.caller),
      inbox.deliver([activity({ subjectId: "b", seq: 2 }), activity({ subjectId: "c" })]),
    ]);
    expect(await inbox.shown()).toEqual({ b: true, c: true });
    const items = (await inbox.object.list(inbox.caller, PAGE))?.notifications ?? [];
    const item = items.find(({ subject_id: id }) => id === "b");
    expect(item).toMatchObject({ seq: 2, read_seq: 1, activities: [{ seq: 2 }] });
    await Promise.all([
      inbox.object.deleteItem(inbox.caller, item?.id ?? ""),
      inbox.deliver([activity({ subjectId: "b", seq: 3 })]),
    ]);
    expect(await inbox.shown()).toEqual({ b: true, c: true });
    expect(await inbox.object.deleteItem(inbox.caller, item?.id ?? "")).toBe(true);
    expect(await inbox.shown()).toEqual({ c: true });
  });

  it("shows a narrowed token the items of its rooms alone", async () => {
    const inbox = await Inbox.create();
    const [board, notes] = [await inbox.room("board-1"), await inbox.room()];
    await inbox.deliver([
      activity({ roomId: board, subjectId: "a" }),
      activity({ roomId: notes, subjectId: "b" }),
      activity({ kind: "$invoice", subjectId: "c" }),
    ]);
    const narrowed = { ...inbox.caller, rooms: ["board-*"] };
    const subjects = async () =>
      (await inbox.object.list(narrowed, PAGE))?.notifications.map(({ subject_id }) => subject_id);
    expect([await inbox.object.count(narrowed), await subjects()]).toEqual([1, ["a"]]);
    await inbox.object.markAll(narrowed);
    expect(await inbox.shown()).toEqual({ a: false, b: true, c: true });
    await inbox.object.deleteAll(narrowed);
    expect(await inbox.shown()).toEqual({ b: true, c: true });
  });
});
