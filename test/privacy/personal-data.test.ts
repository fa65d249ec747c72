/** Export and erasure of the personal data of a user, in every place that keeps some. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { EventPage } from "@atrium/contract/rest/event-log.ts";
import type {
  PersonalData,
  PersonalRecord,
  PersonExport,
  PersonRecord,
} from "@atrium/contract/rest/privacy.ts";
import { expect, it } from "vitest";
import { openEventLogs, shardOf } from "../../src/delivery/event-log/shards.ts";
import type { OutgoingEvent } from "../../src/delivery/outbox/subscription.ts";
import { openBlobs } from "../../src/features/files/storage/blobs.ts";
import { deleteFilesOfUsers } from "../../src/features/files/storage/garbage-collection.ts";
import { openDatabase } from "../../src/platform/d1/d1.ts";
import { WorkBudget } from "../../src/platform/flow/work-budget.ts";
import type { RoomObjectBase } from "../../src/room/host/room-object.ts";
import { insertFiles } from "../files/upload-form.ts";
import { Mailbox } from "../mail/mailbox.ts";
import { joinRoom, joinWith } from "../room/support/join.ts";
import type { TestSocket } from "../room/support/test-socket.ts";
import { type Api, account } from "../support/api.ts";
import { addMember, type DashboardBrowser, invite, PASSWORD, signUp } from "../support/person.ts";
import { rowsTouchedBy } from "../support/rows-read.ts";

const logs = openEventLogs(env);

/** A room in which Ada has left traces of every kind, and so has Ben. No ID can contain one of them by chance. */
async function furnishedRoom() {
  const owner = await account();
  const { api } = owner;
  const room = await api.createRoom();
  const profile = {
    name: "Ada Lovelace",
    customId: "byron-1",
    profilePicture: "https://pictures.test/ada.png",
  };
  const [ada, ben] = [await api.createUser(room.id, profile), await api.createUser(room.id, { name: "Ben" })];
  const atAda = await joinRoom(owner.id, room.id, ada.token);
  const { socket: atBen, joined } = await joinWith(owner.id, room.id, ben.token);
  const comment = async (socket: TestSocket, data: object) =>
    ((await socket.call("COMMENT_CREATE", data)).data.comment as { id: string }).id;
  const own = await comment(atAda, { text: "Adas secret", metadata: "Adas secret" });
  const bens = await comment(atBen, { text: "Bens remark", mentions: [ada.id] });
  await atBen.call("COMMENT_CREATE", { text: "Bens answer", threadId: own });
  await atAda.call("COMMENT_REACT", { commentId: bens, reaction: "👍" });
  await atAda.call("COMMENT_RESOLVE", { commentId: bens });
  await atBen.call("COMMENT_REACT", { commentId: bens, reaction: "👍" });
  await atAda.call("USER_FOLLOW", { userId: ben.id });
  const file = new File(["bytes"], "ada-lovelace.txt", { type: "text/plain" });
  const { key } = (await api.upload({ roomId: room.id, userId: ada.id }, file)).data.file;
  await api.upload({ roomId: room.id, userId: ben.id }, new File(["bytes"], "bens.txt"));
  return { owner, api, room, ada, ben, atAda, atBen, joined, own, bens, key };
}

const pathOf = (roomId: string, userId: string) => `/users/${userId}/personal-data?roomId=${roomId}`;

async function exported(api: Api, roomId: string, userId: string): Promise<PersonalRecord[]> {
  const records: PersonalRecord[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { data }: { data: PersonalData } = await api.get<PersonalData>(
      pathOf(roomId, userId) + (cursor === "" ? "" : `&after=${cursor}`),
    );
    records.push(...data.records);
    cursor = data.cursor;
  }
  return records;
}

const eventsOf = async (api: Api, roomId: string) =>
  (await api.get<EventPage>(`/rooms/${roomId}/events?limit=100`)).data.events;

