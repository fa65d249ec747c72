/** Backups of an organization, and restores that are interrupted after any request. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import { inboxShardOf } from "@atrium/contract/resources/inbox.ts";
import type { Thread } from "@atrium/contract/resources/thread.ts";
import { describe, expect, it } from "vitest";
import journal from "../../migrations/meta/_journal.json";
import { type ObjectSlices, PARTS, SCHEMA } from "../../src/features/backup/format.ts";
import { activity, Inbox, PAGE, waitingIn } from "../inbox/support.ts";
import { account } from "../support/api.ts";
import { addMember, signUp, tokenIn } from "../support/person.ts";
import {
  answersOf,
  contentOf,
  expectFiles,
  furnish,
  purged,
  remainsOf,
  remove,
  withoutUse,
} from "./furnished.ts";
import { backUp, cancel, type KillPoint, Operator, restore } from "./operator.ts";

describe("a backup", () => {
  it("names the schema that its rows have", () => {
    expect(SCHEMA).toBe(journal.entries.at(-1)?.idx);
  });

  it.each([
    ["DB", "in one run", 1_000],
    ["DB_2", "however often its restore is killed", 1],
  ] as const)("in %s brings a deleted organization back, %s", async (place, _, first) => {
    const owner = await account(place);
    await addMember(owner.id, "owner");
    const furnished = await furnish(owner, place);
    const [content, answers] = [await contentOf(place, owner.id), await answersOf(owner, furnished)];
    const archive = await backUp(owner.id);
    expect(await restore(archive).catch(String)).toContain("CONFLICT: The organization exists");
    await remove(owner, place);

    let run: number = first;
    while (!(await restore(archive, run, place))) {
      if (run === 2) {
        expect(await owner.api.get("/rooms")).toMatchObject({
          status: 429,
          error: { code: "RATE_LIMITED" },
        });
        const asUser = owner.api.as(furnished.token);
        expect(await asUser.get(`/users?roomId=${furnished.roomId}`)).toMatchObject({ status: 429 });
      }
      run += 1;
    }
    expect(run).toBeGreaterThan(5);
    expect(await contentOf(place, owner.id)).toEqual({
      ...content,
      accounts: [expect.objectContaining({ id: owner.id, token_epoch: 0, deleted_at: null })],
    });
    expect(withoutUse(await answersOf(owner, furnished))).toEqual(withoutUse(answers));
    await expectFiles(owner, archive);
    const again = await owner.api.post(
      "/rooms",
      { name: "Retried" },
      { headers: { "Idempotency-Key": "once" } },
    );
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect((await owner.api.as(furnished.token).get(`/users?roomId=${furnished.roomId}`)).status).toBe(200);
    expect((await owner.api.get("/audit")).data).toMatchObject({
      entries: expect.arrayContaining([
        expect.objectContaining({ operation: "restoreOrganization" }),
        expect.objectContaining({ operation: "createWebhook" }),
      ]),
    });
  });
});

it("an answer of a backup ends after 4 MiB of what is sent, so that a restore takes it, whatever the script", async () => {
  const owner = await account();
  const rooms = [await owner.api.createRoom(), await owner.api.createRoom()];
  const value = "字".repeat(60_000);
  for (const room of rooms)
    for (let entry = 0; entry < 24; entry += 1)
      expect((await owner.api.put(`/rooms/${room.id}/stores/pages/${entry}`, { value })).status).toBe(200);
  const operator = await Operator.with(owner.id, "backup");
  const objects = rooms.map(({ id }) => ({ kind: "room", id }));
  const json = { backupId: crypto.randomUUID(), part: "objects", objects, after: null };
  const answer = await operator.raw("objects", { json });
  expect((await answer.json<ObjectSlices>()).next).toMatchObject({ index: 0 });
});

describe("invitations", () => {
  const invitationsOf = async (id: string) =>
    (
      await env.DB.prepare("SELECT invited_by FROM invitations WHERE account_id = ? ORDER BY invited_by")
        .bind(id)
        .all<{ invited_by: string | null }>()
    ).results.map((row) => row.invited_by);

  it("are closed until the restore is complete, and are used once", async () => {
    const owner = await account("DB_2");
    const { data } = await owner.api.post<{ url: string }>("/invitations");
    const archive = await backUp(owner.id);
    await remove(owner, "DB_2");
    expect(await restore(archive, ["progress", 2], "DB_2")).toBe(false);
    expect(await invitationsOf(owner.id)).toEqual([null]);
    const [ada, ben] = [await signUp(), await signUp()];
    const path = `/invitations/${tokenIn(data.url)}`;
    expect((await ada.browser.get(path)).error?.code).toBe("RATE_LIMITED");
    expect((await ada.browser.post(`${path}/accept`)).error?.code).toBe("RATE_LIMITED");
    expect(await restore(archive, undefined, "DB_2")).toBe(true);
    expect((await ada.browser.post(`${path}/accept`)).status).toBe(200);
    expect((await ben.browser.post(`${path}/accept`)).error?.code).toBe("NOT_FOUND");
  });

  it("keep their maker, with whose ownership they end, and go with one who is no person here", async () => {
    const owner = await account();
    const [present, gone] = [await addMember(owner.id), await addMember(owner.id)];
    for (const { browser } of [present, gone])
      expect((await browser.api(owner.id).post("/invitations")).status).toBe(201);
    await owner.api.post("/invitations");
    const archive = await backUp(owner.id);
    await remove(owner, "DB");
    const { email } = (await env.DB.prepare("SELECT email FROM people WHERE id = ?")
      .bind(gone.id)
      .first<{ email: string }>()) ?? { email: "" };
    await env.DB.prepare("DELETE FROM people WHERE id = ?").bind(gone.id).run();
    await env.DB.prepare("INSERT INTO people VALUES ('stranger', 'Stranger', ?, 1, 1)").bind(email).run();
    expect(await restore(archive)).toBe(true);
    expect(await invitationsOf(owner.id)).toEqual([null, present.id]);
    const members = await owner.api.get<{ members: { person: { id: string } }[] }>("/members");
    expect(JSON.stringify(members.data)).not.toContain("stranger");
    expect(members.data.members).toHaveLength(1);
  });
});

it("an inbox is in a backup as long as its identity exists, and comes back as it was", async () => {
  const owner = await account();
  const [ada, ben] = [await Inbox.create(owner, "Ada"), await Inbox.create(owner, "Ben")];
  for (const inbox of [ada, ben]) {
    await inbox.deliver([activity({ kind: "$order", subjectId: "read", seq: null })]);
    await inbox.object.markAll(inbox.caller);
    await inbox.deliver([activity({ kind: "$order", subjectId: "unread", seq: null })]);
  }
  const waiting = () =>
    runInDurableObject(ada.stub, (_, { storage }) => waitingIn(storage).map(({ channel }) => ({ channel })));
  expect(await waiting()).toEqual([{ channel: "email" }]);
  await owner.api.delete(`/identities/${ben.identityId}`);
  const archive = await backUp(owner.id);
  expect(archive.refs.filter(({ kind }) => kind === "inbox")).toEqual([
    { kind: "inbox", id: inboxShardOf(ada.identityId) },
  ]);
  await remove(owner, "DB");
  expect(await ada.object.count(ada.caller)).toBe(null);
  expect(await restore(archive)).toBe(true);
  expect(await ada.shown()).toEqual({ read: false, unread: true });
  expect(await waiting()).toEqual([]); // unread notifications from before the backup are not sent again
  expect(await ben.object.count(ben.caller)).toBe(null);
  await ada.deliver([activity({ kind: "$order", subjectId: "read", seq: null })]);
  expect(await ada.object.count(ada.caller)).toBe(2);
});

it("the webhook of an agent comes back if the agent does", async () => {
  const owner = await account();
  const create = async (identityId?: string) => {
    const fields = { url: "https://hooks.example.com", events: ["agent.mentioned"], identityId };
    return (await owner.api.post<{ webhook: { id: string } }>("/webhooks", fields)).data.webhook.id;
  };
  const agent = async (name: string) =>
    (await owner.api.post<{ identity: { id: string } }>("/identities", { name, kind: "agent" })).data.identity
      .id;
  const [kept, deleted] = [await agent("Kept"), await agent("Deleted")];
  const [plain, ofKept] = [await create(), await create(kept), await create(deleted)];
  // As a deletion does between the copies of the two parts.
  await env.DB.prepare("DELETE FROM identities WHERE id = ?").bind(deleted).run();
  const archive = await backUp(owner.id);
  await remove(owner, "DB");
  expect(await restore(archive)).toBe(true);
  const { data } = await owner.api.get<{ webhooks: { id: string }[] }>("/webhooks");
  expect(data.webhooks.map(({ id }) => id).toSorted()).toEqual([plain, ofKept].toSorted());
});

/** A room with a user, and an identity that may enter it. */
async function mentioning() {
  const owner = await account();
  const { api } = owner;
  await api.put("/access/default", { defaultAccesses: "editor" });
  const room = await api.createRoom();
  const user = await api.createUser(room.id);
  const inbox = await Inbox.create(owner);
  const mention = async (threadId?: string) => {
    const mentions = [{ kind: "user", id: inbox.identityId }];
    const body = { userId: user.id, text: "Ada?", mentions, threadId };
    const { data } = await api.post<{ comment: Comment }>(`/rooms/${room.id}/comments`, body);
    return data.comment;
  };
  const threadOf = async (id: string) =>
    (await api.get<{ thread: Thread }>(`/rooms/${room.id}/threads/${id}`)).data.thread;
  return { owner, api, room, user, inbox, mention, threadOf };
}

