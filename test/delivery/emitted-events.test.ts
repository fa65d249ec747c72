/** Events of operations, and their contents. Operations that fail or change nothing emit none. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { EventName } from "@atrium/contract/resources/events.ts";
import type { StorageFile, UploadResult } from "@atrium/contract/resources/file.ts";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { newEvent } from "../../src/delivery/outbox/event-store.ts";
import { insertFileEvent } from "../../src/features/files/file-event-store.ts";
import { insertUserEvent } from "../../src/features/users/store.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import type { RoomObjectBase } from "../../src/room/host/room-object.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { joinRoom } from "../room/support/join.ts";
import type { TestSocket } from "../room/support/test-socket.ts";
import { type Account, account, ORIGIN } from "../support/api.ts";
import { whileTableFails } from "../support/database-failure.ts";
import { eventsWaiting, untilRelayed } from "../support/relayed.ts";
import { RecordingSubscriber } from "./recording-subscriber.ts";

const MINUTE_MS = 60_000;

let owner: Account;
let room: Room;

beforeEach(async () => {
  owner = await account();
  room = await owner.api.createRoom({ name: "Weekly planning" });
});

const join = ({ room_id, token }: UserWithToken) => joinRoom(owner.id, room_id, token);

const leave = async (socket: TestSocket) => {
  socket.send({ type: "LEAVE_ROOM" });
  await socket.closed;
};

async function upload(userId: string): Promise<UploadResult> {
  const file = new File(["plan"], "plan.txt", { type: "text/plain" });
  const answer = await owner.api.upload({ roomId: room.id, userId }, file);
  expect(answer.status).toBe(201);
  return answer.data.file;
}

const shown = ({ token: _, ...user }: UserWithToken) => user;

const rowsLeft = () => eventsWaiting(owner.id);

describe("a change of a user over REST", () => {
  it("emits user.created, user.updated and user.deleted with the user and room right after it", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api);
    const user = await owner.api.createUser(room.id, { name: "Ada", customId: "ada" });
    await owner.api.patch(`/users/${user.id}?roomId=${room.id}`, { name: "Bo", customId: null });
    await owner.api.delete(`/users/${user.id}?roomId=${room.id}`);
    const events = await subscriber.receivedEvents(3);
    const data = { roomId: room.id, userId: user.id };
    const { custom_id: _, ...renamed } = { ...shown(user), name: "Bo" };
    const roomThen = { ...room, total_users_created: 1 };
    expect(events).toEqual(
      [
        { event: "user.created", data, room: roomThen, user: shown(user) },
        { event: "user.updated", data, room: roomThen, user: renamed },
        { event: "user.deleted", data, room: roomThen, user: renamed },
      ].map((event) => ({ ...event, id: expect.any(String), timestamp: expect.any(String) })),
    );
    expect(new Set(events.map(({ id }) => id)).size).toBe(3);
    expect(Date.parse(events[0]?.timestamp ?? "")).toBeGreaterThanOrEqual(Date.parse(user.created_at));
    await untilRelayed(owner.id);
  });

  it("emits nothing when it changes nothing, fails, or the user does not exist", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api);
    const profilePicture = "https://x.example/a.png";
    const [ada, bo, stranger] = [
      await owner.api.createUser(room.id, { name: "Ada", customId: "taken" }),
      await owner.api.createUser(room.id, { profilePicture }),
      await account(),
    ];
    const pathOf = (id: string) => `/users/${id}?roomId=${room.id}`;
    const answers = [
      await owner.api.patch(pathOf(ada.id), { name: "Ada", customId: "taken" }),
      await owner.api.patch(pathOf(bo.id), { name: "Bo", customId: "taken" }),
      await owner.api.post("/users", { name: "Eve", roomId: room.id, customId: "taken" }),
      await owner.api.post("/users", { name: "Eve", roomId: crypto.randomUUID() }),
      await owner.api.patch(pathOf(crypto.randomUUID()), { name: "Missing" }),
      await owner.api.delete(pathOf(crypto.randomUUID())),
      await stranger.api.patch(pathOf(bo.id), { name: "Hijacked" }),
      await stranger.api.delete(pathOf(bo.id)),
      await owner.api.patch(pathOf(bo.id), { profilePicture: null }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 409, 409, 404, 404, 404, 404, 404, 200]);
    const events = await subscriber.receivedEvents(3);
    expect(events.map(({ event, data }) => [event, "userId" in data && data.userId])).toEqual([
      ["user.created", ada.id],
      ["user.created", bo.id],
      ["user.updated", bo.id],
    ]);
    await untilRelayed(owner.id);
  });

  it("shows a user who is online as online", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, {
      events: ["user.updated", "user.deleted"],
    });
    const user = await owner.api.createUser(room.id);
    await join(user);
    await owner.api.patch(`/users/${user.id}?roomId=${room.id}`, { name: "New" });
    await owner.api.delete(`/users/${user.id}?roomId=${room.id}`);
    expect(await subscriber.receivedEvents(2)).toMatchObject([
      { event: "user.updated", user: { status: "online", joined_at: expect.any(String), name: "New" } },
      { event: "user.deleted", user: { status: "offline" } },
    ]);
  });
});

describe("a room", () => {
  it("emits events for the first and last connection of each user, and for the first and last user", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api);
    const [ada, bo] = [
      await owner.api.createUser(room.id, { name: "Ada" }),
      await owner.api.createUser(room.id, { name: "Bo" }),
    ];
    const tabs = [await join(ada), await join(ada), await join(bo)];
    for (const tab of tabs) await leave(tab);
    const again = await join(bo);
    await leave(again);
    const events = (await subscriber.receivedEvents(12)).slice(2);
    const told = events.map(({ event, data }) => [event, "userId" in data ? data.userId : null]);
    expect(told).toEqual([
      ["session.started", null],
      ["participant.joined", ada.id],
      ["participant.joined", bo.id],
      ["participant.left", ada.id],
      ["participant.left", bo.id],
      ["session.closed", null],
      ["session.started", null],
      ["participant.joined", bo.id],
      ["participant.left", bo.id],
      ["session.closed", null],
    ]);
    expect(events.map(({ room: then }) => then.active_participants)).toEqual([1, 1, 2, 1, 0, 0, 1, 1, 0, 0]);
    expect(events[1]).toMatchObject({
      room: { id: room.id, name: "Weekly planning", total_users_created: 2 },
      user: { ...shown(ada), status: "online", joined_at: expect.any(String) },
    });
    expect(events[5]).toMatchObject({ users: [{ id: ada.id, status: "offline" }, { id: bo.id }] });
    expect(events[9]).toMatchObject({ users: [{ id: bo.id, name: "Bo" }] });
    const sessions = events.map(({ data }) => "sessionId" in data && data.sessionId);
    expect(sessions[0]).toBe(sessions[5]);
    expect(sessions[6]).not.toBe(sessions[0]);
    const { data } = await owner.api.get<{ sessions: { id: string; joined_at: string; left_at: string }[] }>(
      `/users/${ada.id}?roomId=${room.id}`,
    );
    expect(data.sessions).toMatchObject([
      { id: sessions[1], joined_at: events[1]?.timestamp, left_at: events[3]?.timestamp },
    ]);
  });

  it("emits the departures that a deletion or closing causes before the deletion's own event", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, {
      events: ["participant.left", "session.closed", "user.deleted", "room.deleted"],
    });
    const ada = await owner.api.createUser(room.id, { name: "Ada" });
    await join(ada);
    await owner.api.delete(`/users/${ada.id}?roomId=${room.id}`);
    const bo = await owner.api.createUser(room.id, { name: "Bo" });
    await join(bo);
    await owner.api.patch(`/rooms/${room.id}`, { state: "closed" });
    await owner.api.patch(`/rooms/${room.id}`, { state: "active" });
    await join(bo);
    await owner.api.delete(`/rooms/${room.id}`);
    const events = await subscriber.receivedEvents(8);
    expect(events.map(({ event, room: then }) => [event, then.state])).toEqual([
      ["participant.left", "active"],
      ["session.closed", "active"],
      ["user.deleted", "active"],
      ["participant.left", "closed"],
      ["session.closed", "closed"],
      ["participant.left", "active"],
      ["session.closed", "active"],
      ["room.deleted", "active"],
    ]);
    expect(events[1]).toMatchObject({ users: [{ id: ada.id, name: "Ada" }] });
  });

  it("shows the room and users with their names at the time of the event", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, {
      events: ["participant.left", "session.closed"],
    });
    const ada = await owner.api.createUser(room.id, { name: "Ada" });
    const tab = await join(ada);
    await owner.api.patch(`/rooms/${room.id}`, { name: "Renamed" });
    await owner.api.patch(`/users/${ada.id}?roomId=${room.id}`, { name: "Bo" });
    await owner.api.createUser(room.id, { name: "Cleo" });
    // The live room receives a command without the request waiting for it, so its participants receive it later.
    while ((await tab.nextEvent()).event !== "userCreated");
    await leave(tab);
    expect(await subscriber.receivedEvents(2)).toMatchObject([
      { user: { name: "Bo" }, room: { name: "Renamed", total_users_created: 2 } },
      { users: [{ name: "Bo" }], room: { name: "Renamed" } },
    ]);
  });

  it("keeps its events while the database fails, and delivers them in order afterwards", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { roomId: room.id });
    const user = await owner.api.createUser(room.id);
    await subscriber.receivedEvents(1);
    await whileTableFails("webhooks", async () => leave(await join(user)));
    await runDurableObjectAlarm(env.ROOMS.getByName(room.id));
    expect((await subscriber.receivedEvents(5)).map(({ event }) => event)).toEqual([
      "user.created",
      "session.started",
      "participant.joined",
      "participant.left",
      "session.closed",
    ]);
  });

  it("keeps no events that no one subscribes to", async () => {
    const user = await owner.api.createUser(room.id);
    await leave(await join(user));
    const waiting = () =>
      runInDurableObject(env.ROOMS.getByName(room.id), (_, { storage }) =>
        storage.sql.exec("SELECT count(*) AS count FROM events").one(),
      );
    await expect.poll(waiting).toEqual({ count: 0 });
    const subscriber = await RecordingSubscriber.create(owner.api);
    await owner.api.delete(`/users/${user.id}?roomId=${room.id}`);
    expect((await subscriber.receivedEvents(1)).map(({ event }) => event)).toEqual(["user.deleted"]);
  });
});

describe("a comment", () => {
  const COMMENTS: readonly EventName[] = [
    "comment.created",
    "comment.updated",
    "comment.resolved",
    "comment.deleted",
  ];

  it("emits each change with the comment and the room right after it, and no reaction", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { events: COMMENTS });
    const user = await owner.api.createUser(room.id);
    const tab = await join(user);
    const created = await tab.call("COMMENT_CREATE", { text: "Hello" });
    const comment = created.data.comment as { id: string };
    const at = `/rooms/${room.id}/comments/${comment.id}`;
    await tab.call("COMMENT_REACT", { commentId: comment.id, reaction: "+1" });
    await tab.call("COMMENT_RESOLVE", { commentId: comment.id });
    await tab.call("COMMENT_RESOLVE", { commentId: comment.id });
    await owner.api.patch(at, { text: "Bye", resolved: false });
    await owner.api.delete(at);
    const events = await subscriber.receivedEvents(5);
    const [byUser, byOrganization] = [
      { roomId: room.id, commentId: comment.id, threadId: comment.id, userId: user.id },
      { roomId: room.id, commentId: comment.id, threadId: comment.id },
    ];
    const told = events.map((event) => ({ ...event, ...("comment" in event ? event.comment : {}) }));
    expect(told.map(({ event, data, text, resolved }) => [event, data, text, resolved])).toEqual([
      ["comment.created", byUser, "Hello", false],
      ["comment.resolved", byUser, "Hello", true],
      ["comment.updated", byOrganization, "Bye", true],
      ["comment.updated", byOrganization, "Bye", false],
      ["comment.deleted", byOrganization, "Bye", false],
    ]);
    expect(events[0]).toMatchObject({ comment, room: { active_participants: 1, name: "Weekly planning" } });
  });

  it("in a room that no one has joined shows the room as it is, and is delivered after a crash", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { events: COMMENTS });
    const user = await owner.api.createUser(room.id);
    const write = (text: string) => owner.api.post(`/rooms/${room.id}/comments`, { text, userId: user.id });
    expect(await write("First")).toMatchObject({ status: 201 });
    await owner.api.patch(`/rooms/${room.id}`, { name: "Renamed" });
    await subscriber.receivedEvents(1);
    await whileTableFails("webhooks", async () => {
      expect(await write("Second")).toMatchObject({ status: 201 });
      await evictDurableObject(env.ROOMS.getByName(room.id));
    });
    await runDurableObjectAlarm(env.ROOMS.getByName(room.id));
    expect(await subscriber.receivedEvents(2)).toMatchObject([
      { comment: { text: "First" }, room: { name: "Weekly planning" } },
      { comment: { text: "Second" }, room: { name: "Renamed" } },
    ]);
  });
});

describe("the subscribers of an event", () => {
  const NAMES: readonly EventName[] = ["user.created", "user.updated"];

  it("are the enabled webhooks that want it, for its room or for all rooms, of its organization only", async () => {
    const [other, stranger] = [await owner.api.createRoom(), await account()];
    const strange = await RecordingSubscriber.create(stranger.api);
    const [all, here, there, joins, off] = [
      await RecordingSubscriber.create(owner.api, { events: NAMES }),
      await RecordingSubscriber.create(owner.api, { events: NAMES, roomId: room.id }),
      await RecordingSubscriber.create(owner.api, { events: NAMES, roomId: other.id }),
      await RecordingSubscriber.create(owner.api, { events: ["participant.joined", "session.started"] }),
      await RecordingSubscriber.create(owner.api),
    ];
    await owner.api.patch(`/webhooks/${off.webhook.id}`, { enabled: false });
    const user = await owner.api.createUser(room.id);
    await join(user);
    const elsewhere = await owner.api.createUser(other.id);
    const usersOf = async (subscriber: RecordingSubscriber, count: number) =>
      (await subscriber.receivedEvents(count)).map(({ data }) => "userId" in data && data.userId);
    expect(await usersOf(all, 2)).toEqual([user.id, elsewhere.id]);
    expect(await usersOf(here, 1)).toEqual([user.id]);
    expect(await usersOf(there, 1)).toEqual([elsewhere.id]);
    expect((await joins.receivedEvents(2)).map(({ event }) => event)).toEqual([
      "session.started",
      "participant.joined",
    ]);
    expect([await strange.events(), await off.deliveries()]).toEqual([[], []]);
  });
});

describe("a change of a room over REST", () => {
  const events = ["room.created", "room.updated", "room.closed", "room.deleted"] as const;

  it("emits room.created, room.updated, room.closed and room.deleted with the room right after it", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { events });
    const created = await owner.api.createRoom({ name: "Planning", customId: "plan" });
    const path = `/rooms/${created.id}`;
    await owner.api.patch(path, { name: "Retrospective" });
    await owner.api.patch(path, { state: "closed", customId: null });
    await owner.api.patch(path, { state: "active" });
    await owner.api.delete(path);
    const { custom_id: _, ...last } = { ...created, name: "Retrospective" };
    const closed = { ...last, state: "closed" };
    const shown = [
      ["room.created", created],
      ["room.updated", { ...created, name: "Retrospective" }],
      ["room.updated", closed],
      ["room.closed", closed],
      ["room.updated", last],
      ["room.deleted", last],
    ];
    expect(await subscriber.receivedEvents(shown.length)).toEqual(
      shown.map(([event, room]) => ({
        id: expect.any(String),
        timestamp: expect.any(String),
        ...{ event, room, data: { roomId: created.id } },
      })),
    );
    await untilRelayed(owner.id);
  });

  it("emits nothing when it changes nothing, fails, or concerns a room of another organization", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { events });
    const stranger = await account();
    const path = `/rooms/${room.id}`;
    await owner.api.patch(path, { name: room.name, state: "active", customId: null });
    await stranger.api.patch(path, { name: "Hijacked" });
    await stranger.api.delete(path);
    await owner.api.patch(path, { state: "closed" });
    await owner.api.patch(path, { state: "closed" });
    const taken = await owner.api.createRoom({ customId: "taken" });
    expect(await owner.api.post("/rooms", { name: "Late", customId: "taken" })).toMatchObject({
      status: 409,
    });
    const received = await subscriber.receivedEvents(2);
    expect(received.map(({ event, data }) => [event, data.roomId])).toEqual([
      ["room.closed", room.id],
      ["room.created", taken.id],
    ]);
  });
});

describe("the content of a room", () => {
  /** Moves the room's clock forward, and runs due work. */
  const advance = async (ms: number) => {
    const stub = env.ROOMS.getByName(room.id);
    await runInDurableObject(stub, (object: RoomObjectBase) => {
      const before = object.clock;
      object.clock = () => before() + ms;
    });
    await runDurableObjectAlarm(stub);
  };
  const write = (store: string, value: number) =>
    owner.api.json("PUT", `/rooms/${room.id}/stores/${store}/key`, { value });

  it("emits one store.changed for all changes of five seconds, also before the first join", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { events: ["store.changed"] });
    for (const value of [1, 2, 3]) await write("tasks", value);
    await advance(5_000);
    await owner.api.patch(`/rooms/${room.id}`, { name: "Renamed" });
    await write("notes", 1);
    await advance(5_000);
    expect(await subscriber.receivedEvents(2)).toMatchObject([
      { event: "store.changed", data: { store: "tasks", fromSeq: 1, toSeq: 3 }, room: { name: room.name } },
      { event: "store.changed", data: { store: "notes", fromSeq: 4, toSeq: 4 }, room: { name: "Renamed" } },
    ]);
  });

  it("emits nothing while no subscriber of the room listens", async () => {
    await RecordingSubscriber.create(owner.api, {
      events: ["store.changed"],
      roomId: (await owner.api.createRoom()).id,
    });
    await write("tasks", 1);
    await advance(5_000);
    const stub = env.ROOMS.getByName(room.id);
    const waiting = await runInDurableObject(stub, (_, { storage }) => [
      ...storage.sql.exec("SELECT store FROM changed_stores"),
      ...storage.sql.exec("SELECT id FROM events"),
    ]);
    expect(waiting).toEqual([]);
  });

  it("emits what happens to documents and their versions, also before the first join (D24)", async () => {
    const names = ["document.created", "document.updated", "document.deleted", "version.created"] as const;
    const subscriber = await RecordingSubscriber.create(owner.api, { events: names });
    const path = `/rooms/${room.id}/documents/notes`;
    for (const update of ["AQEBAAQBAXQBYQA=", "AQECAAQBAXQBYgA="]) await owner.api.put(path, { update });
    await owner.api.post(`${path}/versions`, { name: "Draft" });
    await advance(10_000);
    await owner.api.delete(path);
    await advance(10_000);
    const document = "notes";
    expect(await subscriber.receivedEvents(4)).toMatchObject([
      { event: "document.created", data: { document }, room: { name: room.name } },
      { event: "document.updated", data: { document, fromSeq: 2, toSeq: 2 } },
      { event: "version.created", data: { document, version: 2, name: "Draft" } },
      { event: "document.deleted", data: { document } },
    ]);
  });
});

