/** The databases of objects: what each earlier version wrote is opened, migrated to the present tables, and gone on with. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { EventLogStore } from "../../src/delivery/event-log/object/event-log-store.ts";
import { EVENT_LOG_SCHEMA } from "../../src/delivery/event-log/object/event-log-table.ts";
import { DeliveryHistory } from "../../src/delivery/subscriber/delivery-history.ts";
import { DeliveryStore } from "../../src/delivery/subscriber/delivery-store.ts";
import { SUBSCRIBER_SCHEMA } from "../../src/delivery/subscriber/delivery-table.ts";
import { StatsStore } from "../../src/delivery/subscriber/stats-store.ts";
import { GuessStore } from "../../src/features/people/limits/guess-store.ts";
import { RequestLogStore } from "../../src/features/request-log/object/request-log-store.ts";
import { ArchiveReader } from "../../src/platform/archive/archive-reader.ts";
import type { ArchiveSlice } from "../../src/platform/archive/object-archive.ts";
import { StorageArchive } from "../../src/platform/archive/storage-archive.ts";
import type { Schema } from "../../src/platform/objects/object-tables.ts";
import { ROOM_SCHEMA } from "../../src/room/storage/sqlite-tables.ts";
import { SqliteStorage } from "../../src/room/storage/storage-sqlite.ts";
import { ROOM } from "../room/support/rows.ts";
import { dropTables } from "../support/archive.ts";
import eventLog1 from "./storage/event-log-1.sql?raw";
import eventLog2 from "./storage/event-log-2.sql?raw";
import guessLimit1 from "./storage/guess-limit-1.sql?raw";
import guessLimit2 from "./storage/guess-limit-2.sql?raw";
import requestLog1 from "./storage/request-log-1.sql?raw";
import requestLog2 from "./storage/request-log-2.sql?raw";
import room5 from "./storage/room-5.sql?raw";
import room6 from "./storage/room-6.sql?raw";
import room7 from "./storage/room-7.sql?raw";
import room8 from "./storage/room-8.sql?raw";
import room9 from "./storage/room-9.sql?raw";
import subscriber2 from "./storage/subscriber-2.sql?raw";
import subscriber3 from "./storage/subscriber-3.sql?raw";

/** When the fixtures were written (epoch ms). */
const AT = Date.UTC(2026, 10, 22);

interface Stored {
  /** Opens the database, or makes one. */
  open(storage: DurableObjectStorage): void;
  /** Checks what all versions wrote, and goes on with it. */
  goOn(storage: DurableObjectStorage): void;
}

const SUBSCRIBER: Stored = {
  open: (storage) =>
    new DeliveryStore(storage).open({ kind: "webhook", accountId: "account", id: "webhook" }),
  goOn: (storage) => {
    const store = new DeliveryStore(storage);
    const { deliveries, total } = new DeliveryHistory(store).list("any", { limit: 10, offset: 0 });
    expect(total).toBe(4);
    expect(deliveries.map(({ seq, status, attempts }) => [seq, status, attempts])).toEqual([
      [4, "pending", 0],
      [3, "failed", 1],
      [2, "pending", 1],
      [1, "success", 1],
    ]);
    expect(deliveries.map(({ body }) => JSON.parse(body).name)).toEqual(["Zoë", "Zoë", "Zoë", "Zoë"]);
    expect(store.readKey()).toEqual({ kind: "webhook", accountId: "account", id: "webhook" });
    expect(store.handlerState.read()).toBe('{"version":3}');
    expect([store.firstOf("room", 0)?.seq, store.retries(9)[0]?.dueAt]).toEqual([4, AT + 5_000]);
    expect(store.recordEventId("event 4", AT)).toBe(false);
    expect(store.findByEvent("event 4")?.seq).toBe(4);
    expect(new StatsStore(store).read("1h", AT).total).toMatchObject({ succeeded: 1, failed: 0 });
    const pending = store.total("pending");
    store.recordOutcome(4, { type: "failed", attempt: null, error: "It failed" });
    expect(store.total("pending").deliveries).toBe(pending.deliveries - 1);
  },
};