it("a mention in a room that was restored is unread, whatever its identity has read since the room was copied (R83)", async () => {
  const { owner, api, room, inbox, mention, threadOf } = await mentioning();
  const [kept, ended] = [await mention(), await mention()];
  const seqs = async () =>
    ((await inbox.object.list(inbox.caller, PAGE))?.notifications ?? []).map((item) => item.seq);
  const lastSeq = async (id: string) => (await threadOf(id)).last_seq;
  const archive = await backUp(owner.id, async (part) => {
    if (part !== PARTS.inboxes) return;
    for (let times = 0; times < 5; times += 1) await mention(kept.id);
    await expect.poll(seqs).toEqual([await lastSeq(kept.id), await lastSeq(ended.id)]);
    await inbox.object.markAll(inbox.caller);
    await api.delete(`/rooms/${room.id}/threads/${ended.id}`);
    await expect.poll(seqs).toHaveLength(1);
  });
  const [seq = 0] = await seqs();
  const known = await inbox.seq();
  await remove(owner, "DB");
  for (const _ of ["a restore", "another one of the same archive"]) {
    expect(await restore(archive)).toBe(true);
    expect(await lastSeq(kept.id)).toBeLessThan(seq);
    expect(await inbox.object.count(inbox.caller)).toBe(0);
    for (const { id } of [kept, ended]) {
      await mention(id);
      expect(await lastSeq(id)).toBeGreaterThan(seq);
    }
    await expect.poll(() => inbox.object.count(inbox.caller)).toBe(2);
    expect(await inbox.seq()).toBeGreaterThan(known + 1_000);
    await remove(owner, "DB");
  }
});

