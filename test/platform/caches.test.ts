/** The in-memory cache: lifetimes, eviction for space, and eviction by hand. */

import { env } from "cloudflare:workers";
import { getTableName } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { expect, it } from "vitest";
import { operatorTokens } from "../../src/features/backup/table.ts";
import { MAILS } from "../../src/features/mail/statements.ts";
import { invitations } from "../../src/features/members/table.ts";
import { passwordLinks, signInSessions } from "../../src/features/people/table.ts";
import { AUDIT_ENTRIES } from "../../src/http/audit/store.ts";
import { RECEIPTS } from "../../src/http/idempotency/store.ts";
import { CachedRow, TtlCache } from "../../src/platform/cache.ts";
import { openDirectory } from "../../src/platform/d1/databases.ts";
import { deleteInChunks, deleteUntil, type Expiring } from "../../src/platform/d1/expiry.ts";
import { WorkBudget } from "../../src/platform/flow/work-budget.ts";
import { rowsTouchedBy } from "../support/rows-read.ts";

const newCache = () => new TtlCache<string>({ ttlMs: 1_000, maxEntries: 2 });

it("returns an entry until its lifetime is over, and then forgets it", () => {
  const cache = newCache();
  cache.set("a", "first", 5_000);
  expect(cache.get("a", 5_999)).toBe("first");
  expect(cache.get("a", 6_000)).toBeUndefined();
  expect(cache.size).toBe(0);
});

it("restarts the lifetime of an entry that is set again", () => {
  const cache = newCache();
  cache.set("a", "first", 0);
  cache.set("a", "second", 900);
  expect(cache.get("a", 1_500)).toBe("second");
});

it("drops the entry that was set first when it is full, where replacing an entry needs no room", () => {
  const cache = newCache();
  cache.set("a", "1", 0);
  cache.set("b", "2", 0);
  cache.set("a", "3", 0);
  expect(cache.size).toBe(2);
  cache.set("c", "4", 0);
  expect([cache.get("a", 0), cache.get("b", 0), cache.get("c", 0)]).toEqual(["3", undefined, "4"]);
});

it("evicts one entry by its key, and all that match by their value", () => {
  const cache = newCache();
  cache.set("a", "x", 0);
  cache.set("b", "y", 0);
  expect(cache.delete("a")).toBe(true);
  expect(cache.delete("a")).toBe(false);
  cache.deleteWhere((value) => value === "y");
  expect(cache.size).toBe(0);
});

// The row that a subscriber's handler may use while it changes.

it("a row that a change overtakes while it is read is not used, and is read again", async () => {
  const reads: PromiseWithResolvers<string>[] = [];
  const load = () => {
    const read = Promise.withResolvers<string>();
    reads.push(read);
    return read.promise;
  };
  const cached = new CachedRow<string>(load, () => 0);
  const used = cached.get();
  cached.requireVersion(2);
  const alsoUsed = cached.get();
  reads[0]?.resolve("version 1");
  reads[1]?.resolve("version 2");
  expect(await Promise.all([used, alsoUsed])).toEqual(["version 2", "version 2"]);
  expect(reads).toHaveLength(2);
});

// Expired rows are deleted in chunks, and no others.

const NOW = 1_000_000;
const SLICE = 1_000;
/** Rows written for one that is deleted: itself, and its entries in the indexes. */
const ROWS_PER_ROW = 8;

const expiring = (table: SQLiteTable & { readonly expiresAt: SQLiteColumn }): Expiring => ({
  table,
  column: table.expiresAt,
});

/** Columns of each table beside the time; `n` numbers the rows. */
const TABLES: readonly (readonly [Expiring, columns: string, values: string])[] = [
  [
    expiring(signInSessions),
    "id, token_hash, person_id, created_at, updated_at",
    "'s' || n, 's' || n, 'expiry', 0, 0",
  ],
  [expiring(passwordLinks), "token_hash, person_id, created_at", "'l' || n, 'expiry', 0"],
  [
    expiring(invitations),
    "id, account_id, role, token_hash, created_at",
    "'i' || n, 'expiry', 'member', 'i' || n, 0",
  ],
  [expiring(operatorTokens), "account_id, purpose, hash", "'o' || n, 'backup', 'h'"],
  [MAILS, "id, recipient, topic, key_id, sealed, created_at", "'m' || n, 'r', 't', 'k', '', 0"],
  [RECEIPTS, "scope, key, fingerprint", "'00000000-0000-4000-8000-000000000000', 'r' || n, 'f'"],
  [
    AUDIT_ENTRIES,
    "id, account_id, actor_type, operation, resource, changes, changes_before",
    "'a' || n, 'expiry', 'key', 'o', 'r', '{}', 0",
  ],
];

it.each(TABLES)("of %o", async (expiring, columns, values) => {
  const [table, column] = [getTableName(expiring.table), expiring.column.name];
  await env.DB.batch([
    env.DB.prepare("INSERT OR IGNORE INTO accounts (id, name, created_at) VALUES ('expiry', 'Expiry', 0)"),
    env.DB.prepare(
      "INSERT OR IGNORE INTO people (id, name, email, created_at, updated_at) VALUES ('expiry', 'E', 'e@x.test', 0, 0)",
    ),
    env.DB.prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 2500)
       INSERT INTO ${table} (${columns}, ${column}) SELECT ${values}, iif(n <= 2100, ${NOW}, ${NOW} + n) FROM numbers`,
    ),
  ]);
  const left = () =>
    env.DB.prepare(
      `SELECT count(*) AS n FROM ${table} WHERE ${column} BETWEEN ${NOW} AND ${NOW} + 2500`,
    ).first("n");
  const run = () =>
    deleteInChunks(openDirectory(env), (limit) => deleteUntil(expiring, NOW, limit), new WorkBudget(1));
  const touched = await rowsTouchedBy(async () => expect(await run()).toBe(false));
  expect(touched.written).toBeLessThanOrEqual(SLICE * ROWS_PER_ROW);
  expect(touched.read).toBeLessThanOrEqual(SLICE * ROWS_PER_ROW);
  expect(await left()).toBe(1_500);
  expect([await run(), await run(), await left()]).toEqual([false, true, 400]);
});