const EVENT_LOG: Stored = {
  open: (storage) => void new EventLogStore(storage).append([], AT),
  goOn: (storage) => {
    const store = new EventLogStore(storage);
    const query = { from: null, until: null, roomId: null, names: null, limit: 9 };
    expect(store.read({ ...query, after: 2 })).toEqual({ type: "pruned", oldestAt: AT + 1 });
    const event = { event: "user.created", roomId: "room", body: "{}", occurredAt: AT } as const;
    const events = [4, 6].map((number) => ({ ...event, eventId: `event ${number}` }));
    store.append(events, AT + 2);
    expect(store.readHours(0, 3_600_000)).toMatchObject([{ events: 1, runs: 0 }]);
    expect(store.read({ ...query, after: 3 })).toMatchObject({
      events: [{ eventId: "event 4" }, { eventId: "event 5" }, { eventId: "event 6", seq: 6 }],
    });
  },
};

const GUESS_LIMIT: Stored = {
  open: (storage) => void new GuessStore(storage),
  goOn: (storage) => {
    const store = new GuessStore(storage);
    expect(store.find("person")).toEqual({ count: 3.5, at: AT });
    expect(store.prune(AT + 30_000)).toBe(AT + 60_000);
    store.set("browser", { count: 1, at: AT }, AT + 90_000);
    expect(store.find("browser")).toEqual({ count: 1, at: AT });
  },
};

const REQUEST_LOG: Stored = {
  open: (storage) => new RequestLogStore(storage).append([]),
  goOn: (storage) => {
    const store = new RequestLogStore(storage);
    const failed = store.find("request 2", AT);
    expect(failed).toMatchObject({ status: 404, errorMessage: "Room not found", traceId: null });
    if (failed === null) throw new Error("It was found");
    store.append([{ ...failed, id: "request 3", clientRequestId: "mine", traceId: "trace" }]);
    expect([store.find("mine", AT)?.id, store.find("trace", AT)?.id]).toEqual(["request 3", "request 3"]);
    expect(store.prune(AT)).toBe(3);
  },
};

const LIVE_ROOM: Stored = {
  open: (storage) => new SqliteStorage(storage).follows.insert("cleo", "ben"),
  goOn: (storage) => {
    const room = new SqliteStorage(storage);
    expect(room.readRecord()).toMatchObject({ accountId: "account", version: 4, copiedVersion: 3 });
    expect(room.listOpenSessions()).toMatchObject([{ id: "session 2", user: { name: "Zoë ✨" } }]);
    expect(room.listSessions("ada", 9)).toMatchObject([{ id: "session 1", leftAt: 20 }]);
    expect([room.changes.lastSeq(), room.changes.readTotals().changes]).toEqual([1, 1]);
    expect(room.receipts.find("ada", "request")?.answer).toBe("{}");
    expect(room.entries.find("s", "k")).toEqual({ key: "k", value: "1", version: 1 });
    expect([room.entries.totals().bytes, room.comments.totals().comments]).toEqual([2, 1]);
    expect(room.comments.find("comment")?.comment).toBe('{"text":"Zoë"}');
    expect(room.follows.has("ada", "ben")).toBe(true);
    const document = room.documents.find("document");
    expect(document).toMatchObject({ foldedSeq: 1, partBytes: [3] });
    const [update] = room.documents.listUpdates(document?.id ?? 0, 1);
    expect(update).toMatchObject({ seq: 2, authors: [{ type: "user", id: "ada" }] });
    expect(room.events.list(9)).toMatchObject([{ id: "event 1", body: '{"name":"Zoë"}' }]);
    expect(room.changedStores.list()).toEqual([{ store: "s", fromSeq: 1, cause: null }]);
    expect([room.occupancy.readRoom()?.name, room.occupancy.readId()]).toEqual([ROOM.name, "period"]);
    expect(room.graces.list()).toMatchObject([{ userId: "ben", endsAt: 40, leftAt: 35 }]);
    room.entries.write("s", { key: "other", value: "2", version: 2 });
    expect(room.entries.find("s", "other")?.value).toBe("2");
  },
};

/** The tables with their columns, by name and in the order of the names, and what belongs to the tables. */
function shapeOf({ sql }: DurableObjectStorage): unknown {
  const columns = `SELECT tables.name AS "table", columns.name, columns.type, columns."notnull", columns.pk
    FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite%' AND tables.name NOT LIKE '\\_cf%' ESCAPE '\\'
    ORDER BY 1, 2`;
  const others =
    "SELECT name, sql FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL ORDER BY name";
  const named = sql.exec<{ name: string; sql: string }>(others).toArray();
  return {
    columns: sql.exec(columns).toArray(),
    others: named.map((each) => [each.name, each.sql.replaceAll(/\s+/g, " ")]),
  };
}

