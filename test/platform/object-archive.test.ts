/**
 * Archives of any tables: rows written between two slices have their state at the last one, and nothing else is
 * included.
 */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ArchiveReader } from "../../src/platform/objects/archive-reader.ts";
import type { ArchiveSlice } from "../../src/platform/objects/archive-slice.ts";
import { createTables, FACTS, type Schema } from "../../src/platform/objects/object-tables.ts";
import { beingArchived, passingReason } from "../../src/platform/objects/rpc.ts";
import { StorageArchive } from "../../src/platform/objects/storage-archive.ts";
import { dropTables } from "../support/archive.ts";

const SCHEMA: Schema = {
  tables: {
    ...FACTS,
    things: `CREATE TABLE IF NOT EXISTS things (id INTEGER PRIMARY KEY, name TEXT UNIQUE, data BLOB);`,
    pairs: `CREATE TABLE IF NOT EXISTS pairs (
      name TEXT NOT NULL, place INTEGER NOT NULL, value TEXT, PRIMARY KEY (name, place)
    ) WITHOUT ROWID;`,
    counted: `CREATE TABLE IF NOT EXISTS counted (id INTEGER PRIMARY KEY AUTOINCREMENT, size INTEGER NOT NULL);
    CREATE TRIGGER IF NOT EXISTS counted_inserted AFTER INSERT ON counted BEGIN
      UPDATE total SET size = size + NEW.size;
    END;
    CREATE TRIGGER IF NOT EXISTS counted_deleted AFTER DELETE ON counted BEGIN
      UPDATE total SET size = size - OLD.size;
    END;`,
    total: `CREATE TABLE IF NOT EXISTS total (only_row INTEGER PRIMARY KEY, size INTEGER NOT NULL);
    INSERT OR IGNORE INTO total VALUES (1, 0);`,
  },
  migrations: [{ version: 3, table: "things", before: "", after: "" }],
};

const INSERT_THING = "INSERT OR IGNORE INTO things VALUES (?1, 'name ' || ?2, x'00ff')";
const REPLACE_THING = "INSERT OR REPLACE INTO things VALUES (?1, 'name ' || ?2, CAST(?1 AS BLOB))";
const RENAME_THING = "UPDATE OR REPLACE things SET name = 'name ' || ?2 WHERE id = ?1";
const DELETE_PAIRS = "DELETE FROM pairs WHERE place = ?2 AND ?1 < 9";

const small = fc.nat({ max: 5 });
const write = fc.tuple(
  fc.constantFrom(
    INSERT_THING,
    REPLACE_THING,
    RENAME_THING,
    "UPDATE OR IGNORE things SET id = ?2 WHERE id = ?1",
    "DELETE FROM things WHERE id = ?1 OR name = 'name ' || ?2",
    "INSERT INTO pairs VALUES ('pair ' || ?1, ?2, 'new') ON CONFLICT DO UPDATE SET value = value || ?2",
    "UPDATE OR REPLACE pairs SET place = ?2 WHERE name = 'pair ' || ?1",
    DELETE_PAIRS,
    "INSERT INTO counted (size) SELECT ?1 + ?2",
    "DELETE FROM counted WHERE ?1 < 9 AND size = ?2",
  ),
  small,
  small,
);

const slicesAtOnce = fc.record({ rows: fc.integer({ min: 1, max: 7 }), bytes: fc.constantFrom(90, 1_000) });

/** Everything that the tables hold, the counters of AUTOINCREMENT included. */
const dump = ({ sql }: DurableObjectStorage) =>
  ["things", "pairs", "counted", "total", "sqlite_sequence"].map((table) =>
    sql
      .exec(`SELECT * FROM ${table} ORDER BY 1, 2`)
      .toArray()
      .filter(({ name }) => name !== "archive_changes"),
  );

/** Runs `work` with the storage of an object that leaves it to the test. */
const withStorage = <T>(work: (storage: DurableObjectStorage) => T): Promise<T> =>
  runInDurableObject(env.GUESS_LIMITS.getByName(crypto.randomUUID()), (_, { storage }) => work(storage));

const archiveOf = (storage: DurableObjectStorage): StorageArchive =>
  new StorageArchive({ storage, schema: SCHEMA, open: () => undefined });

/** The slices of one reading; the writes follow the first ones. */
function collect(
  storage: DurableObjectStorage,
  limits: ArchiveReader["limits"],
  writes: readonly (() => void)[],
) {
  const reader = new ArchiveReader(storage);
  reader.limits = limits;
  const slices: ArchiveSlice[] = [];
  const waiting = [...writes];
  for (let cursor: string | null = null; slices.length === 0 || cursor !== null; ) {
    const slice = reader.read(cursor);
    slices.push(slice);
    cursor = slice.cursor;
    if (cursor !== null) waiting.shift()?.();
    if (cursor !== null && waiting.length % 2 === 0) reader.read(cursor); // an answer that was lost
  }
  return slices;
}

