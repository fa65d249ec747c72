/** The databases of objects: each version's database is opened, migrated to the present tables, and gone on with. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { EVENT_LOG_SCHEMA, EventLogStore } from "../../src/delivery/event-log/event-log-store.ts";
import { listDeliveries } from "../../src/delivery/subscriber/delivery-list.ts";
import { DeliveryStore, SUBSCRIBER_SCHEMA } from "../../src/delivery/subscriber/delivery-store.ts";
import { readStats } from "../../src/delivery/subscriber/stats-store.ts";
import { GuessStore } from "../../src/features/people/guess-store.ts";
import { RequestLogStore } from "../../src/features/request-log/store.ts";
import { ArchiveReader } from "../../src/platform/objects/archive-reader.ts";
import type { ArchiveSlice } from "../../src/platform/objects/object-archive.ts";
import { createTables, FACTS, openTables, type Schema } from "../../src/platform/objects/object-tables.ts";
import { StorageArchive } from "../../src/platform/objects/storage-archive.ts";
import { ROOM_SCHEMA } from "../../src/room/storage/sqlite-tables.ts";
import { SqliteStorage } from "../../src/room/storage/storage.ts";
import { ROOM } from "../room/support/rows.ts";
import { dropTables } from "../support/archive.ts";
import eventLog1 from "./storage/event-log-1.sql?raw";
import guessLimit1 from "./storage/guess-limit-1.sql?raw";
import requestLog1 from "./storage/request-log-1.sql?raw";
import room1 from "./storage/room-1.sql?raw";
import subscriber1 from "./storage/subscriber-1.sql?raw";

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
    const { deliveries, total } = listDeliveries(store, "any", { limit: 10, offset: 0 });
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
    expect(readStats(store, "1h", AT).total).toMatchObject({ succeeded: 1, failed: 0 });
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
    expect(store.readLog({ ...query, after: 2 })).toEqual({ type: "pruned", oldestAt: AT + 1 });
    const event = { event: "user.created", roomId: "room", body: "{}", occurredAt: AT } as const;
    const events = [4, 6].map((number) => ({ ...event, eventId: `event ${number}` }));
    store.append(events, AT + 2);
    expect(store.readHours(0, 3_600_000)).toMatchObject([{ events: 1, runs: 0 }]);
    expect(store.readLog({ ...query, after: 3 })).toMatchObject({
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
    expect(room.threads.find("comment", "ada")).toMatchObject({
      comments: 1,
      resolved: false,
      state: { unread: 0 },
    });
    expect(room.follows.has("ada", "ben")).toBe(true);
    const document = room.documents.find("document");
    expect(document).toMatchObject({ foldedSeq: 1, partBytes: [3] });
    const [update] = room.documents.listUpdates(document?.id ?? 0, 1);
    expect(update).toMatchObject({ seq: 2, authors: [{ type: "user", id: "ada" }] });
    expect(room.events.list(9)).toMatchObject([{ id: "event 1", body: '{"name":"Zoë"}' }]);
    expect(room.changedStores.list()).toEqual([{ store: "s", fromSeq: 1, cause: null }]);
    expect([room.occupancy.readRoom()?.name, room.occupancy.readId()]).toEqual([ROOM.name, "period"]);
    expect(room.gracePeriods.list()).toMatchObject([{ userId: "ben", endsAt: 40, leftAt: 35 }]);
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

/** The slices of an archive, small ones. */
function archive(storage: DurableObjectStorage): ArchiveSlice[] {
  const reader = new ArchiveReader(storage);
  reader.limits = { rows: 2, bytes: 1_000 };
  const slices: ArchiveSlice[] = [reader.read(null)];
  for (let cursor = slices[0]?.cursor ?? null; cursor !== null; cursor = slices.at(-1)?.cursor ?? null)
    slices.push(reader.read(cursor));
  return slices;
}

/** Archives the database, and restores the archive into an empty one. */
function passThroughArchive(storage: DurableObjectStorage, schema: Schema): void {
  const slices = archive(storage);
  dropTables(storage);
  const restored = new StorageArchive({ storage, schema, open: () => undefined });
  for (const slice of slices) expect(restored.restore(slice)).toBeNull();
  expect(restored.finish()).toBeNull();
  storage.sql.exec("DELETE FROM facts WHERE name = 'restored'");
}

/** Runs `work` with the storage of an object that leaves it to the test. */
const withStorage = <T>(work: (storage: DurableObjectStorage) => T): Promise<T> =>
  runInDurableObject(env.GUESS_LIMITS.getByName(crypto.randomUUID()), (_, { storage }) => work(storage));

const versionIn = ({ sql }: DurableObjectStorage): number =>
  Number(sql.exec<{ value: string }>("SELECT value FROM facts WHERE name = 'schema'").one().value);