/** Archives what the database has, in small slices, and restores it into one that is empty. */
function passThroughArchive(storage: DurableObjectStorage, schema: Schema): void {
  const reader = new ArchiveReader(storage);
  reader.limits = { rows: 2, bytes: 1_000 };
  const slices: ArchiveSlice[] = [reader.read(null)];
  for (let cursor = slices[0]?.cursor ?? null; cursor !== null; cursor = slices.at(-1)?.cursor ?? null)
    slices.push(reader.read(cursor));
  dropTables(storage);
  const archive = new StorageArchive({ storage, schema, open: () => undefined });
  for (const slice of slices) expect(archive.restore(slice)).toBeNull();
  expect(archive.finish()).toBeNull();
  storage.sql.exec("DELETE FROM facts WHERE name = 'restored'");
}

/** Runs `work` with the storage of an object that leaves it to the test. */
const withStorage = <T>(work: (storage: DurableObjectStorage) => T): Promise<T> =>
  runInDurableObject(env.GUESS_LIMITS.getByName(crypto.randomUUID()), (_, { storage }) => work(storage));

const versionIn = ({ sql }: DurableObjectStorage): number =>
  Number(sql.exec<{ value: string }>("SELECT value FROM facts WHERE name = 'schema'").one().value);

const SUBSCRIBERS = { 2: subscriber2, 3: subscriber3 };
const EVENT_LOGS = { 1: eventLog1, 2: eventLog2 };
const ROOMS = { 5: room5, 6: room6, 7: room7, 8: room8, 9: room9 };

describe.each<[name: string, stored: Stored, versions: Readonly<Record<string, string>>]>([
  ["a subscriber", SUBSCRIBER, SUBSCRIBERS],
  ["an event log", EVENT_LOG, EVENT_LOGS],
  ["a request log", REQUEST_LOG, { 1: requestLog1, 2: requestLog2 }],
  ["a limit on guesses", GUESS_LIMIT, { 1: guessLimit1, 2: guessLimit2 }],
  ["a room", LIVE_ROOM, ROOMS],
])("the database of %s", (_, stored, versions) => {
  it.each(Object.keys(versions))(
    "that version %s wrote becomes what this version creates",
    async (version) => {
      const fresh = await withStorage((storage) => {
        stored.open(storage);
        return { shape: shapeOf(storage), version: versionIn(storage) };
      });
      await withStorage((storage) => {
        storage.sql.exec(versions[version] ?? "");
        stored.goOn(storage);
        expect({ shape: shapeOf(storage), version: versionIn(storage) }).toEqual(fresh);
      });
    },
  );

  it("is stored as each version of late wrote it, the present one included", () =>
    withStorage((storage) => {
      stored.open(storage);
      expect(Object.keys(versions).map(Number).at(-1)).toBe(versionIn(storage));
    }));

  it("that a later version wrote keeps its number, and is gone on with", () =>
    withStorage((storage) => {
      storage.sql.exec(Object.values(versions).at(-1) ?? "");
      stored.open(storage);
      storage.sql.exec("UPDATE facts SET value = '999' WHERE name = 'schema'; CREATE TABLE later (id TEXT)");
      stored.goOn(storage);
      expect(versionIn(storage)).toBe(999);
    }));
});

it.each<[name: string, stored: Stored, versions: Readonly<Record<string, string>>, schema: Schema]>([
  ["a subscriber", SUBSCRIBER, SUBSCRIBERS, SUBSCRIBER_SCHEMA],
  ["an event log", EVENT_LOG, EVENT_LOGS, EVENT_LOG_SCHEMA],
  ["a room", LIVE_ROOM, ROOMS, ROOM_SCHEMA],
])("the archive of %s that any version wrote is restored as what this version creates", async (_, ...of) => {
  const [stored, versions, schema] = of;
  const fresh = await withStorage((storage) => {
    stored.open(storage);
    return { shape: shapeOf(storage), version: versionIn(storage) };
  });
  for (const written of Object.values(versions))
    await withStorage((storage) => {
      storage.sql.exec(written);
      passThroughArchive(storage, schema);
      stored.goOn(storage);
      expect({ shape: shapeOf(storage), version: versionIn(storage) }).toEqual(fresh);
    });
});
