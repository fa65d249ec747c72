/** A room's threads in SQLite, with what their readers have read; and updates about them that have yet to be passed on. */
import { DEFAULT_SETTINGS, type Reader, SubscriptionSettings } from "../../wire/thread.ts";
import { LIMIT, SqlitePart, type SqliteTables } from "./sqlite-tables.ts";

export interface StoredThread {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly comments: number;
  readonly lastSeq: number;
  readonly resolved: boolean;
  readonly resolvedAt: string | null;
  readonly resolvedBy: string | null;
  /** Of the reader for whom it is read. */
  readonly state: ThreadState & { readonly unread: number };
}

/** The state of one reader in a thread. */
export interface ThreadState {
  /** It wrote in the thread, or was mentioned there. */
  readonly participates: boolean;
  /** Null until it chooses: then its settings decide. */
  readonly subscribed: boolean | null;
  readonly readSeq: number;
}

export const NO_STATE: ThreadState = { participates: false, subscribed: null, readSeq: 0 };

/** A filter that is null matches all threads. */
export interface ThreadFilter {
  readonly resolved: boolean | null;
  readonly unread: boolean | null;
  readonly subscribed: boolean | null;
}

interface ThreadRow {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly comments: number;
  readonly lastSeq: number;
  readonly resolved: number;
  readonly resolvedAt: string | null;
  readonly resolvedBy: string | null;
  readonly participates: number | null;
  readonly subscribed: number | null;
  readonly readSeq: number | null;
  readonly unread: number;
}

const SELECT_THREADS = `SELECT threads.id, created_at AS createdAt, updated_at AS updatedAt, comments,
    last_seq AS lastSeq, resolved, resolved_at AS resolvedAt, resolved_by AS resolvedBy, participates, subscribed, read_seq AS readSeq,
    (SELECT count(*) FROM comments WHERE thread_id = threads.id AND seq > ifnull(read_seq, 0)) AS unread
  FROM threads LEFT JOIN thread_states ON thread_id = threads.id AND subject = ?`;

const IS_UNREAD = "last_seq > ifnull(read_seq, 0)";

const flagOf = (value: number | null): boolean | null => (value === null ? null : value === 1);

const threadOf = ({
  resolved,
  participates,
  subscribed,
  readSeq,
  unread,
  ...row
}: ThreadRow): StoredThread => ({
  ...row,
  resolved: resolved === 1,
  state: {
    participates: participates === 1,
    subscribed: flagOf(subscribed),
    readSeq: readSeq ?? 0,
    unread,
  },
});

/** The conditions of set filters. A thread is subscribed by its reader's own choice, or else by the settings. */
function conditionsOf(
  { resolved, unread, subscribed }: ThreadFilter,
  { threads }: SubscriptionSettings,
): string[] {
  const byDefault = { all: "1", replies_and_mentions: "ifnull(participates, 0)", none: "0" }[threads];
  return [
    ...(resolved === null ? [] : [`resolved = ${Number(resolved)}`]),
    ...(unread === null ? [] : [unread ? IS_UNREAD : `NOT ${IS_UNREAD}`]),
    ...(subscribed === null ? [] : [`ifnull(subscribed, ${byDefault}) = ${Number(subscribed)}`]),
  ];
}

export class SqliteThreads extends SqlitePart {
  /** With the state of a reader; an empty subject has none. */
  find(id: string, subject: string): StoredThread | null {
    const row = this.tables.find<ThreadRow>(`${SELECT_THREADS} WHERE threads.id = ?`, subject, id);
    return row && threadOf(row);
  }

  /** The latest activity first; `before` is the place of the last one of the page before. */
  list(
    filter: ThreadFilter,
    subject: string,
    {
      before,
      limit,
      offset,
    }: { before: Pick<StoredThread, "lastSeq" | "id"> | null; limit: number; offset: number },
  ): StoredThread[] {
    const conditions = conditionsOf(filter, this.readSettings(subject));
    const place = before === null ? [] : ["(last_seq, id) < (?, ?)"];
    const where = [...conditions, ...place].join(" AND ") || "true";
    const query = `${SELECT_THREADS} WHERE ${where} ORDER BY last_seq DESC, id DESC LIMIT ? OFFSET ?`;
    const from = before === null ? [] : [before.lastSeq, before.id];
    return this.tables.read<ThreadRow>(query, subject, ...from, limit, offset).map(threadOf);
  }

