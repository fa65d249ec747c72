/** Inboxes over REST: for the organization, and for an identity with its token. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { InboxActivity } from "@atrium/contract/resources/inbox.ts";
import type { InboxNotification } from "@atrium/contract/rest/inbox.ts";
import { describe, expect, it, vi } from "vitest";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { refusalOf } from "../support/api.ts";
import { activity, Inbox } from "./support.ts";

interface Page {
  readonly notifications: InboxNotification[];
  readonly cursor: string | null;
}

const pathOf = ({ identityId }: Inbox) => `/identities/${identityId}/inbox-notifications`;

/** The subjects on a page of the inbox. */
async function subjects(inbox: Inbox, query = ""): Promise<string[]> {
  const { data } = await inbox.owner.api.get<Page>(pathOf(inbox) + query);
  return data.notifications.map(({ subject_id }) => subject_id);
}

const trigger = (inbox: Inbox, changes: object = {}, headers: Record<string, string> = {}) =>
  inbox.owner.api.post<{ delivered: boolean }>(
    "/inbox-notifications/trigger",
    { identityId: inbox.identityId, kind: "$invoice", subjectId: "invoice-7", ...changes },
    { headers },
  );

describe("a notification of the organization's own kind", () => {
  it("is in the inbox with its data, and comes back unread with the next activity", async () => {
    const inbox = await Inbox.create();
    expect((await trigger(inbox, { data: { amount: 12 } })).data).toEqual({ delivered: true });
    const { data } = await inbox.owner.api.get<Page>(pathOf(inbox));
    const [shown] = data.notifications;
    expect(shown).toEqual({
      ...{ id: expect.any(String), kind: "$invoice", room_id: null, subject_id: "invoice-7" },
      activities: [
        { id: expect.any(String), seq: 1, at: expect.any(String), created_by: null, data: { amount: 12 } },
      ],
      ...{ seq: 1, read_seq: 0, unread: true, notified_at: expect.any(String), read_at: null },
    });
    const api = inbox.owner.api;
    const read = await api.post(`${pathOf(inbox)}/read`, { notificationId: shown?.id });
    expect(read.data).toEqual({ unread: 0 });
    await trigger(inbox);
    expect((await api.get(`${pathOf(inbox)}/count`)).data).toEqual({ unread: 1 });
    expect((await api.post(`${pathOf(inbox)}/read`, { all: true })).data).toEqual({ unread: 0 });
    expect((await api.delete(`${pathOf(inbox)}/${shown?.id}`)).status).toBe(200);
    expect(await subjects(inbox)).toEqual([]);
    expect(refusalOf(await api.delete(`${pathOf(inbox)}/${shown?.id}`))).toEqual([404, "Inbox", "NOT_FOUND"]);
    await trigger(inbox);
    await api.delete(pathOf(inbox));
    expect(await subjects(inbox)).toEqual([]);
  });

  it("reaches the identity by its custom ID, and once for an Idempotency-Key", async () => {
    const inbox = await Inbox.create();
    await inbox.owner.api.patch(`/identities/${inbox.identityId}`, { customId: "ada-1" });
    const key = { "Idempotency-Key": crypto.randomUUID() };
    const byCustomId = { identityId: undefined, customId: "ada-1" };
    for (let times = 0; times < 2; times += 1)
      expect((await trigger(inbox, byCustomId, key)).status).toBe(200);
    const { data } = await inbox.owner.api.get<Page>(pathOf(inbox));
    expect(data.notifications).toMatchObject([{ seq: 1 }]);
  });

  it("is not delivered to an identity that may not enter the room, and needs both to exist", async () => {
    const inbox = await Inbox.create();
    const roomId = await inbox.room();
    expect((await trigger(inbox, { roomId })).data).toEqual({ delivered: true });
    await inbox.allow(roomId, null);
    expect((await trigger(inbox, { roomId, subjectId: "other" })).data).toEqual({ delivered: false });
    const nowhere = crypto.randomUUID();
    expect(refusalOf(await trigger(inbox, { roomId: nowhere }))).toEqual([404, "Rooms", "NOT_FOUND"]);
    for (const none of [{ identityId: nowhere }, { identityId: undefined, customId: "none" }])
      expect(refusalOf(await trigger(inbox, none))).toEqual([404, "Identities", "NOT_FOUND"]);
    const wrong = [
      { kind: "thread" },
      { kind: "$" },
      { customId: "both" },
      { data: [] },
      { data: { text: "x".repeat(4_096) } },
    ];
    for (const each of wrong)
      expect(refusalOf(await trigger(inbox, each))).toEqual([400, "Inbox", "VALIDATION_ERROR"]);
  });
});

