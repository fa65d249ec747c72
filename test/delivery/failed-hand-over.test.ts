/** Commands and events of a request that committed, while a room, a subscriber or the service itself failed. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Env } from "../../src/env.ts";
import worker from "../../src/index.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { failStorage } from "../room/support/faults.ts";
import { TestRoom } from "../room/support/rooms.ts";
import { type Account, account } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { untilRelayed } from "../support/relayed.ts";
import { unreachable } from "../support/unreachable.ts";
import { RecordingSubscriber } from "./recording-subscriber.ts";

const MINUTE_MS = 60_000;
const NOT_RELAYED = "A command could not be relayed to its room yet: room.deleted";
const STILL_NOT_RELAYED = "A pending command could not be relayed to its room yet";

let owner: Account;
let room: TestRoom;

beforeEach(async () => {
  owner = await account();
  room = new TestRoom(owner.id, (await owner.api.createRoom()).id);
  await untilRelayed(owner.id);
});

/** Sends a request to the service while some bindings fail. */
async function sendDuring(faults: Partial<Env>, method: string, path: string, body?: object) {
  const execution = createExecutionContext();
  const headers = { "Content-Type": "application/json" };
  const init = body === undefined ? {} : { headers, body: JSON.stringify(body) };
  const response = await worker.fetch(
    owner.api.request(method, path, init),
    { ...env, ...faults },
    execution,
  );
  await waitOnExecutionContext(execution);
  return response;
}

const sweep = (faults: Partial<Env> = {}) => runScheduledTasks({ ...env, ...faults }, Date.now() + MINUTE_MS);

