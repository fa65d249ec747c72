/** A room's comments and follows in SQLite. */
import { SqlitePart } from "./sqlite-part.ts";
import type {
  CommentFilter,
  CommentPart,
  CommentTable,
  CommentTotals,
  FollowTable,
  PlacedComment,
  StoredComment,
} from "./storage-content.ts";

type Count = { n: number };

type CommentRow = { position: number; id: string; thread_id: string; resolved: number; comment: string };

const commentOf = (row: CommentRow): PlacedComment => ({
  position: row.position,
  id: row.id,
  threadId: row.thread_id,
  resolved: row.resolved === 1,
  comment: row.comment,
});

/** The conditions that a filter sets, each of its own, so that an index finds the comments of a thread; with their values. */
const conditionsOf = ({
  threadId,
  resolved,
}: CommentFilter): readonly (readonly [string, string | number])[] => [
  ...(threadId === null ? [] : [["thread_id = ?", threadId] as const]),
  ...(resolved === null ? [] : [["resolved = ?", Number(resolved)] as const]),
];

export class SqliteComments extends SqlitePart implements CommentTable {
  find(id: string): StoredComment | null {
    const row = this.tables.read<CommentRow>("SELECT * FROM comments WHERE id = ?", id)[0];
    return row === undefined ? null : commentOf(row);
  }

  insert({ id, threadId, resolved, comment }: StoredComment): void {
    this.tables.write(
      "INSERT INTO comments (position, id, thread_id, resolved, comment) VALUES (?, ?, ?, ?, ?)",
      this.nextNumber("comments", "position"),
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
    const [row] = this.tables.read<CommentRow>("SELECT * FROM comments WHERE id = ?", id);
    if (row === undefined) return;
    this.tables.write("DELETE FROM comments WHERE id = ?", id);
    this.retire("comments", row.position);
  }

  hasThread(threadId: string): boolean {
    return (
      this.tables.read<Count>("SELECT 1 AS n FROM comments WHERE thread_id = ? LIMIT 1", threadId).length > 0
    );
  }

  count(filter: CommentFilter): number {
    const conditions = conditionsOf(filter);
    if (conditions.length === 0) return this.totals().comments;
    const query = `SELECT count(*) AS n FROM comments WHERE ${conditions.map(([sql]) => sql).join(" AND ")}`;
    return this.tables.read<Count>(query, ...conditions.map(([, value]) => value))[0]?.n ?? 0;
  }

  totals(): CommentTotals {
    const query = "SELECT comments, bytes FROM comment_totals";
    return this.tables.read<{ comments: number; bytes: number }>(query)[0] ?? { comments: 0, bytes: 0 };
  }

  list(filter: CommentFilter, { after, limit, offset = 0 }: CommentPart): PlacedComment[] {
    const conditions = [...conditionsOf(filter), ["position > ?", after] as const];
    const query = `SELECT * FROM comments WHERE ${conditions.map(([sql]) => sql).join(" AND ")}
      ORDER BY position LIMIT ? OFFSET ?`;
    const values = conditions.map(([, value]) => value);
    return this.tables.read<CommentRow>(query, ...values, limit, offset).map(commentOf);
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

  listOf(followers: readonly string[]): (readonly [string, string])[] {
    const query = `SELECT follower, followed FROM json_each(?) AS wanted
      CROSS JOIN follows ON follower = wanted.value ORDER BY position`;
    return this.#pairs(query, JSON.stringify(followers));
  }

  list(limit: number | null): (readonly [string, string])[] {
    return this.#pairs("SELECT follower, followed FROM follows ORDER BY position LIMIT ?", limit ?? -1);
  }

  #pairs(query: string, value: string | number): (readonly [string, string])[] {
    return this.tables
      .read<{ follower: string; followed: string }>(query, value)
      .map((row) => [row.follower, row.followed] as const);
  }

  deleteUser(userId: string): void {
    this.tables.write("DELETE FROM follows WHERE follower = ?1 OR followed = ?1", userId);
  }
}