describe("a list of notifications", () => {
  it("is read page by page, newest first, and filtered", async () => {
    const inbox = await Inbox.create();
    const roomId = await inbox.room();
    const at = Date.now();
    const all: InboxActivity[] = Array.from({ length: 5 }, (_, index) =>
      activity({ subjectId: `${index}`, at: at - (index >> 1), ...(index === 4 && { roomId }) }),
    );
    await inbox.deliver(all);
    const seen: string[] = [];
    let after = "";
    do {
      const { data } = await inbox.owner.api.get<Page>(`${pathOf(inbox)}?limit=2${after}`);
      seen.push(...data.notifications.map(({ subject_id }) => subject_id));
      after = data.cursor === null ? "" : `&after=${data.cursor}`;
    } while (after !== "");
    expect(seen.toSorted()).toEqual(["0", "1", "2", "3", "4"]);
    expect(seen.map(Number).map((index) => index >> 1)).toEqual([0, 0, 1, 1, 2]);
    expect(await subjects(inbox, `?roomId=${roomId}`)).toEqual(["4"]);
    expect(await subjects(inbox, "?kind=textMention")).toEqual([]);
    await inbox.markRead({ roomId, kind: "thread", subjectId: "4", upTo: 1 });
    expect(await subjects(inbox, "?unread=false")).toEqual(["4"]);
    expect((await subjects(inbox, "?unread=true")).length).toBe(4);
  });

  it("shows what the identity may see at that moment, and counts nothing else", async () => {
    const inbox = await Inbox.create();
    const [open, hidden, closed, deleted] = [
      ...[await inbox.room(), await inbox.room(), await inbox.room(), await inbox.room()],
    ];
    const rooms = { open, hidden, closed, deleted };
    await inbox.deliver(
      Object.entries(rooms).map(([subjectId, roomId]) => activity({ subjectId, roomId: roomId ?? null })),
    );
    const api = inbox.owner.api;
    await inbox.allow(hidden ?? "", null);
    await api.patch(`/rooms/${closed}`, { state: "closed" });
    await api.delete(`/rooms/${deleted}`);
    expect(await subjects(inbox)).toEqual(["open"]);
    expect((await api.get(`${pathOf(inbox)}/count`)).data).toEqual({ unread: 1 });
    await api.post(`${pathOf(inbox)}/read`, { all: true });
    await inbox.allow(hidden ?? "", "viewer");
    expect((await api.get(`${pathOf(inbox)}/count`)).data).toEqual({ unread: 1 });
    await api.patch(`/rooms/${closed}`, { state: "active" });
    expect((await subjects(inbox)).toSorted()).toEqual(["closed", "hidden", "open"]);
    expect((await api.get(`${pathOf(inbox)}/count`)).data).toEqual({ unread: 2 });
    const missing = `/identities/${crypto.randomUUID()}/inbox-notifications`;
    for (const path of [missing, `${missing}/count`])
      expect(refusalOf(await api.get(path))).toEqual([404, "Identities", "NOT_FOUND"]);
  });
});

describe("an identity", () => {
  it("reads and marks its own inbox, within the rooms of its token", async () => {
    const inbox = await Inbox.create();
    const other = await Inbox.create(inbox.owner, "Ben");
    const board = await inbox.room("board-1");
    await inbox.deliver([activity({ subjectId: "a", roomId: board }), activity({ subjectId: "b" })]);
    await other.deliver([activity({ subjectId: "of Ben" })]);
    const own = inbox.owner.api.as(await inbox.token());
    const narrow = inbox.owner.api.as(await inbox.token({ rooms: ["board-*"] }));
    const seen = async (api: typeof own) =>
      (await api.get<Page>("/me/inbox-notifications")).data.notifications.map(({ subject_id }) => subject_id);
    expect((await seen(own)).toSorted()).toEqual(["a", "b"]);
    expect(await seen(narrow)).toEqual(["a"]);
    expect((await narrow.get("/me/inbox-notifications/count")).data).toEqual({ unread: 1 });
    expect((await narrow.post("/me/inbox-notifications/read", { all: true })).data).toEqual({ unread: 0 });
    expect((await own.get("/me/inbox-notifications/count")).data).toEqual({ unread: 1 });
    const [b] = (await own.get<Page>("/me/inbox-notifications?unread=true")).data.notifications;
    const path = `/me/inbox-notifications/${b?.id}`;
    expect(refusalOf(await narrow.delete(path))).toEqual([404, "Inbox", "NOT_FOUND"]);
    expect((await own.delete(path)).status).toBe(200);
    await narrow.delete("/me/inbox-notifications");
    expect(await seen(own)).toEqual([]);
  });

  it("has no inbox any more when its tokens were ended", async () => {
    const inbox = await Inbox.create();
    const own = inbox.owner.api.as(await inbox.token());
    await inbox.owner.api.delete(`/identities/${inbox.identityId}/tokens`);
    expect(refusalOf(await own.get("/me/inbox-notifications"))).toEqual([401, "Auth", "UNAUTHORIZED"]);
    expect(refusalOf(await own.get("/rooms"))).toEqual([401, "Auth", "UNAUTHORIZED"]);
  });
});

