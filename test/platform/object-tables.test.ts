/** The tables of objects: a database of an earlier version is migrated to the present ones, and gone on with. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { ArchiveReader } from "../../src/platform/objects/archive-reader.ts";
import type { ArchiveSlice } from "../../src/platform/objects/archive-slice.ts";
import { createTables, FACTS, openTables, type Schema } from "../../src/platform/objects/object-tables.ts";
import { StorageArchive } from "../../src/platform/objects/storage-archive.ts";
import { dropTables } from "../support/archive.ts";

/** The tables with their columns, ordered by name, and their indexes and triggers. */
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

/** A kind of object that was released once. */
const FIRST: Schema = {
  tables: {
    ...FACTS,
    notes: `CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS notes_by_text ON notes (text);`,
  },
  migrations: [],
};

/** The second version: another table of notes, a table of authors, and a migration for the former. */
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
