/** A room's comments and follows in SQLite. */
import { SqlitePart } from "./sqlite-part.ts";
import type {
  CommentFilter,
  CommentTable,
  CommentTotals,
  FollowTable,
  PlacedComment,
  StoredComment,
} from "./storage-content.ts";

type Count = { n: number };

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
