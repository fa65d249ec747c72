/** Reading the event log over REST: what is in it, in which order, and what cursors answer. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { EventLogObject } from "../../src/delivery/event-log/event-log-object.ts";
import { type EventLogs, openEventLogs, removeLog, shardOf } from "../../src/delivery/event-log/shards.ts";
import { fanOut } from "../../src/delivery/fan-out.ts";
import { openDelivery } from "../../src/delivery/subscribers.ts";
import type { EventPage } from "../../src/features/events/schema.ts";
import { openTenant } from "../../src/platform/d1/databases.ts";
import type { Room } from "../../src/wire/room.ts";
import { type Account, type Answer, type Api, account } from "../support/api.ts";

const read = (api: Api, query = "", path = "/events"): Promise<Answer<EventPage>> =>
  api.get<EventPage>(`${path}${query}`);

/** All events from a cursor on, page by page. */
async function readAll(api: Api, query: string, path = "/events"): Promise<EventPage["events"]> {
  const events: EventPage["events"] = [];
  for (let page = await read(api, `?${query}`, path); ; ) {
    events.push(...page.data.events);
    if (!page.data.has_more) return events;
    page = await read(api, `?${query}&after=${page.data.cursor}`, path);
  }
}

const namesOf = (events: EventPage["events"]) => events.map(({ event }) => event);

describe("the event log", () => {
  let owner: Account;
  let rooms: Room[];
  /** The names of each room's events. */
  const happened = ["room.created", "user.created", "user.created", "user.updated", "user.deleted"];

  beforeAll(async () => {
    owner = await account();
    rooms = [await owner.api.createRoom(), await owner.api.createRoom()];
    for (const { id } of rooms) {
      const [ada] = [await owner.api.createUser(id), await owner.api.createUser(id)];
      await owner.api.patch(`/users/${ada.id}?roomId=${id}`, { name: "Ada" });
      await owner.api.delete(`/users/${ada.id}?roomId=${id}`);
    }
  });

  it("has every event, without any subscriber, each as a webhook would receive it", async () => {
    const { data, status } = await read(owner.api);
    expect(status).toBe(200);
    expect(data.has_more).toBe(false);
    // The order of events of different rooms is that of their times.
    expect(namesOf(data.events).sort()).toEqual([...happened, ...happened].sort());
    expect(new Set(data.events.map(({ id }) => id)).size).toBe(10);
  });

  it("has the events of one room, in order", async () => {
    for (const { id } of rooms) {
      const { data } = await read(owner.api, "", `/rooms/${id}/events`);
      expect(namesOf(data.events)).toEqual(happened);
      expect(new Set(data.events.map((event) => "roomId" in event.data && event.data.roomId))).toEqual(
        new Set([id]),
      );
    }
  });

  it("is read page by page, with any limit and filter, and goes on with what happens later", async () => {
    const [room] = rooms;
    for (const path of ["/events", `/rooms/${room?.id}/events`]) {
      const whole = (await read(owner.api, "", path)).data;
      expect(await readAll(owner.api, "limit=1", path)).toEqual(whole.events);
      expect(await readAll(owner.api, "limit=3", path)).toEqual(whole.events);
      const some = await readAll(owner.api, "limit=1&events=user.updated&events=user.deleted", path);
      expect(some).toEqual(whole.events.filter(({ event }) => /updated|deleted/.test(event)));
      expect((await read(owner.api, `?after=${whole.cursor}`, path)).data.events).toEqual([]);
    }
    const { cursor } = (await read(owner.api)).data;
    const user = await owner.api.createUser(room?.id ?? "");
    const later = (await read(owner.api, `?after=${cursor}`)).data.events;
    expect(later).toMatchObject([{ event: "user.created", data: { userId: user.id } }]);
  });

  it("is read from a time on", async () => {
    expect(await readAll(owner.api, "from=2026-01-01")).not.toEqual([]);
    expect(await readAll(owner.api, "from=2999-01-01")).toEqual([]);
  });

  it("keeps the events of a room that was deleted", async () => {
    const { api } = await account();
    const room = await api.createRoom();
    await api.createUser(room.id);
    await api.delete(`/rooms/${room.id}`);
    expect(namesOf((await read(api)).data.events)).toEqual(["room.created", "user.created", "room.deleted"]);
    expect((await read(api, "", `/rooms/${room.id}/events`)).error).toMatchObject({ code: "NOT_FOUND" });
  });

  it("refuses cursors of other logs and of none, and a cursor with a time", async () => {
    const [room] = rooms;
    const stranger = await account();
    const own = (await read(owner.api)).data.cursor;
    const ofRoom = (await read(owner.api, "", `/rooms/${room?.id}/events`)).data.cursor;
    const refused = [
      await read(owner.api, `?after=${ofRoom}`),
      await read(stranger.api, `?after=${own}`),
      await read(owner.api, "?after=nonsense"),
      await read(owner.api, "?after="),
      await read(owner.api, `?after=${own}&from=2026-01-01`),
      await read(owner.api, "?events=user.renamed"),
    ];
    expect(refused.map(({ error }) => error?.code)).toEqual(refused.map(() => "BAD_REQUEST"));
    expect(refused.map(({ error }) => error?.message)).toMatchObject([
      expect.stringContaining("after must be the cursor"),
      expect.stringContaining("after must be the cursor"),
      expect.stringContaining("after must be the cursor"),
      expect.stringContaining("after must be the cursor"),
      expect.stringContaining("from cannot be combined with after"),
      expect.stringContaining("events"),
    ]);
  });

  it("says from when on events are kept when those behind a cursor are not", async () => {
    const { api, id } = await account();
    const room = await api.createRoom();
    const { cursor } = (await read(api)).data;
    await api.createUser(room.id);
    await api.createUser(room.id);
    const stub = env.EVENT_LOGS.getByName(`${id}:${shardOf(room.id)}`);
    const oldest = await runInDurableObject(stub, async (object: EventLogObject, { storage }) => {
      // As if the room and the first of the two had been logged a month before.
      storage.sql.exec("UPDATE events SET logged_at = 0 WHERE seq <= 2");
      await object.alarm();
      return storage.sql.exec<{ at: number }>("SELECT logged_at AS at FROM events").one().at;
    });
    const answer = await read(api, `?after=${cursor}`);
    expect([answer.status, answer.error?.code]).toEqual([410, "GONE"]);
    expect(answer.error?.message).toContain(`the oldest are from ${new Date(oldest).toISOString()}`);
    const { events, cursor: next } = (await read(api)).data;
    expect(events).toHaveLength(1);
    expect((await read(api, `?after=${next}`)).data.events).toEqual([]);
    await removeLog(openEventLogs(env), id);
    expect((await read(api)).data).toMatchObject({ events: [], has_more: false });
    await api.createUser(room.id);
    expect((await read(api)).data.events).toHaveLength(1);
  });
});

