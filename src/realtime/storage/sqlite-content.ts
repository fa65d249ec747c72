/** A room's lasting content in SQLite: stores, comments and follows. */
import { SqliteEntryTexts } from "./sqlite-entry-texts.ts";
import { SqlitePart } from "./sqlite-part.ts";
import type { SqliteTables } from "./sqlite-tables.ts";
import type {
  CommentFilter,
  CommentTable,
  CommentTotals,
  EntryTable,
  EntryText,
  FollowTable,
  PlacedComment,
  StoredComment,
  StoredEntry,
  StoreSize,
  StoreTotals,
} from "./storage-content.ts";
import type { TextMemory } from "./text-memory.ts";

type Count = { n: number };

export class SqliteEntries extends SqlitePart implements EntryTable {
  readonly #texts: SqliteEntryTexts;

  /** `memory` is what the entries' text may be kept in: that of the isolate. */
  constructor(tables: SqliteTables, memory?: TextMemory) {
    super(tables);
    this.#texts = new SqliteEntryTexts(tables, memory);
  }

  find(store: string, key: string): StoredEntry | null {
    const query = "SELECT key, value, version FROM entries WHERE store = ? AND key = ?";
    return this.tables.read<{ key: string; value: string; version: number }>(query, store, key)[0] ?? null;
  }

  scan(store: string, after: string | null): Iterable<StoredEntry> {
    return this.tables.scan<{ key: string; value: string; version: number }>(
      "SELECT key, value, version FROM entries WHERE store = ? AND key > ? ORDER BY key LIMIT ?",
      [store, after ?? ""],
      ({ key }) => [store, key],
    );
  }

  scanText(store: string, after: string | null): Iterable<EntryText> {
    return this.#texts.scan(store, after ?? "", this.size(store));
  }

  write(store: string, { key, value, version }: StoredEntry): void {
    this.#texts.forget(store, key);
    this.tables.write("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", store, key, value, version);
  }

  delete(store: string, key: string): void {
    this.#texts.forget(store, key);
    this.tables.write("DELETE FROM entries WHERE store = ? AND key = ?", store, key);
  }

  /** The tables are gone. */
  forgetTexts(): void {
    this.#texts.forgetAll();
  }

  size(store: string): StoreSize {
    const query = "SELECT entries, bytes FROM stores WHERE name = ?";
    return this.tables.read<{ entries: number; bytes: number }>(query, store)[0] ?? { entries: 0, bytes: 0 };
  }

  writeSize(store: string, { entries, bytes }: StoreSize): void {
    if (entries === 0) this.tables.write("DELETE FROM stores WHERE name = ?", store);
    else this.tables.write("INSERT OR REPLACE INTO stores VALUES (?, ?, ?)", store, entries, bytes);
  }

  totals(): StoreTotals {
    const query = "SELECT stores, bytes FROM store_totals";
    return this.tables.read<{ stores: number; bytes: number }>(query)[0] ?? { stores: 0, bytes: 0 };
  }

  writeTotals({ stores, bytes }: StoreTotals): void {
    this.tables.write("INSERT OR REPLACE INTO store_totals VALUES (1, ?, ?)", stores, bytes);
  }

  listStores(): (StoreSize & { readonly name: string })[] {
    return this.tables.read<{ name: string; entries: number; bytes: number }>(
      "SELECT name, entries, bytes FROM stores ORDER BY name",
    );
  }
}

type CommentRow = { id: string; thread_id: string; resolved: number; comment: string };

const commentOf = (row: CommentRow): StoredComment => ({
  id: row.id,
  threadId: row.thread_id,
  resolved: row.resolved === 1,
  comment: row.comment,
});

const FILTER = "(?1 IS NULL OR thread_id = ?1) AND (?2 IS NULL OR resolved = ?2)";
const filterParams = ({ threadId, resolved }: CommentFilter) =>
  [threadId, resolved === null ? null : Number(resolved)] as const;

export class SqliteComments extends SqlitePart implements CommentTable {
  find(id: string): StoredComment | null {
    const row = this.tables.read<CommentRow>("SELECT * FROM comments WHERE id = ?", id)[0];
    return row === undefined ? null : commentOf(row);
  }

  insert({ id, threadId, resolved, comment }: StoredComment): void {
    this.tables.write(
      "INSERT INTO comments (id, thread_id, resolved, comment) VALUES (?, ?, ?, ?)",
      id,
      threadId,
      Number(resolved),
      comment,
    );
  }

  update({ id, resolved, comment }: StoredComment): void {
    this.tables.write(
      "UPDATE comments SET resolved = ?, comment = ? WHERE id = ?",
      Number(resolved),
      comment,
      id,
    );
  }

  delete(id: string): void {
    this.tables.write("DELETE FROM comments WHERE id = ?", id);
  }

  count(filter: CommentFilter): number {
    const query = `SELECT count(*) AS n FROM comments WHERE ${FILTER}`;
    return this.tables.read<Count>(query, ...filterParams(filter))[0]?.n ?? 0;
  }

  totals(): CommentTotals {
    const query = "SELECT comments, bytes FROM comment_totals";
    return this.tables.read<{ comments: number; bytes: number }>(query)[0] ?? { comments: 0, bytes: 0 };
  }

  list(filter: CommentFilter, limit: number, offset: number): StoredComment[] {
    const query = `SELECT * FROM comments WHERE ${FILTER} ORDER BY position LIMIT ?3 OFFSET ?4`;
    return this.tables.read<CommentRow>(query, ...filterParams(filter), limit, offset).map(commentOf);
  }

  listAfter(id: string | null, limit: number): StoredComment[] {
    const query = `SELECT * FROM comments
      WHERE position > ifnull((SELECT position FROM comments WHERE id = ?), 0) ORDER BY position LIMIT ?`;
    return this.tables.read<CommentRow>(query, id, limit).map(commentOf);
  }

  listPlaced(filter: CommentFilter, position: number, limit: number): PlacedComment[] {
    const query = `SELECT * FROM comments WHERE ${FILTER} AND position > ?3 ORDER BY position LIMIT ?4`;
    return this.tables
      .read<CommentRow & { position: number }>(query, ...filterParams(filter), position, limit)
      .map((row) => ({ ...commentOf(row), position: row.position }));
  }
}

export class SqliteFollows extends SqlitePart implements FollowTable {
  has(follower: string, followed: string): boolean {
    const query = "SELECT 1 AS n FROM follows WHERE follower = ? AND followed = ?";
    return this.tables.read<Count>(query, follower, followed).length > 0;
  }

  insert(follower: string, followed: string): void {
    this.tables.write("INSERT INTO follows (follower, followed) VALUES (?, ?)", follower, followed);
  }

  delete(follower: string, followed: string): void {
    this.tables.write("DELETE FROM follows WHERE follower = ? AND followed = ?", follower, followed);
  }

  listFollowed(follower: string): string[] {
    const query = "SELECT followed FROM follows WHERE follower = ? ORDER BY position";
    return this.tables.read<{ followed: string }>(query, follower).map((row) => row.followed);
  }

  list(limit: number | null): (readonly [string, string])[] {
    const query = "SELECT follower, followed FROM follows ORDER BY position LIMIT ?";
    return this.tables
      .read<{ follower: string; followed: string }>(query, limit ?? -1)
      .map((row) => [row.follower, row.followed] as const);
  }

  deleteUser(userId: string): void {
    this.tables.write("DELETE FROM follows WHERE follower = ?1 OR followed = ?1", userId);
  }
}