/** How many rows of the owner wait: other tests leave theirs. */
const countRows = (table: "outbox" | "outbox_events"): Promise<number | null> =>
  env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE account_id = ?`).bind(owner.id).first<number>("n");

describe("the deletion of a room", () => {
  async function joined() {
    const socket = await room.join(await room.user());
    expect((await socket.call("STORE_SET", { store: "s", key: "k", value: 1 })).success).toBe(true);
    // The fault must not also hold up the event of joining, which is on its way to the log.
    const waiting = () =>
      room.inside((_, { storage }) => storage.sql.exec("SELECT 1 FROM events").toArray().length);
    await expect.poll(waiting).toBe(0);
    return socket;
  }

  /** The sweep has closed the sockets, erased the object and forgotten the entry. */
  async function expectErased(socket: Awaited<ReturnType<typeof joined>>): Promise<void> {
    expect((await socket.closed).code).toBe(4404);
    expect(await room.tables()).toEqual([]);
    expect(await countRows("outbox")).toBe(0);
  }

  it("is carried out by the sweep when the room's object cannot be reached, as often as that takes", async () => {
    const socket = await joined();
    const faults = { ROOMS: unreachable(env.ROOMS) };
    expect((await sendDuring(faults, "DELETE", `/rooms/${room.id}`)).status).toBe(200);
    expectLogged(NOT_RELAYED);
    await sweep(faults);
    expectLogged(STILL_NOT_RELAYED);
    expect(await countRows("outbox")).toBe(1);
    await socket.drain(); // the socket is still open
    await sweep();
    await expectErased(socket);
  });

  // The room forgot the sockets before it failed to end their sessions: no one ever closed them.
  it("closes the sockets and is finished by the sweep when the room's storage fails", async () => {
    const socket = await joined();
    const fault = await failStorage(room, /./);
    expect((await sendDuring({}, "DELETE", `/rooms/${room.id}`)).status).toBe(200);
    expect((await socket.closed).code).toBe(4404);
    expectLogged(
      NOT_RELAYED,
      "The sessions of closed sockets could not be ended yet: fault: storage",
      "The alarm of a room could not be planned: fault: storage",
    );
    expect(await countRows("outbox")).toBe(1);
    fault.heal();
    await sweep();
    expect(await room.tables()).toEqual([]);
    expect(await countRows("outbox")).toBe(0);
  });

  it("is carried out again, and harms nothing, when the service dies before it forgets the entry", async () => {
    const socket = await joined();
    await env.DB.exec(
      "CREATE TRIGGER fault BEFORE DELETE ON outbox BEGIN SELECT RAISE(ABORT, 'fault: the service died'); END",
    );
    const heal = () => env.DB.exec("DROP TRIGGER IF EXISTS fault");
    onTestFinished(async () => {
      await heal();
    });
    expect((await sendDuring({}, "DELETE", `/rooms/${room.id}`)).status).toBe(200);
    expect((await socket.closed).code).toBe(4404);
    expect(await countRows("outbox")).toBe(1);
    await heal();
    await sweep();
    await expectErased(socket);
    expectLogged("fault: the service died");
  });
});

describe("a change of access", () => {
  it("says that the live room is yet to follow, and the sweep has it follow", async () => {
    await room.join(await room.user());
    const path = `/rooms/${room.id}/access`;
    const pending = async (access: string, faults: Partial<Env> = {}) => {
      const response = await sendDuring(faults, "PUT", path, { defaultAccesses: access });
      return (await response.json<{ data: { pending_rooms: number } }>()).data.pending_rooms;
    };
    expect(await pending("viewer")).toBe(0);
    expect(await pending("editor", { ROOMS: unreachable(env.ROOMS) })).toBe(1);
    expectLogged("A command could not be relayed to its room yet: access.changed");
    expect(await countRows("outbox")).toBe(1);
    await sweep();
    expect(await countRows("outbox")).toBe(0);
  });
});

describe("an event of a user", () => {
  const events = ["user.created", "user.updated"] as const;

  // One failing subscriber replaced the other in the list of those that had yet to get the event.
  it("reaches two subscribers later that fail at once, and the one that does not fail only once", async () => {
    const failing = [
      await RecordingSubscriber.create(owner.api, { events }),
      await RecordingSubscriber.create(owner.api, { events }),
    ];
    const well = await RecordingSubscriber.create(owner.api, { events });
    const names = failing.map(({ webhook }) => `webhook:${webhook.id}`);
    const faults = { SUBSCRIBERS: unreachable(env.SUBSCRIBERS, names) };
    const user = { name: "Ada", roomId: room.id };
    expect((await sendDuring(faults, "POST", "/users", user)).status).toBe(201);
    expectLogged("An event could not reach all of its subscribers yet: user.created");
    await sweep(faults);
    expectLogged("An event could not reach all of its subscribers yet: user.created");
    expect(await countRows("outbox_events")).toBe(1);
    await sweep();
    expect(await countRows("outbox_events")).toBe(0);
    const [first, second] = [await failing[0]?.receivedEvents(1), await failing[1]?.receivedEvents(1)];
    expect(first).toMatchObject([{ event: "user.created", user: { name: "Ada" } }]);
    expect(second).toEqual(first);
    expect(await well.receivedEvents(1)).toEqual(first);
  });

  // The late event came from the cron trigger, after all that had happened in its room meanwhile.
  it("goes ahead of the next one when the request died that was to pass it on", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { events });
    const user = await owner.api.createUser(room.id);
    await subscriber.receivedEvents(1);
    await expect.poll(() => countRows("outbox_events")).toBe(0);
    const path = `/users/${user.id}?roomId=${room.id}`;
    const faults = { SUBSCRIBERS: unreachable(env.SUBSCRIBERS) };
    for (const name of ["Bo", "Cleo"]) {
      expect((await sendDuring(faults, "PATCH", path, { name })).status).toBe(200);
      expectLogged("An event could not reach all of its subscribers yet: user.updated");
    }
    expect(await countRows("outbox_events")).toBe(2);
    await env.DB.prepare("UPDATE outbox_events SET occurred_at = occurred_at - 1000 WHERE account_id = ?")
      .bind(owner.id)
      .run();
    expect((await sendDuring({}, "PATCH", path, { name: "Dan" })).status).toBe(200);
    const received = await subscriber.receivedEvents(4);
    expect(received.slice(1).map((event) => "user" in event && event.user.name)).toEqual([
      "Bo",
      "Cleo",
      "Dan",
    ]);
    expect(await countRows("outbox_events")).toBe(0);
  });

  it("is delivered and logged once when the service dies before it forgets the row", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { events });
    await env.DB.exec(
      "CREATE TRIGGER fault BEFORE DELETE ON outbox_events BEGIN SELECT RAISE(ABORT, 'fault: the service died'); END",
    );
    const heal = () => env.DB.exec("DROP TRIGGER IF EXISTS fault");
    onTestFinished(async () => {
      await heal();
    });
    const user = { name: "Ada", roomId: room.id };
    expect((await sendDuring({}, "POST", "/users", user)).status).toBe(201);
    expectLogged("fault: the service died");
    expect(await countRows("outbox_events")).toBe(1);
    await heal();
    await sweep();
    expect(await countRows("outbox_events")).toBe(0);
    await owner.api.createUser(room.id, { name: "Bo" });
    const received = await subscriber.receivedEvents(2);
    expect(received.map((event) => "user" in event && event.user.name)).toEqual(["Ada", "Bo"]);
    const logged = await owner.api.get<{ events: { event: string }[] }>(`/rooms/${room.id}/events`);
    expect(logged.data.events.map(({ event }) => event)).toEqual([
      "room.created",
      "user.created",
      "user.created",
    ]);
  });

  it("is delivered by the sweep when the room that knows whether the user is online cannot be reached", async () => {
    const subscriber = await RecordingSubscriber.create(owner.api, { events });
    const user = await room.user();
    const socket = await room.join(user);
    await room.alarm(); // the database knows that the room was joined
    const path = `/users/${user.user.id}?roomId=${room.id}`;
    const faults = { ROOMS: unreachable(env.ROOMS) };
    // Only the room knows that the user is online, but the change is committed.
    const changed = await sendDuring(faults, "PATCH", path, { name: "Bo" });
    expect(changed.status).toBe(200);
    expect(await changed.json()).toMatchObject({ data: { user: { name: "Bo", status: "offline" } } });
    expectLogged(
      "A command could not be relayed to its room yet: user.updated",
      "A room could not say whether a changed user is online: fault: the object cannot be reached",
    );
    expect([await countRows("outbox"), await countRows("outbox_events")]).toEqual([1, 1]);
    await sweep();
    expect([await countRows("outbox"), await countRows("outbox_events")]).toEqual([0, 0]);
    expect(await subscriber.receivedEvents(1)).toMatchObject([
      { event: "user.updated", user: { name: "Bo", status: "online" } },
    ]);
    expect(await socket.nextEvent()).toMatchObject({ event: "userUpdated", data: { user: { name: "Bo" } } });
  });
});

// A sweep that took the next page from behind the rows that it had just deleted left every other page for later.
it("a sweep of more than two pages of good entries gets through all of them", async () => {
  const subscriber = await RecordingSubscriber.create(owner.api, { events: ["user.created"] });
  const faults = { SUBSCRIBERS: unreachable(env.SUBSCRIBERS) };
  await sendDuring(faults, "POST", "/users", { name: "Ada", roomId: room.id });
  expectLogged("An event could not reach all of its subscribers yet: user.created");
  const numbers =
    "WITH RECURSIVE others (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM others LIMIT 250)";
  await env.DB.prepare(
    `${numbers} INSERT INTO outbox SELECT 'entry ' || number, ?, ?, '{"type":"room.updated"}', ? FROM others`,
  )
    .bind(owner.id, room.id, Date.now())
    .run();
  await env.DB.prepare(
    `${numbers} INSERT INTO outbox_events (id, account_id, event, room_id, occurred_at, room, subject, owed)
     SELECT 'event ' || number, account_id, event, room_id, occurred_at, room, subject, '[]' FROM others, outbox_events
       WHERE account_id = ?`,
  )
    .bind(owner.id)
    .run();
  await sweep();
  expect([await countRows("outbox"), await countRows("outbox_events")]).toEqual([0, 0]);
  expect(await subscriber.receivedEvents(1)).toMatchObject([{ event: "user.created" }]);
});