describe("fan-out", () => {
  const event = {
    id: crypto.randomUUID(),
    event: "user.created",
    occurredAt: Date.now(),
    body: "{}",
    pendingSubscriptions: null,
  } as const;
  const all = { after: null, from: null, until: null, roomId: null, names: null, limit: 10 };

  it("owes an event to a log that cannot be reached, and logs it once when it is handed over again", async () => {
    const [tenant, roomId] = [openTenant(env, crypto.randomUUID()), crypto.randomUUID()];
    const objects = openDelivery(env);
    const fail = () => Promise.reject(new Error("It cannot be reached"));
    const eventLogs: EventLogs = (...shard) => ({
      ...objects.eventLogs(...shard),
      append: fail,
      publish: fail,
    });
    const cutOff = { ...objects, eventLogs };
    const unreached = await fanOut(tenant, cutOff, roomId, [event]);
    const pendingSubscriptions = unreached.get(event.id) ?? "";
    expect(JSON.parse(pendingSubscriptions)).toEqual([{ kind: "log", id: "", version: 0 }]);
    for (let time = 0; time < 2; time += 1)
      expect(await fanOut(tenant, objects, roomId, [{ ...event, pendingSubscriptions }])).toEqual(new Map());
    const slice = await openEventLogs(env)(tenant.accountId, shardOf(roomId)).read(all);
    expect(slice).toMatchObject({ events: [{ eventId: event.id, seq: 1 }], isAtEnd: true });
  });
});
