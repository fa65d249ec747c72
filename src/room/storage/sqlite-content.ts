/** A room's comments and follows in SQLite. */
import type { CommentFilter } from "@atrium/contract/operations/comments.ts";
import type { EventCause } from "@atrium/contract/resources/events.ts";
import type { Reader } from "@atrium/contract/resources/thread.ts";
import { SqlitePart, type SqliteTables } from "./sqlite-tables.ts";

/** A comment; `comment` is JSON, and lists filter by the other fields. */
export interface StoredComment {
  readonly id: string;
  readonly threadId: string;
  readonly resolved: boolean;
  readonly comment: string;
}

/** A comment with the seq of the change that wrote it. */
interface NewComment extends StoredComment {
  readonly seq: number;
}

/** A comment with its place: a later one has a higher number. */
interface PlacedComment extends NewComment {
  readonly position: number;
}

export interface CommentPart {
  /** The position of the comment before the page; 0 for the start. Costs nothing, unlike `offset`. */
  readonly after: number;
  readonly limit: number;
  readonly offset?: number;
}

type CommentRow = Omit<PlacedComment, "resolved"> & { readonly resolved: number };

const SELECT_COMMENTS = "SELECT position, id, thread_id AS threadId, resolved, comment, seq FROM comments";

const commentOf = (row: CommentRow): PlacedComment => ({ ...row, resolved: row.resolved === 1 });

/** A condition for each set field, so that an index finds the comments of a thread; with its value. */
const conditionsOf = ({
  threadId,
  resolved,
}: CommentFilter): readonly (readonly [string, string | number])[] => [
  ...(threadId === undefined ? [] : [["thread_id = ?", threadId] as const]),
  ...(resolved === undefined ? [] : [["resolved = ?", Number(resolved)] as const]),
];

const IS_SHOWN = "thread_id NOT IN (SELECT thread_id FROM ended_threads)";

/** A deleted thread whose comments are yet to be removed, with the workflow's run that has deleted it. */
interface EndedThread {
  readonly id: string;
  readonly cause: EventCause | null;
}

type Pair = readonly [follower: string, followed: string];

export class SqliteComments extends SqlitePart {
  /** Null if not known. */
  #hasEnded: boolean | null = null;

  constructor(tables: SqliteTables) {
    super(tables);
    tables.onUndone(() => {
      this.#hasEnded = null;
    });
  }

