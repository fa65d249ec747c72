/** A deployment that is rolled back goes on with the rooms of this version: version 8 of the schema, with its statements. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { Changes } from "../../src/room/engine/content/changes.ts";
import { StoreQuota } from "../../src/room/engine/content/store-quota.ts";
import { Stores } from "../../src/room/engine/content/stores.ts";
import { SqliteStorage } from "../../src/room/storage/storage-sqlite.ts";
import { storeEventsOf } from "./support/store-events.ts";

/** What this version does when it starts and sets an entry, with a receipt. */
function set(storage: DurableObjectStorage, key: string, value: string, requestId: string): void {
  const tables = new SqliteStorage(storage);
  const newId = () => crypto.randomUUID();
  const changes = new Changes(tables, () => 0, newId);
  const organization = new StoreQuota(() => 0);
  const stores = new Stores(tables, changes, storeEventsOf(tables), { roomBytes: 1e9, organization });
  const operation = { type: "STORE_SET", store: "s", key, value } as const;
  changes.once("ada", { type: "STORE_SET", requestId, data: operation }, () =>
    stores.apply(operation, "ada"),
  );
}

/** What version 8 did when it set an entry that has another size than before. */
function setByVersion8({ sql }: DurableObjectStorage, key: string, value: string, requestId: string): void {
  const last = sql.exec<{ seq: number }>("SELECT max(seq) AS seq FROM changes").one().seq;
  const data = JSON.stringify({ store: "s", key, value });
  sql.exec("DELETE FROM changes WHERE store = ? AND key = ? RETURNING size", "s", key);
  sql.exec(
    "INSERT INTO changes (seq, at, event, data, size, store, key) VALUES (?, 0, 'storeChanged', ?, ?, 's', ?)",
    ...[last + 1, data, data.length, key],
  );
  sql.exec("INSERT OR REPLACE INTO change_totals VALUES (1, 0, 2, 99)");
  sql.exec("INSERT OR REPLACE INTO entries VALUES ('s', ?, ?, ?)", key, JSON.stringify(value), last + 1);
  const size = sql.exec<{ bytes: number }>("SELECT entries, bytes FROM stores WHERE name = 's'").one();
  sql.exec("INSERT OR REPLACE INTO stores VALUES ('s', 2, ?)", size.bytes + 1);
  sql.exec("INSERT OR REPLACE INTO store_totals VALUES (1, 1, ?)", size.bytes + 1);
  const newest = "SELECT number, total FROM receipts WHERE user_id = ? ORDER BY number DESC LIMIT 1";
  const { number, total } = sql.exec<{ number: number; total: number }>(newest, "ada").one();
  sql.exec(
    `INSERT OR REPLACE INTO receipts (user_id, request_id, number, total, at, fingerprint, answer)
     VALUES ('ada', ?, ?, ?, 0, 'f', '{}')`,
    ...[requestId, number + 1, total + 2],
  );
  sql.exec(
    `DELETE FROM receipts WHERE position IN
     (SELECT position FROM (SELECT position, at FROM receipts ORDER BY position LIMIT 10) WHERE at < 1)`,
  );
  sql.exec(
    `DELETE FROM receipts WHERE user_id = ?1
     AND number = (SELECT min(number) FROM receipts WHERE user_id = ?1)`,
    "ada",
  );
}

it("its writes, sizes and receipts are gone on with, and those of this version with it afterwards", () =>
  runInDurableObject(env.GUESS_LIMITS.getByName(crypto.randomUUID()), (_, { storage }) => {
    set(storage, "a", "one", "first");
    set(storage, "b", "one", "second");
    setByVersion8(storage, "a", "four", "third");
    const { changes, entries, receipts } = new SqliteStorage(storage);
    // The change that version 8 did not find is still there: who catches up receives it before the later one.
    expect(changes.listAfter(0).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(changes.readTotals()).toMatchObject({ droppedSeq: 0, changes: 3 });
    expect(entries.find("s", "a")).toEqual({ key: "a", value: '"four"', version: 3 });
    expect(entries.totals()).toEqual({ stores: 1, bytes: 13 });
    expect(["first", "second", "third"].map((id) => receipts.find("ada", id)?.number)).toEqual([
      undefined,
      2,
      3,
    ]);
    set(storage, "a", "seven", "fourth");
    const later = new SqliteStorage(storage);
    expect(later.changes.listAfter(1).map(({ seq }) => seq)).toEqual([2, 4]);
    expect(later.entries.totals()).toEqual({ stores: 1, bytes: 14 });
    expect(later.receipts.find("ada", "fourth")?.number).toBe(4);
  }));