it("an export has what is kept of a user in the database, the room, the files and the log, and nothing of others", async () => {
  const { api, room, ada, ben, atAda, own, bens, key } = await furnishedRoom();
  await atAda.call("THREAD_SUBSCRIBE", { threadId: bens, on: false });
  await atAda.call("SUBSCRIPTION_SETTINGS", { threads: "all" });
  const records = await exported(api, room.id, ada.id);
  const threads = [
    { type: "thread", thread_id: own, read_seq: expect.any(Number), subscribed: null },
    { type: "thread", thread_id: bens, read_seq: 0, subscribed: false },
  ];
  expect((await api.get(`${pathOf(room.id, ada.id)}&after=x`)).error?.code).toBe("BAD_REQUEST");
  const states = records.filter(({ type }) => type !== "event");
  expect(states).toEqual([
    {
      type: "user",
      user: expect.objectContaining({ id: ada.id, name: "Ada Lovelace", custom_id: "byron-1" }),
    },
    { type: "session", session: expect.objectContaining({ user_id: ada.id, left_at: null }) },
    { type: "follow", user_id: ben.id },
    { type: "comment", comment: expect.objectContaining({ id: own, text: "Adas secret" }) },
    { type: "mention", comment_id: bens },
    { type: "resolution", comment_id: bens },
    { type: "reaction", comment_id: bens, reaction: "👍" },
    ...threads.toSorted((a, b) => (a.thread_id < b.thread_id ? -1 : 1)),
    { type: "subscription_settings", settings: { threads: "all", textMentions: "mine" } },
    { type: "file", file: expect.objectContaining({ key, uploadedBy: ada.id }) },
  ]);
  const events = records.flatMap((record) => (record.type === "event" ? [record.event.event] : []));
  expect(events).toEqual(
    expect.arrayContaining(["user.created", "participant.joined", "comment.created", "file.uploaded"]),
  );
  expect(JSON.stringify(states)).not.toContain("Bens");
  expect(records.filter((record) => !JSON.stringify(record).includes(ada.id))).toEqual([
    // These records name the other user, a comment or a thread, or only imply the user.
    ...states.filter(({ type }) =>
      ["follow", "mention", "resolution", "reaction", "thread", "subscription_settings"].includes(type),
    ),
  ]);
});

it("erasing a user leaves nothing that identifies them, and all that others made", async () => {
  const { owner, api, room, ada, ben, atBen, joined, bens, key } = await furnishedRoom();
  await atBen.takeEvents();
  expect((await api.delete(pathOf(room.id, ada.id))).status).toBe(200);
  expect((await api.raw("GET", `/storage/${key}`)).status).toBe(404);
  expect((await api.get(`/users/${ada.id}?roomId=${room.id}`)).status).toBe(404);
  const events = await eventsOf(api, room.id);
  const left = JSON.stringify([
    await exported(api, room.id, ada.id),
    events,
    (await api.get(`/rooms/${room.id}/comments`)).data,
    (await api.get(`/files?roomId=${room.id}`)).data,
    // Other sockets saw `userLeft`, which is not stored.
    (await atBen.takeEvents()).filter(({ event }) => event !== "userLeft"),
  ]);
  for (const trace of ["Lovelace", "lovelace", "byron-1", "pictures.test", "secret"])
    expect(left, trace).not.toContain(trace);
  expect(left).toContain("Bens remark");
  expect(left).toContain("Bens answer");
  const { files } = (await api.get<{ files: { filename: string }[] }>(`/files?roomId=${room.id}`)).data;
  expect(files.map(({ filename }) => filename)).toEqual(["bens.txt"]);
  // The receivers of events learn that their own copies are to be deleted.
  expect(events.map(({ event }) => event)).toEqual(
    expect.arrayContaining(["comment.deleted", "participant.left", "user.deleted"]),
  );
  const remark = await api.get<{ comments: object[] }>(`/rooms/${room.id}/comments?threadId=${bens}`);
  expect(remark.data.comments).toMatchObject([{ mentions: [], reactions: { "👍": [ben.id] } }]);
  // An absent client finds that it has missed too much, rather than Ada's changes.
  const { joined: again } = await joinWith(owner.id, room.id, ben.token, {
    since: joined.seq,
    epoch: joined.epoch,
  });
  expect(JSON.stringify(again)).not.toMatch(/Lovelace|secret/);
});

it("erasing is repeatable, and finds what an earlier deletion of the user has left", async () => {
  const { api, room, ada, own } = await furnishedRoom();
  await api.delete(`/users/${ada.id}?roomId=${room.id}`);
  const left = await exported(api, room.id, ada.id);
  expect(left).toContainEqual({ type: "comment", comment: expect.objectContaining({ id: own }) });
  for (const _ of [1, 2]) expect((await api.delete(pathOf(room.id, ada.id))).status).toBe(200);
  const after = await exported(api, room.id, ada.id);
  expect(after.filter(({ type }) => type !== "event")).toEqual([]);
  expect(JSON.stringify(after)).not.toMatch(/Lovelace|lovelace|byron-1|secret/);
});

