/** The text of entries that rooms keep in memory: what is sent is what the store has, whatever was written since. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SqliteEntries } from "../../../src/room/storage/sqlite-entries.ts";
import { SqliteTables } from "../../../src/room/storage/sqlite-tables.ts";
import { TextCacheMemory } from "../../../src/room/storage/text-cache.ts";

/** UTF-16 has the last two the other way round. */
const KEYS = [..."abcdefghijklmnopqrstuvwxyz".split(""), "\ue000", "🎉"];
/** So large for its entries that as few as possible are read at once. */
const SIZE = { entries: 1, bytes: 1_000_000 };

/** Counts the queries that read texts. */
class CountedTables extends SqliteTables {
  reads = 0;

  override read<Row extends object>(query: string, ...params: SqlStorageValue[]): Row[] {
    if (query.includes("group_concat")) this.reads += 1;
    return super.read<Row>(query, ...params);
  }
}

const MAX_BYTES = 400;
const step = fc.record({
  kind: fc.constantFrom("write", "write", "delete", "undone", "read", "other", "cleared", "restored"),
  key: fc.constantFrom(...KEYS),
  store: fc.constantFrom("s", "s", "t"),
  most: fc.integer({ min: 1, max: 6 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function undone(entries: SqliteEntries, key: string): never {
  entries.write("s", { key, value: "0", version: 0 });
  throw new Error("undone");
}

/** The order of keys in SQLite: that of their bytes in UTF-8. */
const isBehind = (one: string, other: string): boolean =>
  Buffer.compare(Buffer.from(one), Buffer.from(other)) > 0;

const parse = (items: Uint8Array): unknown[] => JSON.parse(`[${new TextDecoder().decode(items).slice(1)}]`);

/** The items of at most so many texts of a store after a key, and those that it has in the same place. */
function compare(entries: SqliteEntries, store: string, after: string, most: number) {
  const sent: unknown[] = [];
  let left = most;
  let last: string | null = null;
  for (const { items, lastKey } of entries.scanText(store, after)) {
    sent.push(...parse(items));
    last = lastKey;
    left -= 1;
    if (left === 0) break;
  }
  const stored = [...entries.scan(store, after)].filter(({ key }) => left > 0 || !isBehind(key, last ?? ""));
  return { sent, stored: stored.flatMap(({ key, value, version }) => [key, JSON.parse(value), version]) };
}

/** A room's tables, and its entries of the stores `s` and `t`. */
const opened = (
  work: (tables: CountedTables, entries: SqliteEntries) => void,
  memory: TextCacheMemory,
): Promise<void> =>
  runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), (_, { storage }) => {
    const tables = new CountedTables(storage);
    const entries = new SqliteEntries(tables, memory);
    fill(entries);
    work(tables, entries);
  });

function fill(entries: SqliteEntries): void {
  for (const store of ["s", "t"]) {
    entries.writeSize(store, SIZE);
    for (const key of KEYS) entries.write(store, { key, value: "1", version: 1 });
  }
}

describe("kept texts", () => {
  it("are read once, and again where an entry has changed", () =>
    opened((tables, entries) => {
      const reads = (after = "") => {
        const before = tables.reads;
        const { sent, stored } = compare(entries, "s", after, 100);
        expect(sent).toEqual(stored);
        return tables.reads - before;
      };
      // Eight entries at a time; the last query finds no others.
      expect([reads(), reads(), reads("h")]).toEqual([5, 1, 1]);
      entries.write("s", { key: "d", value: "2", version: 2 });
      entries.delete("s", "\ue000");
      entries.write("s", { key: "🎊", value: "3", version: 3 });
      expect([reads(), reads()]).toEqual([3, 1]);
      tables.clear();
      expect(compare(entries, "s", "", 1)).toEqual({ sent: [], stored: [] });
    }, new TextCacheMemory(100_000)));

  it("are what the store has after any writes, also undone ones, after all is gone and restored, as much as memory holds", () => {
    const memory = new TextCacheMemory(MAX_BYTES);
    return opened((tables, first) => {
      let entries = first;
      const follow = ({ kind, store, key, most }: Step, version: number) => {
        if (kind === "write") entries.write(store, { key, value: `"${key.repeat(most)}"`, version });
        else if (kind === "delete") entries.delete(store, key);
        else if (kind === "undone")
          expect(() => tables.transaction(() => undone(entries, key))).toThrow("undone");
        else if (kind === "cleared") {
          tables.clear();
          fill(entries);
        } else if (kind === "restored") {
          // The object starts anew, over rows that its memory did not see.
          tables.write("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", store, key, "2", version);
          entries = new SqliteEntries(tables, memory);
        }
        const { sent, stored } = compare(entries, store, kind === "read" ? key : "", most);
        expect(sent).toEqual(stored);
        expect(memory.bytes).toBeLessThanOrEqual(MAX_BYTES);
      };
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
          for (const [index, each] of steps.entries()) follow(each, index);
        }),
        { numRuns: 40 },
      );
    }, memory);
  });
});
