/** Export and erasure of the personal data of an identity, in all of its rooms. */
import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { Identity } from "@atrium/contract/resources/identity.ts";
import type { AuditEntry } from "@atrium/contract/rest/audit.ts";
import type { EventPage } from "@atrium/contract/rest/event-log.ts";
import type { IdentityData, RecordOfIdentity } from "@atrium/contract/rest/privacy.ts";
import { expect, it } from "vitest";
import worker from "../../src/index.ts";
import type { RoomCommand } from "../../src/room/types/room-object.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { joinWith } from "../room/support/join.ts";
import { type Api, account, makeGuest, refusalOf } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { unreachable } from "../support/unreachable.ts";

const MINUTE_MS = 60_000;

interface Identified {
  readonly identity: Identity;
  readonly token: string;
}

/** Rooms in each of which Ada and Ben have written a comment; Ada has uploaded a file to the first one. */
async function furnished(rooms: number) {
  const owner = await account();
  const { api } = owner;
  await api.put("/access/default", { defaultAccesses: "editor" });
  const group = await api.post<{ group: { id: string } }>("/groups", { name: "Poets" });
  const identify = async (fields: object) => (await api.post<Identified>("/identify", fields)).data;
  const ada = await identify({
    ...{ customId: "byron-1", name: "Ada Lovelace", email: "lovelace@example.com" },
    groups: [group.data.group.id],
  });
  const ben = await identify({ customId: "ben", name: "Ben" });
  const places: { readonly id: string; readonly userId: string }[] = [];
  for (let number = 0; number < rooms; number += 1) {
    const { id } = await api.createRoom();
    const { socket, joined } = await joinWith(owner.id, id, ada.token);
    await socket.call("COMMENT_CREATE", { text: `Adas secret ${number}` });
    const { socket: other } = await joinWith(owner.id, id, ben.token);
    await other.call("COMMENT_CREATE", { text: "Bens remark" });
    for (const each of [socket, other]) each.close();
    places.push({ id, userId: joined.user.id });
  }
  const [first] = places;
  if (first === undefined) throw new Error("There is no room");
  await api.put(`/rooms/${first.id}/access`, { identitiesAccesses: { [ada.identity.id]: "editor" } });
  const file = new File(["bytes"], "ada-lovelace.txt", { type: "text/plain" });
  const { key } = (await api.upload({ roomId: first.id, userId: first.userId }, file)).data.file;
  return { owner, api, ada: ada.identity, ben: ben.identity, group: group.data.group, places, first, key };
}

const pathOf = ({ id }: Identity) => `/identities/${id}/personal-data`;

async function exported(api: Api, identity: Identity): Promise<RecordOfIdentity[]> {
  const records: RecordOfIdentity[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const path: string = pathOf(identity) + (cursor === "" ? "" : `?after=${cursor}`);
    const { data }: { data: IdentityData } = await api.get<IdentityData>(path);
    records.push(...data.records);
    cursor = data.cursor;
  }
  return records;
}

/** Content that others can still read: comments, files and events. */
async function left(api: Api, rooms: readonly { readonly id: string }[]): Promise<string> {
  const texts: unknown[] = [];
  for (const { id } of rooms)
    for (const path of [`/rooms/${id}/comments`, `/files?roomId=${id}`, `/rooms/${id}/events?limit=100`])
      texts.push((await api.get(path)).data);
  texts.push((await api.get<EventPage>("/events?events=identity.created&events=identity.updated")).data);
  return JSON.stringify(texts);
}

const TRACES = /lovelace|byron-1|secret/i;

