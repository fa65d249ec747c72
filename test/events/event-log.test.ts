/** The event log over REST: its content, its order, and the answers to cursors. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { EventPage } from "@atrium/contract/rest/event-log.ts";
import { beforeAll, describe, expect, it } from "vitest";
import type { EventLogObject } from "../../src/delivery/event-log/event-log-object.ts";
import {
  decodeCursor,
  encodeCursor,
  type LoggedEvent,
  type LogQuery,
  type LogSlice,
  readPage,
} from "../../src/delivery/event-log/log-page.ts";
import {
  type EventLogs,
  openEventLogs,
  removeLog,
  SHARDS,
  shardOf,
} from "../../src/delivery/event-log/shards.ts";
import { fanOut, openDelivery } from "../../src/delivery/subscribers.ts";
import { type Account, type Answer, type Api, account } from "../support/api.ts";
import { randomOf } from "../support/random.ts";

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
      // The room and the first of the two were logged a month before.
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
    pendingSubscriptions: JSON.stringify([{ kind: "log", id: "", version: 0 }]),
  } as const;
  const all = { after: null, from: null, until: null, roomId: null, names: null, limit: 10 };

  it("owes an event to a log that cannot be reached, and logs it once when it is handed over again", async () => {
    const [accountId, roomId] = [crypto.randomUUID(), crypto.randomUUID()];
    const objects = openDelivery(env);
    const fail = () => Promise.reject(new Error("It cannot be reached"));
    const eventLogs: EventLogs = (...shard) => ({ ...objects.eventLogs(...shard), append: fail });
    const cutOff = { ...objects, eventLogs };
    const owed = new Map([[event.id, event.pendingSubscriptions]]);
    expect(await fanOut(accountId, cutOff, roomId, [event])).toMatchObject({ left: owed });
    for (let time = 0; time < 2; time += 1)
      expect((await fanOut(accountId, objects, roomId, [event])).left.size).toBe(0);
    const slice = await openEventLogs(env)(accountId, shardOf(roomId)).read(all);
    expect(slice).toMatchObject({ events: [{ eventId: event.id, seq: 1 }], isAtEnd: true });
  });
});

// How pages of the log are read from its shards, and which cursors are accepted.

/** Shards in memory, of which each read returns at most `sliceSize` events. */
class Shards {
  readonly shards: LoggedEvent[][];
  readonly #sliceSize: number;
  #clock = 0;
  reads = 0;

  constructor(count: number, sliceSize = 3) {
    this.shards = Array.from({ length: count }, () => []);
    this.#sliceSize = sliceSize;
  }

  append(roomId: string, shard: number, body = "{}"): LoggedEvent {
    const events = this.shards[shard] ?? [];
    this.#clock += 1;
    const at = this.#clock;
    const event: LoggedEvent = {
      seq: events.length + 1,
      eventId: `${shard}-${events.length + 1}`,
      event: "user.created",
      roomId,
      body,
      occurredAt: at,
      loggedAt: at,
    };
    events.push(event);
    return event;
  }