/** More than one slice of the log has: a MiB. */
const EVENTS = 2_500;
/** More than one slice of files hides. */
const FILES = 2_300;
/** More than the room reads at once. */
const COMMENTS = 250;

/** Adds copies of Ada's content, as if written before. */
async function addMuch({ owner, api, room, ada }: Awaited<ReturnType<typeof furnishedRoom>>): Promise<void> {
  await insertFiles({ id: owner.id, roomId: room.id, userId: ada.id }, FILES, { name: "'lovelace'" });
  await runInDurableObject(env.ROOMS.getByName(room.id), async (object: RoomObjectBase) => {
    const data = { text: "Adas secret", userId: ada.id };
    const request = JSON.stringify({ type: "COMMENT_CREATE", data });
    for (let comment = 0; comment < COMMENTS; comment += 1) await object.call(owner.id, request);
  });
  const events = (await eventsOf(api, room.id)).map((event) => JSON.stringify(event));
  const body = events.find((event) => event.includes("user.created") && event.includes("Lovelace")) ?? "";
  const copies = Array.from({ length: EVENTS }, () => ({
    ...{ eventId: crypto.randomUUID(), event: "user.created", roomId: room.id, occurredAt: Date.now() },
    body,
  }));
  await logs(owner.id, shardOf(room.id)).append(copies as OutgoingEvent[]);
}

it("erasing a user goes on where it was cut off, slice by slice, of whatever is kept of them", async () => {
  const furnished = await furnishedRoom();
  const { owner, api, room, ada, ben } = furnished;
  await addMuch(furnished);
  const tenant = { accountId: owner.id, db: openDatabase(env.DB), blobs: openBlobs(env.FILES) };
  const filesOf = async (userId: string) =>
    env.DB.prepare(
      "SELECT count(*) AS n FROM files WHERE room_id = ? AND uploaded_by = ? AND state = 'stored'",
    )
      .bind(room.id, userId)
      .first<number>("n");
  // Requests that have died, each after one slice.
  expect(await deleteFilesOfUsers(tenant, [{ id: ada.id, roomId: room.id }], new WorkBudget(1))).toBe(false);
  expect(await filesOf(ada.id)).toBe(FILES + 1 - 1_000);
  const shard = env.EVENT_LOGS.getByName(`${owner.id}:${shardOf(room.id)}`);
  expect(await shard.eraseUser(room.id, ada.id, 0)).not.toBeNull();
  const touched = await rowsTouchedBy(async () =>
    expect((await api.delete(pathOf(room.id, ada.id))).status).toBe(200),
  );
  expect(touched.written).toBeLessThan(20 * FILES);
  expect([await filesOf(ada.id), await filesOf(ben.id)]).toEqual([0, 1]);
  const left = await exported(api, room.id, ada.id);
  expect(left.filter(({ type }) => type !== "event")).toEqual([]);
  expect(left.length).toBeGreaterThan(EVENTS);
  expect(JSON.stringify(left)).not.toMatch(/Lovelace|lovelace|byron-1|secret/);
});

async function exportedPerson(browser: DashboardBrowser): Promise<PersonRecord[]> {
  const records: PersonRecord[] = [];
  for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
    const { data } = (await browser.post<PersonExport>("/me/export", { after })) as { data: PersonExport };
    records.push(...data.records);
    after = data.cursor;
  }
  return records;
}