it("an export has what is kept of an identity itself, then of its users room by room, and nothing of others", async () => {
  const { api, ada, ben, group, places, first, key } = await furnished(12);
  const records = await exported(api, ada);
  const own = records.filter(({ type }) => type !== "in_room");
  expect(own).toMatchObject([
    { type: "identity", identity: ada },
    { type: "group", group: { id: group.id, name: "Poets" } },
    { type: "access", room_id: first.id, permissions: ["*:write"] },
    { type: "event", event: { event: "identity.created", identity: { email: "lovelace@example.com" } } },
  ]);
  const inRooms = records.flatMap((record) => (record.type === "in_room" ? [record] : []));
  const rooms = [...new Set(inRooms.map(({ room_id, user_id }) => `${room_id} ${user_id}`))];
  expect(rooms).toEqual(places.map(({ id, userId }) => `${id} ${userId}`).toSorted());
  const texts = inRooms.flatMap(({ record }) => (record.type === "comment" ? [record.comment.text] : []));
  expect(texts.toSorted()).toEqual(places.map((_, number) => `Adas secret ${number}`).toSorted());
  expect(inRooms.flatMap(({ record }) => (record.type === "file" ? [record.file.key] : []))).toEqual([key]);
  expect(JSON.stringify(records)).not.toContain("Bens remark");
  expect(JSON.stringify(own)).not.toContain(ben.id);
  expect((await api.get(`${pathOf(ada)}?after=x`)).error?.code).toBe("BAD_REQUEST");
  expect(refusalOf(await api.get(`/identities/${first.id}/personal-data`))).toEqual([
    404,
    "Identities",
    "NOT_FOUND",
  ]);
  const stranger = await account();
  expect((await stranger.api.get(pathOf(ada))).status).toBe(404);
  expect((await stranger.api.delete(pathOf(ada))).status).toBe(404);
});

it("an erasure that was answered reaches all rooms, also those that could not be reached then", async () => {
  const { api, owner, ada, places, first, key } = await furnished(30);
  const lost = places.slice(3).map(({ id }) => id);
  const execution = createExecutionContext();
  const bindings = { ...env, ROOMS: unreachable(env.ROOMS, lost) };
  const response = await worker.fetch(api.request("DELETE", pathOf(ada)), bindings, execution);
  await waitOnExecutionContext(execution);
  expect([response.status, (await response.json<{ data: object }>()).data]).toEqual([
    200,
    { pending_rooms: lost.length },
  ]);
  expectLogged("A command could not be relayed to its room yet: user.erased");
  expect((await api.raw("GET", `/storage/${key}`)).status).toBe(404);
  expect(await left(api, places.slice(0, 3))).not.toMatch(TRACES);
  expect(await left(api, [{ id: lost[0] ?? "" }])).toMatch(TRACES);
  await runScheduledTasks(env, Date.now() + MINUTE_MS);
  const remains = await left(api, places);
  expect(remains).not.toMatch(TRACES);
  expect(remains.match(/Bens remark/g)?.length).toBeGreaterThanOrEqual(30);
  expect((await api.get<EventPage>(`/rooms/${first.id}/events?limit=100`)).data.events).toContainEqual(
    expect.objectContaining({ event: "user.deleted" }),
  );
  const waiting = env.DB.prepare("SELECT 1 FROM outbox WHERE account_id = ?").bind(owner.id);
  expect((await waiting.all()).results).toEqual([]);
  expect(refusalOf(await api.delete(pathOf(ada)))).toEqual([404, "Identities", "NOT_FOUND"]);
});

it("an erasure finds what an earlier deletion of the identity has left, and is recorded once", async () => {
  const { api, ada, places } = await furnished(3);
  await api.delete(`/identities/${ada.id}`);
  const records = await exported(api, ada);
  expect(records.every(({ type }) => type === "in_room" || type === "event")).toBe(true);
  expect(JSON.stringify(records)).toContain("Adas secret");
  expect((await api.delete(pathOf(ada))).data).toEqual({ pending_rooms: 0 });
  expect(await left(api, places)).not.toMatch(TRACES);
  const { entries } = (
    await api.get<{ entries: AuditEntry[] }>(`/audit?resource=identity&resourceId=${ada.id}`)
  ).data;
  expect(entries.map(({ operation }) => operation)).toEqual([
    "eraseIdentityData",
    "deleteIdentity",
    "identify",
  ]);
});

/** Where an object keeps something that contains a text. */
const tablesOf = (id: string, text: string) =>
  runInDurableObject(env.ROOMS.getByName(id), (_, { storage: { sql } }) =>
    sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf*'")
      .toArray()
      .map(({ name }) => name)
      .filter((name) => JSON.stringify(sql.exec(`SELECT * FROM "${name}"`).toArray()).includes(text)),
  );

