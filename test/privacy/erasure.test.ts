/** Traces of an erased identity or user, in every table of every database and object. */
import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { Identity } from "@atrium/contract/resources/identity.ts";
import type { IdentityData, RecordOfIdentity } from "@atrium/contract/rest/privacy.ts";
import { beforeEach, expect, it } from "vitest";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { Inbox } from "../inbox/support.ts";
import { joinWith } from "../room/support/join.ts";
import { account } from "../support/api.ts";

const MINUTE_MS = 60_000;
const OBJECTS = {
  ROOMS: env.ROOMS,
  INBOXES: env.INBOXES,
  EVENT_LOGS: env.EVENT_LOGS,
  SUBSCRIBERS: env.SUBSCRIBERS,
  REQUEST_LOGS: env.REQUEST_LOGS,
  REQUEST_RATES: env.REQUEST_RATES,
  GUESS_LIMITS: env.GUESS_LIMITS,
};
const TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf*'";

const namespaces = Object.entries<DurableObjectNamespace>(OBJECTS as never);

/** Objects of other tests, which know nothing of this one. */
const others = new Set<string>();
beforeEach(async () => {
  for (const [, objects] of namespaces)
    for (const id of await listDurableObjectIds(objects)) others.add(id.toString());
});

/**
 * The tables with a row that contains a text, each as `DB.table` or `ROOMS.table`. The databases have the rows of all
 * tests, thus a text is a long word of its own: four letters come by chance in the IDs of thousands of rows.
 */
async function tablesWith(text: RegExp): Promise<string[]> {
  const found = new Set<string>();
  const note = (place: string, rows: readonly object[]) => {
    if (rows.some((row) => text.test(JSON.stringify(row, decoded)))) found.add(place);
  };
  for (const place of ["DB", "DB_2", "DB_3"] as const) {
    const { results } = await env[place].prepare(TABLES).all<{ name: string }>();
    for (const { name } of results)
      note(`${place}.${name}`, (await env[place].prepare(`SELECT * FROM "${name}"`).all()).results);
  }
  for (const [kind, objects] of namespaces)
    for (const id of (await listDurableObjectIds(objects)).filter((each) => !others.has(each.toString())))
      await runInDurableObject(objects.get(id), (_, { storage: { sql } }) => {
        for (const { name } of sql.exec<{ name: string }>(TABLES).toArray())
          note(`${kind}.${name}`, sql.exec(`SELECT * FROM "${name}"`).toArray());
      });
  return [...found].toSorted();
}

/** Bytes as text: those of documents and of search indexes. */
const decoded = (_: string, value: unknown): unknown =>
  value instanceof ArrayBuffer ? new TextDecoder().decode(value) : value;

/** Where the canary may be after an erasure, each with the reason that privacy.md gives. */
const KEPT = {
  "DB.receipts": "responses to repeated requests of the back end: a day",
  "SUBSCRIBERS.deliveries": "bodies of deliveries: 7 days after they are over",
};
/** Where its ID may be: it leads to no one. */
const KEPT_IDS = {
  ...KEPT,
  "DB.audit_entries": "who was deleted, and by whom: 90 days",
  "EVENT_LOGS.events": "the events stay, with the ID",
  "INBOXES.inboxes": "nothing reaches the inbox later: 90 days",
  "ROOMS.log": "the latest change says that the user was deleted: a day",
  "ROOMS.receipts": "likewise, so that it is said once",
  "ROOMS.document_updates": "the trail",
  "ROOMS.document_versions": "the trail",
};

async function drained(): Promise<void> {
  for (let run = 0; run < 3; run += 1) await runScheduledTasks(env, Date.now() + MINUTE_MS);
}

