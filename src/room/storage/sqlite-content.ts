/** A room's comments and follows in SQLite. */
import type { CommentFilter } from "@atrium/contract/operations/comments.ts";
import type { EventCause } from "@atrium/contract/resources/present-event.ts";
import type { Reader } from "@atrium/contract/resources/thread.ts";
import { byteLength } from "@atrium/contract/text.ts";
import { SqlitePart, type SqliteTables } from "./sqlite-tables.ts";

/** A comment; `comment` is JSON, and lists filter by the other fields. */
export interface StoredComment {
  readonly id: string;
  readonly threadId: string;
  readonly resolved: boolean;
  readonly comment: string;
}

/** A comment with its place, the seq of the change that wrote it: a later one has a higher number. */
interface PlacedComment extends StoredComment {
  readonly seq: number;
}

/** A comment that its author writes at a time, as the wire has times. */
interface NewComment extends PlacedComment {
  readonly at: string;
  readonly author: Reader;
}

export interface CommentPart {
  /** The seq of the comment before the page; 0 for the start. Costs nothing, unlike `offset`. */
  readonly after: number;
  readonly limit: number;
  readonly offset?: number;
}

interface CommentTotals {
  readonly comments: number;
  /** Of their JSON. */
  readonly bytes: number;
}

const NO_COMMENTS: CommentTotals = { comments: 0, bytes: 0 };

const grown = (totals: CommentTotals, comments: number, bytes: number): CommentTotals => ({
  comments: totals.comments + comments,
  bytes: totals.bytes + bytes,
});

type CommentRow = Omit<PlacedComment, "resolved"> & { readonly resolved: number };

const SELECT_COMMENTS = "SELECT id, thread_id AS threadId, resolved, comment, seq FROM comments";

const commentOf = (row: CommentRow): PlacedComment => ({ ...row, resolved: row.resolved === 1 });

/** The ID of a comment: a UUID whose last 14 digits are the comment's seq. The rest of `id`, a UUID, makes it unique. */
export const commentIdOf = (seq: number, id: string): string => {
  const digits = seq.toString(16).padStart(14, "0");
  return `${id.slice(0, 21)}${digits.slice(0, 2)}-${digits.slice(2)}`;
};