/** Bindings that call `applied` when a room has carried out a command of this type, before its caller goes on. */
const interleaved = (
  type: string,
  applied: (roomId: string, command: { type: string }) => Promise<void>,
) => ({
  ...env,
  ROOMS: new Proxy(env.ROOMS, {
    get: (target, property) =>
      property === "getByName"
        ? (name: string) =>
            new Proxy(target.getByName(name), {
              get: (stub, method) =>
                method === "apply"
                  ? async (accountId: string, command: RoomCommand) => {
                      const stats = await stub.apply(accountId, command);
                      if (command.type === type) await applied(name, command);
                      return stats;
                    }
                  : Reflect.get(stub, method),
            })
        : Reflect.get(target, property),
  }),
});

async function eraseWith(api: Api, identity: Identity, bindings: typeof env) {
  const execution = createExecutionContext();
  const response = await worker.fetch(api.request("DELETE", pathOf(identity)), bindings, execution);
  await waitOnExecutionContext(execution);
  return (await response.json<{ data: object }>()).data;
}

it("a room that has carried out an erasure does not learn of the identity again by a mention", async () => {
  const { api, ada } = await furnished(1);
  const room = await api.createRoom();
  const user = await api.createUser(room.id);
  const comments = `/rooms/${room.id}/comments`;
  const mentions = [{ kind: "user", id: ada.id }];
  const text = { userId: user.id, text: "Look" };
  const { comment } = (await api.post<{ comment: Comment }>(comments, { ...text, mentions })).data;
  const written: number[] = [];
  const bindings = interleaved("identity.erased", async (roomId) => {
    if (roomId !== room.id) return;
    for (const sent of [
      await api.post(comments, { ...text, mentions }),
      await api.patch(`${comments}/${comment.id}`, { mentions }),
      await api.post(`/rooms/${room.id}/threads/${comment.id}/subscribe`, { userId: ada.id }),
    ])
      written.push(sent.status);
  });
  expect(await eraseWith(api, ada, bindings)).toEqual({ pending_rooms: 0 });
  expect(written).toEqual([201, 200, 404]);
  expect(await tablesOf(room.id, ada.id)).toEqual([]);
});

it("a request that had found the identity before its erasure names it no more", async () => {
  const { owner, api, ada } = await furnished(1);
  const room = await api.createRoom();
  const user = await api.createUser(room.id);
  const { comment } = (
    await api.post<{ comment: Comment }>(`/rooms/${room.id}/comments`, { userId: user.id, text: "Look" })
  ).data;
  await eraseWith(api, ada, env);
  const reader = { subject: ada.id, userId: null };
  const author = { subject: user.id, userId: user.id };
  const recipients = { readers: [reader], groups: [], unnotified: [] };
  const mentions = [{ kind: "user", id: ada.id }];
  const thread = { threadId: comment.id };
  const answers = await runInDurableObject(env.ROOMS.getByName(room.id), async (object) => {
    const codes: unknown[] = [];
    for (const request of [
      { type: "COMMENT_CREATE", data: { text: "Hi", mentions }, reader: author, recipients },
      { type: "COMMENT_UPDATE", data: { commentId: comment.id, mentions }, recipients },
      { type: "TEXT_MENTION_CREATE", data: { mentionId: "m", userId: ada.id }, recipients },
      { type: "THREAD_SUBSCRIBE", data: { ...thread, on: true }, reader },
      { type: "THREAD_READ", data: thread, reader },
      { type: "SUBSCRIPTION_SETTINGS", data: { threads: "all" }, reader },
    ]) {
      const { success, error } = JSON.parse(await object.call(owner.id, JSON.stringify(request)));
      codes.push(success ? "done" : error.code);
    }
    return codes;
  });
  expect(answers).toEqual(["done", "done", "done", "NOT_FOUND", "NOT_FOUND", "NOT_FOUND"]);
  expect(await tablesOf(room.id, ada.id)).toEqual([]);
});

it("an erasure that dies behind the deletion of the identity is continued, also in rooms that it never joined", async () => {
  const { api, ada, places } = await furnished(1);
  const room = await api.createRoom();
  const user = await api.createUser(room.id);
  const mentions = [{ kind: "user", id: ada.id }];
  await api.post(`/rooms/${room.id}/comments`, { userId: user.id, text: "Look", mentions });
  expect(await tablesOf(room.id, ada.id)).toContain("comments");
  const execution = createExecutionContext();
  const ids = [room, ...places].map(({ id }) => id);
  const bindings = { ...env, ROOMS: unreachable(env.ROOMS, ids) };
  await worker.fetch(api.request("DELETE", pathOf(ada)), bindings, execution);
  await waitOnExecutionContext(execution);
  expectLogged(
    "A command could not be relayed to its room yet: identity.erased",
    "A command could not be relayed to its room yet: user.erased",
  );
  await runScheduledTasks(env, Date.now() + MINUTE_MS);
  expect(await tablesOf(room.id, ada.id)).toEqual([]);
  expect(await left(api, [...places, room])).not.toMatch(TRACES);
});