/** An identity whose every field is a canary, in three rooms: one that it joined, one that it never did, one that others joined. */
async function canary() {
  const owner = await account();
  const { api } = owner;
  await api.put("/access/default", { defaultAccesses: "editor" });
  await api.post("/webhooks", {
    url: "https://hooks.example.com",
    events: ["user.created", "comment.created"],
  });
  const group = await api.post<{ group: { id: string } }>("/groups", { name: "Birds" });
  const profile = {
    ...{ customId: "hawfinch-7", name: "Hawfinch Bird", email: "hawfinch@example.com" },
    profilePicture: "https://example.com/hawfinch.png",
  };
  const keyed = { headers: { "Idempotency-Key": crypto.randomUUID() } };
  const { data } = await api.post<{ identity: Identity; token: string }>(
    "/identify",
    { ...profile, groups: [group.data.group.id] },
    keyed,
  );
  const { identity, token } = data;
  const [joined, never] = [await api.createRoom(), await api.createRoom()];
  const others = new Map<string, { userId: string; comment: Comment }>();
  const mentions = [{ kind: "user", id: identity.id }];
  for (const { id } of [joined, never]) {
    const user = await api.createUser(id);
    const body = { userId: user.id, text: "Look here", mentions };
    const { comment } = (await api.post<{ comment: Comment }>(`/rooms/${id}/comments`, body)).data;
    others.set(id, { userId: user.id, comment });
    const reader = { userId: identity.id };
    const thread = `/rooms/${id}/threads/${comment.thread_id}`;
    expect((await api.post(`${thread}/subscribe`, reader)).status).toBe(200);
    expect((await api.post(`${thread}/mark-as-read`, reader)).status).toBe(200);
    const settings = `/rooms/${id}/users/${identity.id}/subscription-settings`;
    expect((await api.patch(settings, { threads: "all" })).status).toBe(200);
  }
  await api.put(`/rooms/${joined.id}/access`, { identitiesAccesses: { [identity.id]: "editor" } });
  const { socket, joined: answer } = await joinWith(owner.id, joined.id, token);
  const userId = answer.user.id;
  const other = others.get(joined.id);
  await socket.call("PRESENCE_UPDATE", { state: { at: "hawfinch" } });
  await socket.call(
    "COMMENT_CREATE",
    { text: "hawfinch text", metadata: { by: "hawfinch" } },
    "hawfinch request",
  );
  await socket.call("COMMENT_CREATE", { text: "hawfinch reply", threadId: other?.comment.thread_id });
  await socket.call("COMMENT_REACT", { commentId: other?.comment.id, reaction: "+1", on: true });
  await socket.call("COMMENT_UPDATE", { commentId: other?.comment.id, resolved: true });
  await socket.call("USER_FOLLOW", { userId: other?.userId });
  socket.close();
  await api.upload({ roomId: joined.id, userId }, new File(["hawfinch bytes"], "hawfinch.txt"));
  await api.post("/inbox-notifications/trigger", {
    ...{ identityId: identity.id, kind: "$order", subjectId: "hawfinch order", data: { for: "hawfinch" } },
  });
  await api.patch(`/identities/${identity.id}/notification-settings`, { email: { enabled: false } });
  const inbox = Inbox.of(owner, identity.id);
  await inbox.object.addPushTarget(
    identity.id,
    {
      ...{ endpoint: "https://push.example.com/hawfinch", p256dh: "hawfinch", auth: "hawfinch" },
      ...{ origin: "https://hawfinch.example.com", expiresAt: null },
    },
    "key",
  );
  const at = Date.now();
  await runInDurableObject(inbox.stub, (_, { storage }) => {
    const insertion = `INSERT INTO sendings (id, identity_id, channel, at, outcome, due, done, items)
      VALUES (?, ?, 'email', ?, 'waiting', ?, '["hawfinch@example.com"]', '[]')`;
    storage.sql.exec(insertion, crypto.randomUUID(), identity.id, at, at + 24 * 60 * MINUTE_MS);
  });
  await drained();
  return { owner, api, identity, userId, joined, never };
}