  /** Leaves out the comments of ended threads. While there are none, it reads no row. */
  get #isShown(): string {
    this.#hasEnded ??= this.findEnded() !== null;
    return this.#hasEnded ? IS_SHOWN : "true";
  }

  find(id: string): NewComment | null {
    const row = this.tables.find<CommentRow>(`${SELECT_COMMENTS} WHERE id = ? AND ${this.#isShown}`, id);
    return row && commentOf(row);
  }

  insert({ id, threadId, resolved, comment, seq }: NewComment): void {
    const position = this.nextNumber("comments", "position");
    this.tables.insert("comments", {
      position,
      id,
      thread_id: threadId,
      resolved: Number(resolved),
      comment,
      seq,
    });
  }

  update({ id, resolved, comment }: StoredComment): void {
    const query = "UPDATE comments SET resolved = ?, comment = ? WHERE id = ?";
    this.tables.write(query, Number(resolved), comment, id);
  }

  delete(id: string): void {
    const comment = this.tables.find<CommentRow>(`${SELECT_COMMENTS} WHERE id = ?`, id);
    if (comment === null) return;
    this.tables.write("DELETE FROM comments WHERE id = ?", id);
    this.retire("comments", comment.position);
  }

  /** The subjects that were notified of a mention in the comment. */
  notifiedOf(id: string): ReadonlySet<string> {
    const query = "SELECT subject FROM notified_mentions WHERE comment_id = ?";
    return new Set(this.tables.read<{ subject: string }>(query, id).map(({ subject }) => subject));
  }

  addNotified(id: string, readers: readonly Reader[]): void {
    for (const { subject, userId } of readers) {
      const row = { comment_id: id, subject, user_id: userId };
      this.tables.insert("notified_mentions", row, "INSERT OR REPLACE");
    }
  }

  hasThread(threadId: string): boolean {
    return this.tables.find("SELECT 1 FROM threads WHERE id = ?", threadId) !== null;
  }

  /** Hides a thread with its comments. */
  endThread(threadId: string, cause: EventCause | null): void {
    this.#hasEnded = true;
    this.tables.insert("ended_threads", { thread_id: threadId, cause: cause && JSON.stringify(cause) });
    this.tables.write(
      `UPDATE comment_totals SET comments = comments - ended.n, bytes = bytes - ended.size
       FROM (SELECT count(*) AS n, sum(length(CAST(comment AS BLOB))) AS size
         FROM comments WHERE thread_id = ?) AS ended`,
      threadId,
    );
    this.tables.write("DELETE FROM thread_states WHERE thread_id = ?", threadId);
    this.tables.write("DELETE FROM threads WHERE id = ?", threadId);
  }

  findEnded(): EndedThread | null {
    const query = "SELECT thread_id AS id, cause FROM ended_threads LIMIT 1";
    const row = this.tables.find<{ id: string; cause: string | null }>(query);
    this.#hasEnded = row !== null;
    return row && { ...row, cause: row.cause === null ? null : (JSON.parse(row.cause) as EventCause) };
  }

  listEnded(threadId: string, limit: number): StoredComment[] {
    const query = `${SELECT_COMMENTS} WHERE thread_id = ? ORDER BY position LIMIT ?`;
    return this.tables.read<CommentRow>(query, threadId, limit).map(commentOf);
  }

  /** Whether a thread has one comment left. */
  hasLast(threadId: string): boolean {
    return this.tables.find("SELECT 1 FROM threads WHERE id = ? AND comments = 1", threadId) !== null;
  }

  count(filter: CommentFilter): number {
    const conditions = conditionsOf(filter);
    if (conditions.length === 0) return this.totals().comments;
    const query = `SELECT count(*) AS n FROM comments
      WHERE ${conditions.map(([sql]) => sql).join(" AND ")} AND ${this.#isShown}`;
    return this.tables.find<{ n: number }>(query, ...conditions.map(([, value]) => value))?.n ?? 0;
  }

  /** The totals of all comments of the room; `bytes` of their JSON. */
  totals() {
    const query = "SELECT comments, bytes FROM comment_totals";
    return this.tables.find<{ comments: number; bytes: number }>(query) ?? { comments: 0, bytes: 0 };
  }

  /** Oldest first. */
  list(filter: CommentFilter, { after, limit, offset = 0 }: CommentPart): PlacedComment[] {
    const conditions = [...conditionsOf(filter), ["position > ?", after] as const];
    const query = `${SELECT_COMMENTS} WHERE ${conditions.map(([sql]) => sql).join(" AND ")} AND ${this.#isShown}
      ORDER BY position LIMIT ? OFFSET ?`;
    const values = conditions.map(([, value]) => value);
    return this.tables.read<CommentRow>(query, ...values, limit, offset).map(commentOf);
  }
}

/** The follows of the room's users. */
export class SqliteFollows extends SqlitePart {
  has(follower: string, followed: string): boolean {
    const query = "SELECT 1 FROM follows WHERE follower = ? AND followed = ?";
    return this.tables.find(query, follower, followed) !== null;
  }

  insert(follower: string, followed: string): void {
    this.tables.insert("follows", { follower, followed });
  }

  delete(follower: string, followed: string): void {
    this.tables.write("DELETE FROM follows WHERE follower = ? AND followed = ?", follower, followed);
  }

  /** Earliest first, like the lists below. */
  listFollowed(follower: string): string[] {
    const query = "SELECT followed FROM follows WHERE follower = ? ORDER BY position";
    return this.tables.read<{ followed: string }>(query, follower).map((row) => row.followed);
  }

  listOf(followers: readonly string[]): Pair[] {
    const query = `SELECT follower, followed FROM json_each(?) AS wanted
      CROSS JOIN follows ON follower = wanted.value ORDER BY position`;
    return this.#pairs(query, JSON.stringify(followers));
  }

  list(limit: number): Pair[] {
    return this.#pairs("SELECT follower, followed FROM follows ORDER BY position LIMIT ?", limit);
  }

  #pairs(query: string, value: string | number): Pair[] {
    return this.tables
      .read<{ follower: string; followed: string }>(query, value)
      .map((row) => [row.follower, row.followed] as const);
  }

  deleteUser(userId: string): void {
    this.tables.write("DELETE FROM follows WHERE follower = ?1 OR followed = ?1", userId);
  }
}
