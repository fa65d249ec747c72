/** A room's threads in SQLite, with the states of their readers, and inbox updates that have yet to be passed on. */
import type { ThreadFilter } from "@atrium/contract/operations/threads.ts";
import { INBOX_SHARDS, inboxShardOf } from "@atrium/contract/resources/inbox.ts";
import { DEFAULT_SETTINGS, type Reader, SubscriptionSettings } from "@atrium/contract/resources/thread.ts";
import { LIMIT, SqlitePart, type SqliteTables } from "./sqlite-tables.ts";

export interface StoredThread {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly commentCount: number;
  readonly lastSeq: number;
  readonly resolved: boolean;
  readonly resolvedAt: string | null;
  readonly resolvedBy: string | null;
  /** The state of the reader in the query. */
  readonly state: ThreadState & { readonly unreadCount: number };
}

/** The state of one reader in a thread. */
export interface ThreadState {
  /** True once the reader wrote in the thread, or was mentioned there. */
  readonly participates: boolean;
  /** Null until it chooses: then its settings decide. */
  readonly subscribed: boolean | null;
  readonly readSeq: number;
}

export const NO_STATE: ThreadState = { participates: false, subscribed: null, readSeq: 0 };

interface ThreadRow extends Omit<StoredThread, "resolved" | "state"> {
  readonly resolved: number;
  readonly participates: number;
  readonly subscribed: number | null;
  readonly readSeq: number;
  readonly unreadCount: number;
}

/** A thread is found by its latest comment. */
const OF_THREAD = "last_seq = (SELECT max(seq) FROM comments WHERE thread_id = ?1)";

/** The state of the thread's starter as a row of `thread_states`; none once that is erased. */
const STARTER = `SELECT starter AS subject, starter_user_id AS user_id, 1 AS participates, starter_subscribed AS subscribed,
    starter_read_seq AS read_seq FROM threads WHERE ${OF_THREAD} AND starter IS NOT NULL`;

/** The states of a thread's readers. */
const STATES = `(SELECT subject, user_id, participates, subscribed, read_seq FROM thread_states WHERE thread_id = ?1
  UNION ALL ${STARTER})`;

/** Threads with the state of one reader. */
const READ_THREADS = `(SELECT id, created_at, updated_at, comments, last_seq, resolved, resolved_at, resolved_by,
    ifnull(participates, starter IS ?1) AS participates, iif(starter IS ?1, starter_subscribed, subscribed) AS subscribed,
    iif(starter IS ?1, starter_read_seq, ifnull(read_seq, 0)) AS read_seq
  FROM threads LEFT JOIN thread_states ON thread_id = id AND subject = ?1)`;

const SELECT_THREADS = `SELECT id, created_at AS createdAt, updated_at AS updatedAt, comments AS commentCount,
    last_seq AS lastSeq, resolved, resolved_at AS resolvedAt, resolved_by AS resolvedBy, participates, subscribed,
    read_seq AS readSeq, (SELECT count(*) FROM comments WHERE thread_id = threads.id AND seq > read_seq) AS unreadCount
  FROM ${READ_THREADS} AS threads`;

const IS_UNREAD = "last_seq > read_seq";

/** Earlier versions kept mentioned groups among the readers of a thread. */
const IS_GROUP = "subject GLOB 'group:*'";

const flagOf = (value: number | null): boolean | null => (value === null ? null : value === 1);

const threadOf = ({
  resolved,
  participates,
  subscribed,
  readSeq,
  unreadCount,
  ...row
}: ThreadRow): StoredThread => ({
  ...row,
  resolved: resolved === 1,
  state: {
    participates: participates === 1,
    subscribed: flagOf(subscribed),
    readSeq,
    unreadCount,
  },
});

/** The conditions of set filters. A thread is subscribed by its reader's own choice, or else by the settings. */
function conditionsOf(
  { resolved, unread, subscribed }: ThreadFilter,
  { threads }: SubscriptionSettings,
): string[] {
  const byDefault = { all: "1", replies_and_mentions: "participates", none: "0" }[threads];
  return [
    ...(resolved === undefined ? [] : [`resolved = ${Number(resolved)}`]),
    ...(unread === undefined ? [] : [unread ? IS_UNREAD : `NOT ${IS_UNREAD}`]),
    ...(subscribed === undefined ? [] : [`ifnull(subscribed, ${byDefault}) = ${Number(subscribed)}`]),
  ];
}

const OF_USER = "(user_id = ?1 OR (subject = ?1 AND user_id IS NULL))";
const IS_STARTED = "(starter_user_id = ?1 OR (starter = ?1 AND starter_user_id IS NULL))";