const countOf = (table: string, column: string, personId: string) =>
  env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${column} = ?`).bind(personId).first<number>("n");

/** A passkey of a person, written to the database directly. */
const addPasskey = (personId: string) =>
  env.DB.prepare("INSERT INTO passkeys VALUES (?, ?, 'Laptop', ?, 'a key', 5, '[]', 4, 3, NULL)")
    .bind(crypto.randomUUID(), personId, crypto.randomUUID())
    .run();

it("a person exports what is kept of them, without any secret and without others", async () => {
  const owner = await signUp();
  const other = await invite(owner);
  const api = owner.api;
  await api.post("/invitations", { role: "member", email: "eve@example.com" });
  await owner.browser.post("/organizations", { name: "Second" });
  await addPasskey(owner.id);
  const records = await exportedPerson(owner.browser);
  expect(records.filter(({ type }) => type !== "change")).toEqual([
    expect.objectContaining({ type: "person", id: owner.id, email: owner.email, name: "Ada" }),
    expect.objectContaining({ type: "password" }),
    { type: "passkey", name: "Laptop", created_at: "1970-01-01T00:00:00.003Z", last_used_at: null },
    expect.objectContaining({ type: "sign_in", browser: null, last_used_at: expect.any(String) }),
    expect.objectContaining({ type: "membership", role: "owner" }),
    expect.objectContaining({ type: "membership", role: "owner" }),
    expect.objectContaining({ type: "invitation", email: "eve@example.com" }),
  ]);
  const changes = records.flatMap((record) => (record.type === "change" ? [record.entry] : []));
  expect(changes.map(({ operation }) => operation).sort()).toEqual([
    "createInvitation",
    "createInvitation",
    "createOrganization",
    "createOrganization",
  ]);
  expect(JSON.stringify(records)).not.toContain(other.id);
  expect((await owner.browser.post("/me/export", { after: "x" })).error?.code).toBe("VALIDATION_ERROR");
});

it("a person exports which mails are kept for them, and not what they say", async () => {
  const [owner, mailbox] = [await signUp(), new Mailbox()];
  await mailbox.page("POST", "/password-links", { email: owner.email });
  expect(mailbox.to(owner.email)).toHaveLength(1);
  const mails = (await exportedPerson(owner.browser)).filter(({ type }) => type === "mail");
  expect(mails).toEqual([
    {
      ...{ type: "mail", organization_id: null, topic: "password", state: "done" },
      ...{ created_at: expect.any(String), expires_at: expect.any(String) },
    },
  ]);
});

it("a person exports what they changed in an organization beside the directory", async () => {
  const { id } = await account("DB_2");
  const { browser } = await addMember(id);
  const room = await browser.api(id).createRoom();
  await browser.api(id).delete(`/rooms/${room.id}`);
  await browser.api(id).post("/invitations", {});
  const changes = (await exportedPerson(browser)).flatMap((record) =>
    record.type === "change" ? [record] : [],
  );
  expect(changes.map(({ entry }) => entry.operation)).toEqual(["createInvitation", "deleteRoom"]);
});

it("a person deletes their account, with everything but the organization's own record of it", async () => {
  const owner = await signUp();
  const leaving = await invite(owner, "owner");
  const api = leaving.browser.api(owner.organization.id);
  const { data } = await api.post<{ url: string }>("/invitations", { role: "owner" });
  await addPasskey(leaving.id);
  const wrong = await leaving.browser.post("/me/delete", { password: "wrong" });
  expect([wrong.status, wrong.error?.message]).toEqual([400, "password: this is not your password"]);
  expect((await leaving.browser.post("/me/delete", { password: PASSWORD })).status).toBe(200);
  expect(leaving.browser.cookie).toBe("");
  for (const [table, column] of [
    ["people", "id"],
    ["credentials", "person_id"],
    ["passkeys", "person_id"],
    ["sessions", "person_id"],
    ["memberships", "person_id"],
    ["invitations", "invited_by"],
  ] as const)
    expect(await countOf(table, column, leaving.id), table).toBe(0);
  // An invitation of an API key has no inviter: that of a deleted owner must not become one.
  const token = data.url.split("/").at(-1) ?? "";
  await expect(signUp({ invitation: token })).rejects.toThrow("404");
  const { data: log } = await owner.api.get<{ entries: { operation: string; resource: object }[] }>("/audit");
  expect(log.entries[0]).toMatchObject({
    operation: "deletePerson",
    resource: { type: "member", id: leaving.id },
  });
});

it("the only owner of an organization hands it over, or deletes it, first", async () => {
  const owner = await signUp({ organization: "Analytical Engines" });
  const refused = await owner.browser.post("/me/delete", { password: PASSWORD });
  expect([refused.status, refused.error?.code]).toEqual([409, "CONFLICT"]);
  expect(refused.error?.message).toContain("Analytical Engines");
  expect((await owner.browser.get("/me")).status).toBe(200);
  const api = owner.api;
  await api.json("DELETE", "/organization", { confirm: "Analytical Engines" });
  expect((await owner.browser.post("/me/delete", { password: PASSWORD })).status).toBe(200);
});
