/** A room's lasting content in SQLite: changes, stores, comments and follows. */
import type { ChangeEvent } from "../protocol/protocol.ts";
import type { SqliteTables } from "./sqlite-tables.ts";
import type {
  ChangeLog,
  CommentFilter,
  CommentTable,
  EntryTable,
  FollowTable,
  LoggedChange,
  OldestChange,
  Receipt,
  StoredComment,
  StoredEntry,
  StoreSize,
} from "./storage-content.ts";

type Count = { n: number };

export class SqliteChanges implements ChangeLog {
  readonly #tables: SqliteTables;

  constructor(tables: SqliteTables) {
    this.#tables = tables;
  }

  lastSeq(): number {
    return this.#tables.read<{ seq: number | null }>("SELECT max(seq) AS seq FROM changes")[0]?.seq ?? 0;
  }

  append({ seq, event, data }: LoggedChange, at: number): void {
    this.#tables.write(
      "INSERT INTO changes (seq, at, event, data) VALUES (?, ?, ?, ?)",
      seq,
      at,
      event,
      data,
    );
  }

  oldest(): OldestChange | null {
    const query = "SELECT seq, at FROM changes ORDER BY seq LIMIT 1";
    return this.#tables.read<{ seq: number; at: number }>(query)[0] ?? null;
  }

  firstSince(at: number): number | null {
    const query = "SELECT seq FROM changes WHERE at >= ? ORDER BY seq LIMIT 1";
    return this.#tables.read<{ seq: number }>(query, at)[0]?.seq ?? null;
  }

  prune(seq: number): void {
    this.#tables.write("DELETE FROM changes WHERE seq < ?", seq);
  }

  sizeAfter(seq: number): number {
    const query = "SELECT ifnull(sum(length(data)), 0) AS n FROM changes WHERE seq > ?";
    return this.#tables.read<Count>(query, seq)[0]?.n ?? 0;
  }

  listAfter(seq: number): LoggedChange[] {
    return this.#tables.read<{ seq: number; event: ChangeEvent; data: string }>(
      "SELECT seq, event, data FROM changes WHERE seq > ? ORDER BY seq",
      seq,
    );
  }

  writeReceipt(seq: number, { userId, requestId, fingerprint, answer }: Receipt): void {
    this.#tables.write(
      "UPDATE changes SET request_id = NULL, answer = NULL WHERE user_id = ? AND request_id = ?",
      userId,
      requestId,
    );
    this.#tables.write(
      "UPDATE changes SET user_id = ?, request_id = ?, fingerprint = ?, answer = ? WHERE seq = ?",
      userId,
      requestId,
      fingerprint,
      answer,
      seq,
    );
  }

  findReceipt(userId: string, requestId: string): Receipt | null {
    const row = this.#tables.read<{ fingerprint: string; answer: string }>(
      "SELECT fingerprint, answer FROM changes WHERE user_id = ? AND request_id = ?",
      userId,
      requestId,
    )[0];
    return row === undefined ? null : { userId, requestId, ...row };
  }
}

export class SqliteEntries implements EntryTable {
  readonly #tables: SqliteTables;

  constructor(tables: SqliteTables) {
    this.#tables = tables;
  }

  find(store: string, key: string): StoredEntry | null {
    const query = "SELECT key, value, version FROM entries WHERE store = ? AND key = ?";
    return this.#tables.read<{ key: string; value: string; version: number }>(query, store, key)[0] ?? null;
  }

  list(store: string): StoredEntry[] {
    const query = "SELECT key, value, version FROM entries WHERE store = ? ORDER BY key";
    return this.#tables.read<{ key: string; value: string; version: number }>(query, store);
  }

  write(store: string, { key, value, version }: StoredEntry): void {
    this.#tables.write("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", store, key, value, version);
  }

  delete(store: string, key: string): void {
    this.#tables.write("DELETE FROM entries WHERE store = ? AND key = ?", store, key);
  }

  size(store: string): StoreSize {
    const query = "SELECT entries, bytes FROM stores WHERE name = ?";
    return this.#tables.read<{ entries: number; bytes: number }>(query, store)[0] ?? { entries: 0, bytes: 0 };
  }

  writeSize(store: string, { entries, bytes }: StoreSize): void {
    if (entries === 0) this.#tables.write("DELETE FROM stores WHERE name = ?", store);
    else this.#tables.write("INSERT OR REPLACE INTO stores VALUES (?, ?, ?)", store, entries, bytes);
  }

  listStores(): (StoreSize & { readonly name: string })[] {
    return this.#tables.read<{ name: string; entries: number; bytes: number }>(
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

export class SqliteComments implements CommentTable {
  readonly #tables: SqliteTables;

  constructor(tables: SqliteTables) {
    this.#tables = tables;
  }

  find(id: string): StoredComment | null {
    const row = this.#tables.read<CommentRow>("SELECT * FROM comments WHERE id = ?", id)[0];
    return row === undefined ? null : commentOf(row);
  }

  insert({ id, threadId, resolved, comment }: StoredComment): void {
    this.#tables.write(
      "INSERT INTO comments (id, thread_id, resolved, comment) VALUES (?, ?, ?, ?)",
      id,
      threadId,
      Number(resolved),
      comment,
    );
  }

  update({ id, resolved, comment }: StoredComment): void {
    this.#tables.write(
      "UPDATE comments SET resolved = ?, comment = ? WHERE id = ?",
      Number(resolved),
      comment,
      id,
    );
  }

  delete(id: string): void {
    this.#tables.write("DELETE FROM comments WHERE id = ?", id);
  }

  count(filter: CommentFilter): number {
    const query = `SELECT count(*) AS n FROM comments WHERE ${FILTER}`;
    return this.#tables.read<Count>(query, ...filterParams(filter))[0]?.n ?? 0;
  }

  list(filter: CommentFilter, limit: number, offset: number): StoredComment[] {
    const query = `SELECT * FROM comments WHERE ${FILTER} ORDER BY position LIMIT ?3 OFFSET ?4`;
    return this.#tables.read<CommentRow>(query, ...filterParams(filter), limit, offset).map(commentOf);
  }
}

export class SqliteFollows implements FollowTable {
  readonly #tables: SqliteTables;

  constructor(tables: SqliteTables) {
    this.#tables = tables;
  }

  has(follower: string, followed: string): boolean {
    const query = "SELECT 1 AS n FROM follows WHERE follower = ? AND followed = ?";
    return this.#tables.read<Count>(query, follower, followed).length > 0;
  }

  insert(follower: string, followed: string): void {
    this.#tables.write("INSERT INTO follows (follower, followed) VALUES (?, ?)", follower, followed);
  }

  delete(follower: string, followed: string): void {
    this.#tables.write("DELETE FROM follows WHERE follower = ? AND followed = ?", follower, followed);
  }

  listFollowed(follower: string): string[] {
    const query = "SELECT followed FROM follows WHERE follower = ? ORDER BY position";
    return this.#tables.read<{ followed: string }>(query, follower).map((row) => row.followed);
  }

  list(): (readonly [string, string])[] {
    const query = "SELECT follower, followed FROM follows ORDER BY position";
    return this.#tables
      .read<{ follower: string; followed: string }>(query)
      .map((row) => [row.follower, row.followed] as const);
  }

  deleteUser(userId: string): void {
    this.#tables.write("DELETE FROM follows WHERE follower = ?1 OR followed = ?1", userId);
  }
}