export class SqliteThreads extends SqlitePart {
  /** Finds a thread with the state of a reader; an empty subject has none. */
  find(id: string, subject: string): StoredThread | null {
    const row = this.tables.find<ThreadRow>(
      `${SELECT_THREADS} WHERE last_seq = (SELECT max(seq) FROM comments WHERE thread_id = ?2)`,
      subject,
      id,
    );
    return row && threadOf(row);
  }

  /** The latest activity first; `before` is the `lastSeq` of the last one of the page before. */
  list(
    filter: ThreadFilter,
    subject: string,
    { before, limit, offset }: { before: number | null; limit: number; offset: number },
  ): StoredThread[] {
    const conditions = conditionsOf(filter, this.readSettings(subject));
    const place = before === null ? [] : ["last_seq < ?"];
    const where = [...conditions, ...place].join(" AND ") || "true";
    const query = `${SELECT_THREADS} WHERE ${where} ORDER BY last_seq DESC LIMIT ? OFFSET ?`;
    const from = before === null ? [] : [before];
    return this.tables.read<ThreadRow>(query, subject, ...from, limit, offset).map(threadOf);
  }

  count(filter: ThreadFilter, subject: string): number {
    const where = conditionsOf(filter, this.readSettings(subject)).join(" AND ") || "true";
    const query = `SELECT count(*) AS n FROM ${READ_THREADS} WHERE ${where}`;
    return this.tables.find<{ n: number }>(query, subject)?.n ?? 0;
  }

  firstComment(id: string): string | null {
    const query = "SELECT id FROM comments WHERE thread_id = ? ORDER BY seq LIMIT 1";
    return this.tables.find<{ id: string }>(query, id)?.id ?? null;
  }

  /** The readers who take part in the thread, by subject. */
  participants(id: string): Reader[] {
    const query = `SELECT subject, user_id AS userId FROM ${STATES}
      WHERE participates AND NOT ${IS_GROUP} ORDER BY subject`;
    return this.tables.read<{ subject: string; userId: string | null }>(query, id);
  }

  /** The subject of a user who has written in the thread; null if that was erased. */
  subjectOf(id: string, userId: string): string | null {
    const query = `SELECT subject FROM ${STATES} WHERE user_id = ?2 LIMIT 1`;
    return this.tables.find<{ subject: string }>(query, id, userId)?.subject ?? null;
  }

  readState(id: string, subject: string): ThreadState {
    const query = `SELECT participates, subscribed, read_seq AS readSeq FROM ${STATES} WHERE subject = ?2`;
    const row = this.tables.find<{ participates: number; subscribed: number | null; readSeq: number }>(
      query,
      ...[id, subject],
    );
    return row === null
      ? NO_STATE
      : { ...row, participates: row.participates === 1, subscribed: flagOf(row.subscribed) };
  }

  writeState(
    id: string,
    { subject, userId }: Reader,
    { participates, subscribed, readSeq }: ThreadState,
  ): void {
    const choice = subscribed === null ? null : Number(subscribed);
    if (this.tables.find(`${STARTER} AND starter = ?2`, id, subject) !== null)
      this.tables.write(
        `UPDATE threads SET starter_user_id = ifnull(?2, starter_user_id), starter_subscribed = ?3, starter_read_seq = ?4
         WHERE ${OF_THREAD}`,
        ...[id, userId, choice, readSeq],
      );
    else
      this.tables.write(
        `INSERT INTO thread_states (thread_id, subject, user_id, participates, subscribed, read_seq)
         VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET user_id = ifnull(excluded.user_id, user_id), participates = excluded.participates,
           subscribed = excluded.subscribed, read_seq = excluded.read_seq`,
        ...[id, subject, userId, Number(participates), choice, readSeq],
      );
  }

  readSettings(subject: string): SubscriptionSettings {
    const query =
      "SELECT threads, text_mentions AS textMentions FROM subscription_settings WHERE subject = ?";
    const row = this.tables.find<SubscriptionSettings>(query, subject);
    return row === null ? DEFAULT_SETTINGS : SubscriptionSettings.parse(row);
  }

  writeSettings({ subject, userId }: Reader, { threads, textMentions }: SubscriptionSettings): void {
    const row = { subject, user_id: userId, threads, text_mentions: textMentions };
    this.tables.insert("subscription_settings", row, "INSERT OR REPLACE");
  }