it("an identity whose user in a room is erased can be mentioned there, and reads, as before", async () => {
  const { api, ada, first } = await furnished(1);
  const user = await api.createUser(first.id);
  expect((await api.delete(`/users/${first.userId}/personal-data?roomId=${first.id}`)).status).toBe(200);
  const mentions = [{ kind: "user", id: ada.id }];
  const comments = `/rooms/${first.id}/comments`;
  const posted = await api.post<{ comment: Comment; unnotified?: string[] }>(comments, {
    ...{ userId: user.id, text: "Look", mentions },
  });
  const { comment, unnotified } = posted.data;
  expect([posted.status, comment.mentioned, unnotified]).toEqual([201, mentions, undefined]);
  const thread = `/rooms/${first.id}/threads/${comment.id}`;
  const answers = [
    await api.post(`${thread}/subscribe`, { userId: ada.id }),
    await api.get(`${thread}?userId=${ada.id}`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

it("a request that is repeated after the erasure of someone whom it mentions is done once", async () => {
  const { owner, api, ada, first } = await furnished(1);
  const user = await api.createUser(first.id);
  const recipients = { readers: [{ subject: ada.id, userId: first.userId }], groups: [], unnotified: [] };
  const data = { text: "Look", mentions: [{ kind: "user", id: ada.id }] };
  const reader = { subject: user.id, userId: user.id };
  const post = () =>
    runInDurableObject(env.ROOMS.getByName(first.id), async (object) =>
      JSON.parse(
        await object.call(
          owner.id,
          JSON.stringify({ type: "COMMENT_CREATE", requestId: "once", data, reader, recipients }),
        ),
      ),
    );
  const { comment } = (await post()).data as { comment: Comment };
  await eraseWith(api, ada, env);
  const repeated = await post();
  expect(repeated).toMatchObject({ success: true, data: { comment: { id: comment.id, text: "Look" } } });
  expect(JSON.stringify(repeated)).not.toContain(ada.id);
  expect((await api.get<{ total: number }>(`/rooms/${first.id}/comments?search=Look`)).data.total).toBe(1);
});

it("an erasure that fails behind its first slice leaves no name in the log once it is repeated", async () => {
  const { owner, api, ada } = await furnished(1);
  const room = await api.createRoom();
  const user = await api.createUser(room.id);
  const mentions = [{ kind: "user", id: ada.id }];
  await api.post(`/rooms/${room.id}/comments`, { userId: user.id, text: "Look", mentions });
  await runInDurableObject(env.ROOMS.getByName(room.id), async (object, { storage: { sql } }) => {
    const command = { type: "identity.erased", identityId: ada.id } as const;
    sql.exec("CREATE TRIGGER full BEFORE DELETE ON thread_states BEGIN SELECT raise(ABORT, 'full'); END");
    await expect(object.apply(owner.id, command)).rejects.toThrow("full");
    sql.exec("DROP TRIGGER full");
    await object.apply(owner.id, command);
    const logged = JSON.stringify(
      sql.exec("SELECT data FROM log UNION ALL SELECT data FROM journal").toArray(),
    );
    expect(logged).not.toContain(ada.id);
  });
});

it("the erasure of a guest reaches every room that names it", async () => {
  const { api, first } = await furnished(1);
  const { guest } = await makeGuest(api, first.id);
  const room = await api.createRoom();
  const user = await api.createUser(room.id);
  const mentions = [{ kind: "user", id: guest.identity.id }];
  for (const [id, userId] of [
    [first.id, first.userId],
    [room.id, user.id],
  ])
    await api.post(`/rooms/${id}/comments`, { userId, text: "Hi", mentions });
  expect(await tablesOf(room.id, guest.identity.id)).toContain("comments");
  expect(await eraseWith(api, guest.identity, env)).toEqual({ pending_rooms: 0 });
  for (const { id } of [first, room]) expect(await tablesOf(id, guest.identity.id)).toEqual([]);
});