  read = async (index: number, { after, limit }: LogQuery): Promise<LogSlice> => {
    this.reads += 1;
    const events = this.shards[index] ?? [];
    const start = after ?? 0;
    const slice = events.slice(start, start + Math.min(limit, this.#sliceSize));
    const position = start + slice.length;
    return { type: "slice", events: slice, position, isAtEnd: position === events.length };
  };

  page(after: readonly (number | null)[], limit: number) {
    return readPage({ after, limit, from: null, until: null, roomId: null, names: null }, this.read);
  }
}

const idsOf = (events: readonly LoggedEvent[]) => events.map(({ eventId }) => eventId);

describe("a page of the log", () => {
  it("has the events of all shards in the order in which they were logged", async () => {
    const shards = new Shards(3);
    const logged = [0, 1, 1, 2, 0, 1, 2, 2].map((shard) => shards.append(`room ${shard}`, shard));
    const { events, hasMore, positions } = await shards.page([null, null, null], 50);
    expect(idsOf(events)).toEqual(idsOf(logged));
    expect({ hasMore, positions }).toEqual({ hasMore: false, positions: [2, 3, 3] });
  });

  it("is as full as its limit when one shard has everything", async () => {
    const shards = new Shards(SHARDS, 100);
    for (let i = 0; i < 60; i += 1) shards.append("room", 5);
    const { events, hasMore } = await shards.page(new Array(SHARDS).fill(null), 50);
    expect(events).toHaveLength(50);
    expect(hasMore).toBe(true);
    expect(shards.reads).toBe(SHARDS);
  });

  it("ends before it exceeds 4 MiB, and has at least one event", async () => {
    const shards = new Shards(2);
    const large = "x".repeat(3 * 1024 * 1024);
    for (const shard of [0, 1, 0]) shards.append("room", shard, large);
    const first = await shards.page([null, null], 50);
    expect([first.events.length, first.hasMore]).toEqual([1, true]);
    const second = await shards.page(first.positions, 50);
    expect(idsOf(second.events)).toEqual(["1-1"]);
  });

  it("misses nothing and repeats nothing while rooms write between and during its reads", async () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const random = randomOf(seed);
      const shards = new Shards(4, 1 + random(5));
      const write = () => {
        for (let i = random(6); i > 0; i -= 1) {
          const shard = random(4);
          shards.append(`${shard}`, shard);
        }
      };
      const busy = { ...shards, read: shards.read };
      busy.read = async (index, query) => {
        write();
        return shards.read(index, query);
      };
      const seen: LoggedEvent[] = [];
      let positions: readonly (number | null)[] = [null, null, null, null];
      for (let round = 0; round < 12; round += 1) {
        const limit = 1 + random(9);
        const reader = round < 8 ? busy.read : shards.read;
        const query = { after: positions, limit, from: null, until: null, roomId: null, names: null };
        const page = await readPage(query, reader);
        expect(page.events.length, `seed ${seed}`).toBeLessThanOrEqual(limit);
        seen.push(...page.events);
        positions = page.positions;
      }
      for (let more = true; more; ) {
        const page = await shards.page(positions, 100);
        seen.push(...page.events);
        positions = page.positions;
        more = page.hasMore;
      }
      for (const [shard, events] of shards.shards.entries()) {
        const ofShard = seen.filter(({ roomId }) => roomId === `${shard}`);
        expect(idsOf(ofShard), `seed ${seed}`).toEqual(idsOf(events));
      }
    }
  });

  it("ends early, and continues, where a filter matches little", async () => {
    const read = async (): Promise<LogSlice> => ({
      type: "slice",
      events: [],
      position: 5_000,
      isAtEnd: false,
    });
    const page = await readPage(
      { after: [null], limit: 10, from: null, until: null, roomId: null, names: [] },
      read,
    );
    expect(page).toEqual({ events: [], positions: [5_000], hasMore: true });
  });
});

describe("a cursor", () => {
  it("gives back its positions", () => {
    const positions = [0, 1, 35, 36, 1_234_567_890, Number.MAX_SAFE_INTEGER - 1, 7, 8];
    const cursor = encodeCursor("account", positions.slice(0, 5));
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(decodeCursor("account", cursor, 5)).toEqual(positions.slice(0, 5));
  });

  it("is of one log, with its number of shards", () => {
    const cursor = encodeCursor("account", [1, 2]);
    expect(decodeCursor("another", cursor, 2)).toBeNull();
    expect(decodeCursor("account", cursor, 8)).toBeNull();
  });

  it.each(["", "!", "MQ", "a".repeat(256), btoa("1.x"), btoa("2.1ks.1.2"), btoa("1..1"), "é"])(
    "is refused when it is none: %s",
    (text) => {
      expect(decodeCursor("account", text, 1)).toBeNull();
    },
  );
});

it("the rooms of an organization are spread over its shards", () => {
  const rooms = Array.from({ length: 800 }, () => shardOf(crypto.randomUUID()));
  const counts = Array.from({ length: SHARDS }, (_, shard) => rooms.filter((of) => of === shard).length);
  expect(Math.min(...counts)).toBeGreaterThan(40);
});