describe("a file", () => {
  const events = ["file.uploaded", "file.deleted"] as const;

  it("emits file.uploaded and file.deleted, with the user who did it", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { events });
    const user = await owner.api.createUser(room.id);
    const { key } = await upload(user.id);
    const { data } = await owner.api.get<{ files: StorageFile[] }>(`/files?roomId=${room.id}`);
    expect((await owner.api.as(user.token).deleteFile(key)).status).toBe(200);
    expect((await owner.api.as(user.token).deleteFile(key)).status).toBe(404);
    const second = await upload(user.id);
    await owner.api.deleteFile(second.key);
    const received = await subscriber.receivedEvents(4);
    const [file] = data.files;
    const byUser = { roomId: room.id, key, userId: user.id };
    expect(received).toMatchObject([
      { event: "file.uploaded", data: byUser, room: { id: room.id }, file },
      { event: "file.deleted", data: byUser, file },
      { event: "file.uploaded", data: { key: second.key, userId: user.id } },
      { event: "file.deleted", data: { key: second.key } },
    ]);
    expect(received[3]?.data).not.toHaveProperty("userId");
  });

  it("that a workflow writes or deletes starts no workflow, so that none can go on for ever", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { events });
    const code = "export default async () => ({})";
    await owner.api.post("/workflows", { name: "Loop", code, events });
    const tenant = openTenant(env, owner.id);
    const user = await owner.api.createUser(room.id);
    const { key } = await upload(user.id);
    const run = { workflowId: crypto.randomUUID(), depth: 1 };
    const listeners = async (cause: typeof run | null) => {
      const entry = newEvent(
        { newId: () => crypto.randomUUID(), now: Date.now, trace: null },
        "file.deleted",
        room.id,
      );
      const change = { key, userId: null, origin: ORIGIN, uploadedBy: null, cause };
      const [[row]] = await tenant.db.run([insertFileEvent(tenant, entry, change)]);
      return (JSON.parse(row?.pendingSubscriptions ?? "[]") as { kind: string }[]).map(({ kind }) => kind);
    };
    expect(await listeners(null)).toEqual(["webhook", "workflow", "log"]);
    expect(await listeners(run)).toEqual(["webhook", "log"]);
    await runScheduledTasks(env, Date.now() + MINUTE_MS);
    await subscriber.receivedEvents(3);
    await untilRelayed(owner.id);
  });
});

it("a request that dies after its commit leaves its event to the cron trigger, which delivers it unchanged", async () => {
  const subscriber = await RecordingSubscriber.create(owner.api);
  const user = await owner.api.createUser(room.id, { name: "Ada" });
  await subscriber.receivedEvents(1);
  await untilRelayed(owner.id);
  const tenant = openTenant(env, owner.id);
  const entry = {
    id: crypto.randomUUID(),
    event: "user.updated",
    roomId: room.id,
    occurredAt: Date.now(),
    trace: null,
  } as const;
  await tenant.db.run([insertUserEvent(tenant, entry, user.id, { name: "Bo" })]);
  await owner.api.delete(`/users/${user.id}?roomId=${room.id}`);
  await subscriber.receivedEvents(2);
  await expect.poll(rowsLeft).toBe(1);
  await runScheduledTasks(env, Date.now());
  expect(await rowsLeft()).toBe(1);
  await runScheduledTasks(env, Date.now() + MINUTE_MS);
  expect(await rowsLeft()).toBe(0);
  expect(await subscriber.receivedEvents(3)).toMatchObject([
    { event: "user.created" },
    { event: "user.deleted" },
    { id: entry.id, event: "user.updated", user: { ...shown(user), name: "Bo" } },
  ]);
});