const SUBSCRIBERS = { 1: subscriber1 };
const EVENT_LOGS = { 1: eventLog1 };
const ROOMS = { 1: room1 };

describe.each<[name: string, stored: Stored, versions: Readonly<Record<string, string>>]>([
  ["a subscriber", SUBSCRIBER, SUBSCRIBERS],
  ["an event log", EVENT_LOG, EVENT_LOGS],
  ["a request log", REQUEST_LOG, { 1: requestLog1 }],
  ["a limit on guesses", GUESS_LIMIT, { 1: guessLimit1 }],
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

  it("is stored as each version wrote it, the present one included", () =>
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

/** A kind of object that was released once. */
const FIRST: Schema = {
  tables: {
    ...FACTS,
    notes: `CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS notes_by_text ON notes (text);`,
  },
  migrations: [],
};

/** Its second version: another table of notes, a table of authors, and a migration for the former. */
const SECOND: Schema = {
  tables: {
    ...FACTS,
    notes: `CREATE TABLE IF NOT EXISTS notes (
      id INTEGER PRIMARY KEY, text TEXT NOT NULL, size INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX IF NOT EXISTS notes_by_size ON notes (size);`,
    authors: "CREATE TABLE IF NOT EXISTS authors (id TEXT PRIMARY KEY) WITHOUT ROWID;",
  },
  migrations: [
    {
      version: 2,
      table: "notes",
      before: "DROP INDEX notes_by_text; ALTER TABLE notes RENAME TO notes_1;",
      after: "INSERT INTO notes SELECT id, text, length(text) FROM notes_1; DROP TABLE notes_1;",
    },
  ],
};

const INSERT_NOTE = "INSERT INTO notes (id, text) VALUES (?, ?)";

describe("the second version of a schema", () => {
  const notesIn = ({ sql }: DurableObjectStorage) => sql.exec("SELECT * FROM notes ORDER BY id").toArray();
  const fresh = withStorage((storage) => {
    createTables(storage, SECOND);
    return shapeOf(storage);
  });
  const inFirstVersion = (work: (storage: DurableObjectStorage) => void) =>
    withStorage((storage) => {
      createTables(storage, FIRST);
      storage.sql.exec(INSERT_NOTE, 1, "kept");
      work(storage);
    });

  it("brings a database of the first one to its tables, with the rows", async () => {
    const shape = await fresh;
    await inFirstVersion((storage) => {
      expect(openTables(storage, SECOND)).toBe(true);
      expect(notesIn(storage)).toEqual([{ id: 1, text: "kept", size: 4 }]);
      expect([shapeOf(storage), versionIn(storage)]).toEqual([shape, 2]);
    });
  });

  it("leaves the first one whole when a migration fails", () =>
    inFirstVersion((storage) => {
      const before = shapeOf(storage);
      const [migration] = SECOND.migrations;
      if (migration === undefined) throw new Error("The second version has a migration");
      const failing = { ...SECOND, migrations: [{ ...migration, after: "INSERT INTO missing VALUES (1)" }] };
      expect(() => openTables(storage, failing)).toThrow("missing");
      expect([shapeOf(storage), versionIn(storage)]).toEqual([before, 1]);
      expect(openTables(storage, SECOND)).toBe(true);
      expect(versionIn(storage)).toBe(2);
    }));

  it("migrates nothing in an empty database, nor twice", () =>
    withStorage((storage) => {
      expect(openTables(storage, SECOND)).toBe(false);
      createTables(storage, SECOND);
      storage.sql.exec(INSERT_NOTE, 1, "new");
      expect(openTables(storage, SECOND)).toBe(true);
      expect(notesIn(storage)).toEqual([{ id: 1, text: "new", size: 0 }]);
    }));

  it("is left as it is by the first one, after a deployment was rolled back", () =>
    inFirstVersion((storage) => {
      openTables(storage, SECOND);
      const shape = shapeOf(storage);
      expect(openTables(storage, FIRST)).toBe(true);
      storage.sql.exec(INSERT_NOTE, 2, "rolled back");
      expect([shapeOf(storage), versionIn(storage)]).toEqual([shape, 2]);
      openTables(storage, SECOND);
      expect(notesIn(storage)).toMatchObject([{ text: "kept" }, { text: "rolled back" }]);
    }));

  it("restores an archive of the first one, which refuses one of the second", async () => {
    const shape = await fresh;
    await inFirstVersion((storage) => {
      passThroughArchive(storage, SECOND);
      expect(notesIn(storage)).toEqual([{ id: 1, text: "kept", size: 4 }]);
      expect([shapeOf(storage), versionIn(storage)]).toEqual([shape, 2]);
      const slices = archive(storage);
      dropTables(storage);
      const first = new StorageArchive({ storage, schema: FIRST, open: () => undefined });
      expect(slices.map((slice) => first.restore(slice)?.code)).toEqual(slices.map(() => "CONFLICT"));
    });
  });
});