it("a restored archive is what the object stored at the last slice, whatever was written between slices", () =>
  withStorage((storage) => {
    const runs = fc.property(
      fc.array(write, { maxLength: 30 }),
      fc.array(fc.array(write, { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
      slicesAtOnce,
      (before, meanwhile, limits) => {
        dropTables(storage);
        createTables(storage, SCHEMA);
        const run = (writes: typeof before) => {
          for (const [query, ...params] of writes) storage.sql.exec(query, ...params);
        };
        run(before);
        const slices = collect(
          storage,
          limits,
          meanwhile.map((writes) => () => run(writes)),
        );
        const then = dump(storage);
        dropTables(storage);
        const archive = archiveOf(storage);
        for (const slice of slices) expect(archive.restore(slice)).toBeNull();
        expect(archive.finish()).toBeNull();
        expect(dump(storage)).toEqual(then);
        run([["INSERT INTO counted (size) SELECT ?1 + ?2", 1, 1]]);
        expect(
          storage.sql.exec("SELECT size - (SELECT sum(size) FROM counted) AS d FROM total").one(),
        ).toEqual({
          d: 0,
        });
      },
    );
    const replaced: Parameters<typeof runs.run>[0] = [
      [
        [INSERT_THING, 1, 1],
        [INSERT_THING, 2, 2],
      ],
      // Thing 1 is in an earlier slice, and goes without a trigger; thing 4, which took its name, has another one in the end.
      [
        [[DELETE_PAIRS, 5, 5]],
        [[DELETE_PAIRS, 5, 5]],
        [
          [REPLACE_THING, 4, 1],
          [RENAME_THING, 4, 3],
        ],
      ],
      { rows: 1, bytes: 1_000 },
    ];
    fc.assert(runs, { numRuns: 80, examples: [replaced] });
  }));

it("what is small is one slice, an object without tables is an empty one, and neither leaves a trace", () =>
  withStorage((storage) => {
    const parts = () => storage.sql.exec("SELECT name FROM sqlite_master ORDER BY name").toArray();
    const empty = new ArchiveReader(storage).read(null);
    expect(empty).toMatchObject({ schema: [], rows: [], deleted: [], cursor: null });
    expect([archiveOf(storage).restore(empty), archiveOf(storage).finish()]).toEqual([null, null]);
    createTables(storage, SCHEMA);
    const before = parts();
    expect(new ArchiveReader(storage).read(null)).toMatchObject({ version: 3, cursor: null });
    expect(parts()).toEqual(before);
  }));

it("a cursor of another life begins a new reading, and what the first one noted is gone", () =>
  withStorage((storage) => {
    createTables(storage, SCHEMA);
    const reader = new ArchiveReader(storage);
    reader.limits = { rows: 1, bytes: 1_000 };
    const first = reader.read(null);
    expect(first.cursor).not.toBeNull();
    const next = new ArchiveReader(storage).read(first.cursor);
    expect(next.reading).not.toBe(first.reading);
    expect([next.schema.length > 0, next.cursor]).toEqual([true, null]);
  }));

it("of two readings at once, the earlier one waits until the later one is over", () =>
  withStorage((storage) => {
    createTables(storage, SCHEMA);
    storage.sql.exec("INSERT INTO counted (size) VALUES (3), (4), (5)");
    const reader = new ArchiveReader(storage);
    reader.limits = { rows: 1, bytes: 1_000 };
    const earlier = reader.read(null);
    let slice = reader.read(null);
    const later = slice.reading;
    for (let slices = 1; slice.cursor !== null && slices < 20; slices += 1) {
      expect(() => reader.read(earlier.cursor)).toThrow(beingArchived());
      slice = reader.read(slice.cursor);
    }
    expect([slice.reading, slice.cursor]).toEqual([later, null]);
    expect(passingReason(beingArchived())).toBe("Another backup is reading this; wait and retry");
  }));

it("a restore refuses what has no place, repeats harmlessly, and keeps the object closed until it is complete", () =>
  withStorage((storage) => {
    createTables(storage, SCHEMA);
    storage.sql.exec("INSERT INTO counted (size) VALUES (3), (4)");
    const slices = collect(storage, { rows: 2, bytes: 1_000 }, []);
    const other = collect(storage, { rows: 2, bytes: 1_000 }, []);
    const [first, second] = slices;
    if (first === undefined || second === undefined) throw new Error("There are several slices");
    const conflict = { code: "CONFLICT", message: expect.any(String) };
    expect(archiveOf(storage).restore(first)).toEqual(conflict);
    dropTables(storage);
    const archive = archiveOf(storage);
    expect(archive.restore({ ...first, version: 4 })).toEqual({
      code: "CONFLICT",
      message: expect.stringContaining("newer version"),
    });
    expect([archive.isRestoring, archive.restore(second)]).toEqual([false, conflict]);
    expect([archive.restore(first), archive.finish()]).toEqual([null, conflict]);
    expect(() => createTables(storage, SCHEMA)).toThrow("being restored");
    const restarted = archiveOf(storage);
    expect(() => restarted.read(null)).toThrow("being restored");
    for (const slice of other) expect(restarted.restore(slice)).toBeNull();
    expect(restarted.restore(second)).toEqual(conflict);
    for (const slice of slices) expect(restarted.restore(slice)).toBeNull();
    expect([restarted.finish(), restarted.isRestoring, restarted.finish()]).toEqual([null, false, null]);
    for (const slice of slices) expect(restarted.restore(slice)).toBeNull();
    expect([restarted.restore(other[0] ?? first), restarted.isRestoring]).toEqual([conflict, false]);
    expect(storage.sql.exec("SELECT size FROM total").one()).toEqual({ size: 7 });
  }));