/** Of another text than such an ID, the seq is any number. */
const seqOf = (id: string): number => Number.parseInt(id.slice(21).replace("-", ""), 16) || 0;

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

  find(id: string): PlacedComment | null {
    return this.#find(id, this.#isShown);
  }

  #find(id: string, condition: string): PlacedComment | null {
    const query = `${SELECT_COMMENTS} WHERE seq = ? AND id = ? AND ${condition}`;
    const row = this.tables.find<CommentRow>(query, seqOf(id), id);
    return row && commentOf(row);
  }

  /** Starts the thread, or moves it to the latest. The author takes part in it, and has read the comment. */
  insert({ id, threadId, resolved, comment, seq, at, author }: NewComment): void {
    const totals = grown(this.totals(), 1, byteLength(comment));
    const lastSeq = this.#lastSeqOf(threadId);
    if (lastSeq === null)
      this.tables.insert("threads", {
        ...{ last_seq: seq, id: threadId, created_at: at, updated_at: at, comments: 1 },
        ...{ resolved: Number(resolved), starter: author.subject, starter_user_id: author.userId },
        ...{ starter_read_seq: seq, room_comments: totals.comments, room_bytes: totals.bytes },
      });
    else {
      this.tables.write(
        `UPDATE threads SET last_seq = ?1, updated_at = ?2, comments = comments + 1, room_comments = ?3, room_bytes = ?4,
           starter_user_id = iif(starter = ?5, ifnull(?6, starter_user_id), starter_user_id),
           starter_read_seq = iif(starter = ?5, ?1, starter_read_seq)
         WHERE last_seq = ?7`,
        ...[seq, at, totals.comments, totals.bytes, author.subject, author.userId, lastSeq],
      );
      this.tables.write(
        `INSERT INTO thread_states SELECT id, ?2, ?3, 1, NULL, ?1 FROM threads WHERE last_seq = ?1 AND starter IS NOT ?2
         ON CONFLICT DO UPDATE SET user_id = ifnull(excluded.user_id, user_id), participates = 1, read_seq = ?1`,
        ...[seq, author.subject, author.userId],
      );
    }
    this.tables.insert("comments", { seq, id, thread_id: threadId, resolved: Number(resolved), comment });
  }

  #lastSeqOf(threadId: string): number | null {
    const query = "SELECT max(seq) AS seq FROM comments WHERE thread_id = ?";
    return this.tables.find<{ seq: number | null }>(query, threadId)?.seq ?? null;
  }

  update({ id, resolved, comment }: StoredComment): void {
    const before = this.find(id);
    if (before === null) return;
    const query = "UPDATE comments SET resolved = ?, comment = ? WHERE seq = ?";
    this.tables.write(query, Number(resolved), comment, before.seq);
    const growth = byteLength(comment) - byteLength(before.comment);
    if (growth !== 0) this.#writeTotals(grown(this.totals(), 0, growth));
  }

  /** The last comment takes its thread with it. */
  delete(id: string): void {
    const found = this.#find(id, "true");
    if (found === null) return;
    const { seq, threadId, comment } = found;
    const isShown = this.hasThread(threadId);
    const totals = grown(this.totals(), -1, -byteLength(comment));
    const before = this.#lastSeqOf(threadId);
    this.tables.write("DELETE FROM comments WHERE seq = ?", seq);
    const lastSeq = this.#lastSeqOf(threadId);
    if (!isShown) {
      if (lastSeq === null) this.tables.write("DELETE FROM ended_threads WHERE thread_id = ?", threadId);
      return;
    }
    const query = "UPDATE threads SET comments = comments - 1, last_seq = ? WHERE last_seq = ?";
    if (lastSeq === null) this.#deleteThread(threadId, before);
    else this.tables.write(query, lastSeq, before);
    this.#writeTotals(totals);
  }

  #deleteThread(threadId: string, lastSeq: number | null): void {
    this.tables.write("DELETE FROM thread_states WHERE thread_id = ?", threadId);
    this.tables.write("DELETE FROM threads WHERE last_seq = ?", lastSeq);
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
    const query = `SELECT 1 FROM comments WHERE thread_id = ? AND ${this.#isShown} LIMIT 1`;
    return this.tables.find(query, threadId) !== null;
  }

  /** Hides a thread with its comments. */
  endThread(threadId: string, cause: EventCause | null): void {
    const query = `SELECT count(*) AS comments, ifnull(sum(octet_length(comment)), 0) AS bytes FROM comments
      WHERE thread_id = ?`;
    const { comments, bytes } = this.tables.find<CommentTotals>(query, threadId) ?? NO_COMMENTS;
    const totals = grown(this.totals(), -comments, -bytes);
    this.#hasEnded = true;
    this.tables.insert("ended_threads", { thread_id: threadId, cause: cause && JSON.stringify(cause) });
    this.#deleteThread(threadId, this.#lastSeqOf(threadId));
    this.#writeTotals(totals);
  }

  findEnded(): EndedThread | null {
    const query = "SELECT thread_id AS id, cause FROM ended_threads LIMIT 1";
    const row = this.tables.find<{ id: string; cause: string | null }>(query);
    this.#hasEnded = row !== null;
    return row && { ...row, cause: row.cause === null ? null : (JSON.parse(row.cause) as EventCause) };
  }

  listEnded(threadId: string, limit: number): StoredComment[] {
    const query = `${SELECT_COMMENTS} WHERE thread_id = ? ORDER BY seq LIMIT ?`;
    return this.tables.read<CommentRow>(query, threadId, limit).map(commentOf);
  }

  /** The latest comments of a thread, newest first. */
  latest(threadId: string, limit: number): StoredComment[] {
    const query = `${SELECT_COMMENTS} WHERE thread_id = ? AND ${this.#isShown} ORDER BY seq DESC LIMIT ?`;
    return this.tables.read<CommentRow>(query, threadId, limit).map(commentOf);
  }

  /** Whether a thread has one comment left. */
  hasLast(threadId: string): boolean {
    const query = `SELECT count(*) AS n FROM
      (SELECT 1 FROM comments WHERE thread_id = ? AND ${this.#isShown} LIMIT 2)`;
    return this.tables.find<{ n: number }>(query, threadId)?.n === 1;
  }

  count(filter: CommentFilter): number {
    const conditions = conditionsOf(filter);
    if (conditions.length === 0) return this.totals().comments;
    const query = `SELECT count(*) AS n FROM comments
      WHERE ${conditions.map(([sql]) => sql).join(" AND ")} AND ${this.#isShown}`;
    return this.tables.find<{ n: number }>(query, ...conditions.map(([, value]) => value))?.n ?? 0;
  }

  /** The totals of all comments of the room: the row of the latest thread has them, since each comment writes it anyhow. */
  totals(): CommentTotals {
    const query =
      "SELECT room_comments AS comments, room_bytes AS bytes FROM threads ORDER BY last_seq DESC LIMIT 1";
    return this.tables.find<CommentTotals>(query) ?? NO_COMMENTS;
  }

  #writeTotals({ comments, bytes }: CommentTotals): void {
    const query = `UPDATE threads SET room_comments = ?, room_bytes = ?
      WHERE last_seq = (SELECT max(last_seq) FROM threads)`;
    this.tables.write(query, comments, bytes);
  }

  /** Oldest first. */
  list(filter: CommentFilter, { after, limit, offset = 0 }: CommentPart): PlacedComment[] {
    const conditions = [...conditionsOf(filter), ["seq > ?", after] as const];
    const query = `${SELECT_COMMENTS} WHERE ${conditions.map(([sql]) => sql).join(" AND ")} AND ${this.#isShown}
      ORDER BY seq LIMIT ? OFFSET ?`;
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