  count(filter: ThreadFilter, subject: string): number {
    const where = conditionsOf(filter, this.readSettings(subject)).join(" AND ") || "true";
    const query = `SELECT count(*) AS n FROM threads
      LEFT JOIN thread_states ON thread_id = threads.id AND subject = ? WHERE ${where}`;
    return this.tables.find<{ n: number }>(query, subject)?.n ?? 0;
  }

  firstComment(id: string): string | null {
    const query = "SELECT id FROM comments WHERE thread_id = ? ORDER BY position LIMIT 1";
    return this.tables.find<{ id: string }>(query, id)?.id ?? null;
  }

  /** The subjects that the thread knows, by subject. */
  listStates(id: string): (Reader & ThreadState)[] {
    const query = `SELECT subject, user_id AS userId, participates, subscribed, read_seq AS readSeq
      FROM thread_states WHERE thread_id = ? ORDER BY subject`;
    return this.tables
      .read<{
        subject: string;
        userId: string | null;
        participates: number;
        subscribed: number | null;
        readSeq: number;
      }>(query, id)
      .map(({ participates, subscribed, ...row }) => ({
        ...row,
        participates: participates === 1,
        subscribed: flagOf(subscribed),
      }));
  }

  writeState(
    id: string,
    { subject, userId }: Reader,
    { participates, subscribed, readSeq }: ThreadState,
  ): void {
    this.tables.write(
      `INSERT INTO thread_states (thread_id, subject, user_id, participates, subscribed, read_seq)
       VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET user_id = ifnull(excluded.user_id, user_id), participates = excluded.participates,
         subscribed = excluded.subscribed, read_seq = excluded.read_seq`,
      ...[
        id,
        subject,
        userId,
        Number(participates),
        subscribed === null ? null : Number(subscribed),
        readSeq,
      ],
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

  /** The readers who chose this for the threads of the room. */
  readersWith(threads: SubscriptionSettings["threads"]): Reader[] {
    const query = "SELECT subject, user_id AS userId FROM subscription_settings WHERE threads = ?";
    return this.tables.read<{ subject: string; userId: string | null }>(query, threads);
  }

  /** The states of a user in all threads. */
  listOfUser(userId: string): { threadId: string; readSeq: number; subscribed: boolean | null }[] {
    const query = `SELECT thread_id AS threadId, read_seq AS readSeq, subscribed FROM thread_states
      WHERE subject = ?1 OR user_id = ?1 ORDER BY thread_id`;
    return this.tables
      .read<{ threadId: string; readSeq: number; subscribed: number | null }>(query, userId)
      .map((row) => ({ ...row, subscribed: flagOf(row.subscribed) }));
  }

  /** The settings that a user has chosen; null for none. */
  settingsOfUser(userId: string): SubscriptionSettings | null {
    const query = `SELECT threads, text_mentions AS textMentions FROM subscription_settings
      WHERE subject = ?1 OR user_id = ?1`;
    const row = this.tables.find<SubscriptionSettings>(query, userId);
    return row && SubscriptionSettings.parse(row);
  }

  deleteUser(userId: string): void {
    for (const table of ["thread_states", "subscription_settings"])
      this.tables.write(`DELETE FROM ${table} WHERE subject = ?1 OR user_id = ?1`, userId);
    this.tables.write("UPDATE threads SET resolved_by = NULL WHERE resolved_by = ?", userId);
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
    this.tables.write("UPDATE inbox_updates SET owed = ? WHERE seq = ?", pending, seq);
  }

  delete(seq: number): void {
    this.tables.write("DELETE FROM inbox_updates WHERE seq = ?", seq);
  }
}