  /** Some of the identities that are notified of the thread's comments, by their IDs, behind one. */
  subscribers(id: string, after: string, limit: number): string[] {
    const isWanted = (states: string) =>
      `ifnull(${states}.subscribed, CASE ifnull(threads, ?3) WHEN 'all' THEN 1 WHEN 'none' THEN 0 ELSE participates END)`;
    const query = `WITH starter AS (${STARTER})
      SELECT * FROM (
        SELECT states.subject FROM thread_states AS states LEFT JOIN subscription_settings AS own USING (subject)
        WHERE thread_id = ?1 AND states.subject > ?2 AND states.subject IS NOT states.user_id AND NOT ${IS_GROUP}
          AND ${isWanted("states")}
        ORDER BY states.subject LIMIT ?4)
      UNION ALL SELECT starter.subject FROM starter LEFT JOIN subscription_settings AS own USING (subject)
        WHERE starter.subject > ?2 AND starter.subject IS NOT starter.user_id AND ${isWanted("starter")}
      UNION ALL SELECT * FROM (
        SELECT subject FROM subscription_settings AS own
        WHERE threads = 'all' AND subject > ?2 AND subject IS NOT user_id
          AND NOT EXISTS (SELECT 1 FROM thread_states WHERE thread_id = ?1 AND subject = own.subject)
          AND NOT EXISTS (SELECT 1 FROM starter WHERE subject = own.subject)
        ORDER BY subject LIMIT ?4)
      ORDER BY subject LIMIT ?4`;
    return this.#subjects(query, id, after, DEFAULT_SETTINGS.threads, limit);
  }

  /** The members of a mentioned group, of these, who want to know of it. */
  willing(id: string, members: readonly string[]): string[] {
    const query = `WITH starter AS (${STARTER})
      SELECT value AS subject FROM json_each(?2)
      LEFT JOIN thread_states AS states ON thread_id = ?1 AND states.subject = value
      LEFT JOIN starter ON starter.subject = value
      LEFT JOIN subscription_settings AS own ON own.subject = value
      WHERE ifnull(ifnull(states.subscribed, starter.subscribed), ifnull(threads, ?3) <> 'none')`;
    return this.#subjects(query, id, JSON.stringify(members), DEFAULT_SETTINGS.threads);
  }

  #subjects(query: string, ...params: SqlStorageValue[]): string[] {
    return this.tables.read<{ subject: string }>(query, ...params).map(({ subject }) => subject);
  }

  /**
   * Notes that inboxes are about to learn of a thread. `mentionedSeq` is the seq of an edit that mentions
   * further people.
   */
  expectNotified(id: string, mentionedSeq = 0): void {
    this.tables.write(
      `INSERT INTO notified_threads (thread_id, mentioned_seq) VALUES (?, ?)
       ON CONFLICT DO UPDATE SET mentioned_seq = excluded.mentioned_seq
       WHERE mentioned_seq < excluded.mentioned_seq`,
      ...[id, mentionedSeq],
    );
  }

  #findNotified(id: string): { readonly mentionedSeq: number; readonly shards: string } | null {
    const query = "SELECT mentioned_seq AS mentionedSeq, shards FROM notified_threads WHERE thread_id = ?";
    return this.tables.find(query, id);
  }

  /** The seq of the latest edit in the thread that mentions further people; 0 without one. */
  mentionedSeq(id: string): number {
    return this.#findNotified(id)?.mentionedSeq ?? 0;
  }

  /** Remembers the shards of inboxes before they learn of a thread: later, groups may have lost these members. */
  addShards(id: string, subjects: readonly string[]): void {
    if (!this.tables.exist) return; // the room was deleted meanwhile
    const known = this.#findNotified(id)?.shards ?? "";
    const shards = new Set([...(known.match(/../g) ?? []), ...subjects.map(inboxShardOf)]);
    if (shards.size * 2 === known.length) return;
    this.tables.write(
      `INSERT INTO notified_threads (thread_id, shards) VALUES (?, ?)
       ON CONFLICT DO UPDATE SET shards = excluded.shards`,
      ...[id, [...shards].join("")],
    );
  }

  /** The shards of all inboxes that may know of a thread. Null if there is none, and no update on its way to one. */
  shardsOf(id: string): readonly string[] | null {
    const notified = this.#findNotified(id);
    // Notifications of an earlier version recorded no shards: these follow from the readers, except for groups.
    const query = `SELECT DISTINCT substr(subject, 1, 2) AS shard, ${IS_GROUP} AS isOfGroup FROM ${STATES}
      WHERE subject IS NOT user_id`;
    const states = this.tables.read<{ shard: string; isOfGroup: number }>(query, id);
    if (states.some(({ isOfGroup }) => isOfGroup === 1)) return INBOX_SHARDS;
    if (notified === null && states.length === 0) return null;
    return [...new Set([...(notified?.shards.match(/../g) ?? []), ...states.map(({ shard }) => shard)])];
  }

  /** States of a user in all threads; for an identity, only states that belong to no user. */
  listOfUser(userId: string): { threadId: string; readSeq: number; subscribed: boolean | null }[] {
    const query = `SELECT thread_id AS threadId, read_seq AS readSeq, subscribed FROM thread_states WHERE ${OF_USER}
      UNION ALL SELECT id, starter_read_seq, starter_subscribed FROM threads WHERE ${IS_STARTED} ORDER BY threadId`;
    return this.tables
      .read<{ threadId: string; readSeq: number; subscribed: number | null }>(query, userId)
      .map((row) => ({ ...row, subscribed: flagOf(row.subscribed) }));
  }

  /** The settings that a user has chosen, or an identity without a user; null for none. */
  settingsOfUser(userId: string): SubscriptionSettings | null {
    const query = `SELECT threads, text_mentions AS textMentions FROM subscription_settings WHERE ${OF_USER}`;
    const row = this.tables.find<SubscriptionSettings>(query, userId);
    return row && SubscriptionSettings.parse(row);
  }

  /** Deletes the states of a user or an identity. Creates no tables when there are none. */
  deleteUser(userId: string): void {
    const known = `SELECT 1 FROM thread_states WHERE subject = ?1 OR user_id = ?1
      UNION ALL SELECT 1 FROM subscription_settings WHERE subject = ?1 OR user_id = ?1
      UNION ALL SELECT 1 FROM notified_mentions WHERE subject = ?1 OR user_id = ?1
      UNION ALL SELECT 1 FROM notification_counts WHERE user_id = ?1
      UNION ALL SELECT 1 FROM threads WHERE ?1 IN (starter, starter_user_id, resolved_by) LIMIT 1`;
    if (this.tables.find(known, userId) === null) return;
    for (const table of ["thread_states", "subscription_settings", "notified_mentions"])
      this.tables.write(`DELETE FROM ${table} WHERE subject = ?1 OR user_id = ?1`, userId);
    this.tables.write("DELETE FROM notification_counts WHERE user_id = ?", userId);
    this.tables.write("UPDATE threads SET resolved_by = NULL WHERE resolved_by = ?", userId);
    this.tables.write(
      `UPDATE threads SET starter = NULL, starter_user_id = NULL, starter_subscribed = NULL, starter_read_seq = 0
       WHERE ?1 IN (starter, starter_user_id)`,
      userId,
    );
  }
}