it("the erasure of an identity leaves nothing of it but its ID, in any table of any database or object", async () => {
  const { api, identity, userId, joined, never } = await canary();
  const furnished = await tablesWith(/hawfinch/i);
  expect(furnished).toEqual(
    expect.arrayContaining([
      ...["DB.identities", "DB.files", "DB.users", "EVENT_LOGS.events"],
      ...["INBOXES.items", "INBOXES.push_targets", "INBOXES.sendings", "ROOMS.comments"],
    ]),
  );
  const exported = await recordsOf();
  expect.soft(await named(never.id)).toEqual(["mention", "subscription_settings", "thread"]);
  expect.soft(await named(joined.id)).toEqual(["mention", "subscription_settings"]); // written before the first join
  async function named(roomId: string): Promise<string[]> {
    return exported
      .flatMap((each) => (each.type === "named_in_room" && each.room_id === roomId ? [each.record.type] : []))
      .toSorted();
  }
  async function recordsOf(): Promise<RecordOfIdentity[]> {
    const records: RecordOfIdentity[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const path: string = `/identities/${identity.id}/personal-data${cursor === "" ? "" : `?after=${cursor}`}`;
      const { data }: { data: IdentityData } = await api.get<IdentityData>(path);
      records.push(...data.records);
      cursor = data.cursor;
    }
    return records;
  }
  expect((await api.delete(`/identities/${identity.id}/personal-data`)).data).toEqual({ pending_rooms: 0 });
  await drained();
  const keptTexts = await tablesWith(/hawfinch/i);
  expect.soft(keptTexts.filter((place) => !(place in KEPT))).toEqual([]);
  const keptIds = await tablesWith(new RegExp(`${identity.id}|${userId}`));
  expect(keptIds.filter((place) => !(place in KEPT_IDS))).toEqual([]);
});

it("the erasure of a user of an identity takes what the room has of the identity, and leaves it elsewhere", async () => {
  const { api, identity, userId, joined, never } = await canary();
  const namedIn = async (roomId: string): Promise<string[]> =>
    await runInDurableObject(env.ROOMS.getByName(roomId), (_, { storage: { sql } }) =>
      ["comments", "thread_states", "subscription_settings"].filter((table) =>
        JSON.stringify(sql.exec(`SELECT * FROM ${table}`).toArray()).includes(identity.id),
      ),
    );
  const all = ["comments", "thread_states", "subscription_settings"];
  expect([await namedIn(joined.id), await namedIn(never.id)]).toEqual([all, all]);
  await api.delete(`/users/${userId}/personal-data?roomId=${joined.id}`);
  await drained();
  expect([await namedIn(joined.id), await namedIn(never.id)]).toEqual([[], all]);
});

it("the erasure of a user without identity leaves nothing of it but its ID, in any table", async () => {
  const { id: accountId, api } = await account();
  const room = await api.createRoom();
  const [user, other] = [
    await api.createUser(room.id, {
      ...{ customId: "nuthatch-7", name: "Nuthatch Bird" },
      profilePicture: "https://example.com/nuthatch.png",
    }),
    await api.createUser(room.id),
  ];
  const body = { userId: other.id, text: "Look here", mentions: [user.id] };
  const { comment } = (await api.post<{ comment: Comment }>(`/rooms/${room.id}/comments`, body)).data;
  await api.patch(`/rooms/${room.id}/users/${user.id}/subscription-settings`, { threads: "all" });
  const { socket } = await joinWith(accountId, room.id, user.token);
  await socket.call("COMMENT_CREATE", { text: "nuthatch text" }, "nuthatch request");
  await socket.call("COMMENT_CREATE", { text: "nuthatch reply", threadId: comment.thread_id });
  await socket.call("COMMENT_REACT", { commentId: comment.id, reaction: "+1", on: true });
  await socket.call("USER_FOLLOW", { userId: other.id });
  socket.close();
  await api.upload({ roomId: room.id, userId: user.id }, new File(["nuthatch bytes"], "nuthatch.txt"));
  await api.patch(`/users/${user.id}?roomId=${room.id}`, { name: "Nuthatch of the hedge" });
  expect(await tablesWith(/nuthatch/i)).toEqual(expect.arrayContaining(["DB.users", "ROOMS.comments"]));
  expect((await api.delete(`/users/${user.id}/personal-data?roomId=${room.id}`)).status).toBe(200);
  await drained();
  expect.soft((await tablesWith(/nuthatch/i)).filter((place) => !(place in KEPT))).toEqual([]);
  const ids = await tablesWith(new RegExp(user.id));
  expect(ids.filter((place) => !(place in KEPT_IDS))).toEqual([]);
});