/** More than an answer with slices of objects has. */
const VALUES = 26;
const VALUE = "v".repeat(180 * 1024);

/** So that objects are opened by more than one request. */
const MORE_ROOMS = 12;

const KILLED: readonly KillPoint[] = [
  ["rows", 0],
  ["rows", 9],
  ["file", 1],
  ["part", 0],
  ["objects", 0],
  ["objects", 1],
  ["open", 1],
  ["finish", 0],
];

it.each(["DB", "DB_2"] as const)(
  "a restore that is cancelled in %s leaves nothing behind, wherever it was, and the next one brings everything back",
  async (place) => {
    const owner = await account(place);
    await addMember(owner.id, "owner");
    const furnished = await furnish(owner, place);
    for (let key = 0; key < VALUES; key += 1)
      await owner.api.put(`/rooms/${furnished.roomId}/stores/large/${key}`, { value: VALUE });
    for (let room = 0; room < MORE_ROOMS; room += 1) await owner.api.createRoom();
    const answers = await answersOf(owner, furnished);
    const archive = await backUp(owner.id);
    expect(archive.parts.get("objects")?.length).toBeGreaterThan(1);
    await remove(owner, place);
    for (const killed of KILLED) {
      const uploads: string[] = [];
      expect([killed, await restore(archive, killed, place, uploads)]).toEqual([killed, false]);
      await cancel(archive);
      await purged(owner.id, place);
      expect([killed, await remainsOf(archive)]).toEqual([killed, {}]);
      for (const upload of uploads) {
        const [name = "", uploadId = ""] = upload.split(" ");
        const part = env.FILES.resumeMultipartUpload(name, uploadId).uploadPart(2, new Uint8Array(1));
        await expect(part).rejects.toThrow();
      }
    }
    expect(await restore(archive, undefined, place)).toBe(true);
    expect(withoutUse(await answersOf(owner, furnished))).toEqual(withoutUse(answers));
    await expectFiles(owner, archive);
  },
);