/** The notifications that a user has caused since a time, epoch ms. */
interface NotificationCount {
  readonly since: number;
  readonly count: number;
}

export class SqliteNotificationCounts extends SqlitePart {
  /** The count of a user that began after a time; null for none. */
  find(userId: string, after: number): NotificationCount | null {
    const query = "SELECT since, count FROM notification_counts WHERE user_id = ? AND since > ?";
    return this.tables.find<NotificationCount>(query, userId, after);
  }

  /** Also deletes all counts that did not begin after a time. */
  write(userId: string, { since, count }: NotificationCount, after: number): void {
    this.tables.write("DELETE FROM notification_counts WHERE since <= ?", after);
    this.tables.insert("notification_counts", { user_id: userId, since, count }, "INSERT OR REPLACE");
  }
}

/** A update for inboxes; `body` is its JSON. */
export interface StoredInboxUpdate {
  readonly seq: number;
  readonly id: string;
  readonly body: string;
  /** The place from which it has to go on, as JSON; null for the start. */
  readonly pending: string | null;
}

export class SqliteInboxUpdates extends SqlitePart {
  readonly #appended: () => void;

  /** Calls `appended` after each update, within the transaction that records it. */
  constructor(tables: SqliteTables, appended: () => void) {
    super(tables);
    this.#appended = appended;
  }

  append(id: string, body: string): void {
    this.tables.insert("inbox_updates", { id, body });
    this.#appended();
  }

  list(limit: number): StoredInboxUpdate[] {
    return this.tables.read<StoredInboxUpdate>(
      `SELECT seq, id, body, owed AS pending FROM inbox_updates ORDER BY seq ${LIMIT}`,
      limit,
    );
  }

  writePending(seq: number, pending: string): void {
    if (this.tables.exist) this.tables.write("UPDATE inbox_updates SET owed = ? WHERE seq = ?", pending, seq);
  }

  /** Does nothing after the room was deleted. */
  delete(seq: number): void {
    if (this.tables.exist) this.tables.write("DELETE FROM inbox_updates WHERE seq = ?", seq);
  }
}