describe("an inbox ends", () => {
  it("with its identity, also when the request dies behind its commit", async () => {
    const inbox = await Inbox.create();
    await trigger(inbox);
    const { id: accountId } = inbox.owner;
    const subject = { id: inbox.identityId, accountId, kind: "person", name: "Deleted user", createdAt: 1 };
    const rest = { customId: null, profilePicture: null, email: null };
    await env.DB.batch([
      env.DB.prepare("DELETE FROM identities WHERE account_id = ? AND id = ?").bind(accountId, subject.id),
      env.DB.prepare(
        `INSERT INTO outbox_events (id, account_id, event, room_id, occurred_at, room, subject, owed)
         VALUES (?, ?, 'identity.deleted', ?, ?, 'null', ?, '[]')`,
      ).bind(crypto.randomUUID(), accountId, subject.id, Date.now(), JSON.stringify({ ...subject, ...rest })),
    ]);
    expect(await inbox.contents()).toContain("items");
    await runScheduledTasks(env, Date.now() + 60_000);
    expect(await inbox.contents()).toEqual(["inboxes"]);
  });

  it("of a deleted room, with all data, also when the request dies behind its commit", async () => {
    const inbox = await Inbox.create();
    const rooms = [await inbox.room(), await inbox.room(), await inbox.room()];
    for (const roomId of rooms)
      await trigger(inbox, { roomId, subjectId: roomId, data: { text: "A canary" } });
    const kept = () =>
      runInDurableObject(inbox.stub, (_, { storage }) =>
        storage.sql
          .exec("SELECT room_id AS id FROM items")
          .toArray()
          .map(({ id }) => id),
      );
    const [deleted, left, other] = rooms;
    await inbox.owner.api.delete(`/rooms/${deleted}`);
    await vi.waitFor(async () => expect((await kept()).toSorted()).toEqual([left, other].toSorted()), 20_000);
    await env.DB.batch([
      env.DB.prepare(
        `INSERT INTO outbox_events (id, account_id, event, room_id, occurred_at, room, subject, owed)
         SELECT ?, account_id, 'room.deleted', id, ?, json_object('id', id, 'createdAt', 1), 'null', '[]'
         FROM rooms WHERE account_id = ? AND id = ?`,
      ).bind(crypto.randomUUID(), Date.now(), inbox.owner.id, left),
      env.DB.prepare("DELETE FROM rooms WHERE account_id = ? AND id = ?").bind(inbox.owner.id, left),
    ]);
    await runScheduledTasks(env, Date.now() + 60_000);
    expect(await kept()).toEqual([other]);
  });

  it("with its organization", async () => {
    const inbox = await Inbox.create();
    await trigger(inbox);
    await inbox.owner.api.json("DELETE", "/organization", { confirm: "An organization" });
    await expect
      .poll(async () => {
        await runScheduledTasks(env, Date.now() + 120_000);
        return inbox.contents();
      })
      .toEqual([]);
  });

  it("and is part of the export before, also what is hidden", async () => {
    const inbox = await Inbox.create();
    const roomId = await inbox.room();
    await inbox.deliver([activity({ roomId, subjectId: "hidden" })]);
    await inbox.allow(roomId, null);
    const path = `/identities/${inbox.identityId}/personal-data`;
    const { data } = await inbox.owner.api.get<{ records: object[] }>(path);
    expect(data.records).toContainEqual({
      type: "inbox_notification",
      notification: expect.objectContaining({ subject_id: "hidden", room_id: roomId }),
    });
  });
});
