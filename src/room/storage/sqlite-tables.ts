/** The tables of a room's SQLite database: created by the first write, and empty to reads until then. */
import { createTables, FACTS, openTables, type Schema } from "../../platform/objects/object-tables.ts";
import { passingReason } from "../../platform/objects/rpc.ts";

/** The partial index allows one open session per user. */
const TABLES: Readonly<Record<string, string>> = {
  room: `CREATE TABLE IF NOT EXISTS room (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    account_id TEXT NOT NULL,
    room_id TEXT NOT NULL,
    active_participants INTEGER NOT NULL,
    occupied_ms INTEGER NOT NULL,
    occupied_since INTEGER,
    version INTEGER NOT NULL,
    copied_version INTEGER NOT NULL,
    last_alive_at INTEGER NOT NULL,
    session_id TEXT
  );`,
  sessions: `CREATE TABLE IF NOT EXISTS sessions (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    joined_at INTEGER NOT NULL,
    left_at INTEGER,
    user TEXT,
    standing TEXT
  );
  CREATE INDEX IF NOT EXISTS sessions_by_user ON sessions (user_id, seq);
  CREATE UNIQUE INDEX IF NOT EXISTS sessions_open ON sessions (user_id) WHERE left_at IS NULL;`,
  // Records of changes, sizes of stores and receipts that are not in their places yet, as items of JSON.
  journal: `CREATE TABLE IF NOT EXISTS journal (
    number INTEGER PRIMARY KEY,
    data TEXT NOT NULL
  );`,
  // Changes in blocks, as items of JSON; `at` is the time of the last one.
  log: `CREATE TABLE IF NOT EXISTS log (
    seq INTEGER PRIMARY KEY,
    last_seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    changes INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    data TEXT NOT NULL
  );`,
  dropped_changes: `CREATE TABLE IF NOT EXISTS dropped_changes (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    up_to_seq INTEGER NOT NULL
  );`,
  epochs: `CREATE TABLE IF NOT EXISTS epochs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    after_seq INTEGER NOT NULL
  );`,
  // Receipts in blocks, as items of JSON. The number is that of the first, the columns after it are of the last one.
  receipts: `CREATE TABLE IF NOT EXISTS receipts (
    user_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    last_number INTEGER NOT NULL,
    total INTEGER NOT NULL,
    at INTEGER NOT NULL,
    ids TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (user_id, number)
  ) WITHOUT ROWID;`,
  entries: `CREATE TABLE IF NOT EXISTS entries (
    store TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (store, key)
  ) WITHOUT ROWID;`,
  stores: `CREATE TABLE IF NOT EXISTS stores (
    name TEXT PRIMARY KEY,
    entries INTEGER NOT NULL,
    bytes INTEGER NOT NULL
  ) WITHOUT ROWID;`,
  // The ID of a comment contains its seq, which finds it: an index would write a row more.
  comments: `CREATE TABLE IF NOT EXISTS comments (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    resolved INTEGER NOT NULL,
    comment TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS comments_by_thread ON comments (thread_id);`,
  // The latest comment of a thread finds its row, and a reply moves it: no index is needed for IDs or activity.
  threads: `CREATE TABLE IF NOT EXISTS threads (
    last_seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    comments INTEGER NOT NULL,
    resolved INTEGER NOT NULL,
    resolved_at TEXT,
    resolved_by TEXT,
    starter TEXT,
    starter_user_id TEXT,
    starter_subscribed INTEGER,
    starter_read_seq INTEGER NOT NULL,
    room_comments INTEGER NOT NULL,
    room_bytes INTEGER NOT NULL
  );
  CREATE TRIGGER IF NOT EXISTS threads_resolved AFTER UPDATE OF resolved, comment ON comments
  WHEN NEW.seq = (SELECT min(seq) FROM comments WHERE thread_id = NEW.thread_id)
    AND (NEW.resolved, NEW.comment ->> 'resolved_at', NEW.comment ->> 'resolved_by')
      IS NOT (OLD.resolved, OLD.comment ->> 'resolved_at', OLD.comment ->> 'resolved_by') BEGIN
    UPDATE threads SET resolved = NEW.resolved, resolved_at = NEW.comment ->> 'resolved_at',
      resolved_by = NEW.comment ->> 'resolved_by'
    WHERE last_seq = (SELECT max(seq) FROM comments WHERE thread_id = NEW.thread_id);
  END;`,
  // The states of all readers but the starters of threads: those are in the rows of the threads.
  thread_states: `CREATE TABLE IF NOT EXISTS thread_states (
    thread_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT,
    participates INTEGER NOT NULL,
    subscribed INTEGER,
    read_seq INTEGER NOT NULL,
    PRIMARY KEY (thread_id, subject)
  ) WITHOUT ROWID;`,
  subscription_settings: `CREATE TABLE IF NOT EXISTS subscription_settings (
    subject TEXT PRIMARY KEY,
    user_id TEXT,
    threads TEXT NOT NULL,
    text_mentions TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS subscription_settings_by_threads ON subscription_settings (threads);`,
  inbox_updates: `CREATE TABLE IF NOT EXISTS inbox_updates (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    owed TEXT
  );`,
  // The shards with inboxes that a thread has notified, as pairs of digits, until its deletion has reached them.
  notified_threads: `CREATE TABLE IF NOT EXISTS notified_threads (
    thread_id TEXT PRIMARY KEY,
    mentioned_seq INTEGER NOT NULL DEFAULT 0,
    shards TEXT NOT NULL DEFAULT ''
  ) WITHOUT ROWID;
  CREATE TRIGGER IF NOT EXISTS notified_threads_ended AFTER DELETE ON inbox_updates
  WHEN OLD.body ->> 'type' = 'threadDeleted' BEGIN
    DELETE FROM notified_threads WHERE thread_id = OLD.body ->> 'threadId';
  END;`,
  notification_counts: `CREATE TABLE IF NOT EXISTS notification_counts (
    user_id TEXT PRIMARY KEY,
    since INTEGER NOT NULL,
    count INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS notification_counts_by_age ON notification_counts (since);`,
  // Deleted threads whose comments are still there, hidden and uncounted: they are removed in slices.
  ended_threads: `CREATE TABLE IF NOT EXISTS ended_threads (
    thread_id TEXT PRIMARY KEY,
    cause TEXT
  ) WITHOUT ROWID;`,
  // Kept after an edit removes the mention, so that a later edit does not notify again.
  notified_mentions: `CREATE TABLE IF NOT EXISTS notified_mentions (
    comment_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT,
    PRIMARY KEY (comment_id, subject)
  ) WITHOUT ROWID;
  CREATE TRIGGER IF NOT EXISTS notified_mentions_ended AFTER DELETE ON comments BEGIN
    DELETE FROM notified_mentions WHERE comment_id = OLD.id;
  END;`,
  // Kept as long as the comment, so that an edit wakes no agent twice.
  woken_agents: `CREATE TABLE IF NOT EXISTS woken_agents (
    comment_id TEXT NOT NULL,
    identity_id TEXT NOT NULL,
    PRIMARY KEY (comment_id, identity_id)
  ) WITHOUT ROWID;
  CREATE TRIGGER IF NOT EXISTS woken_agents_ended AFTER DELETE ON comments BEGIN
    DELETE FROM woken_agents WHERE comment_id = OLD.id;
  END;`,
  // The latest wake of each agent.
  wakes: `CREATE TABLE IF NOT EXISTS wakes (
    identity_id TEXT PRIMARY KEY,
    depth INTEGER NOT NULL,
    at INTEGER NOT NULL
  ) WITHOUT ROWID;`,
  // Wakes by agents since a time: of an agent, and with an empty ID of all. Comments that are deleted stay counted.
  wake_counts: `CREATE TABLE IF NOT EXISTS wake_counts (
    identity_id TEXT PRIMARY KEY,
    since INTEGER NOT NULL,
    count INTEGER NOT NULL
  ) WITHOUT ROWID;`,
  follows: `CREATE TABLE IF NOT EXISTS follows (
    position INTEGER PRIMARY KEY,
    follower TEXT NOT NULL,
    followed TEXT NOT NULL,
    UNIQUE (follower, followed)
  );
  CREATE INDEX IF NOT EXISTS follows_by_followed ON follows (followed);`,
  documents: `CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    folded_seq INTEGER NOT NULL DEFAULT 0,
    part_bytes TEXT NOT NULL DEFAULT '[]',
    trail_bytes INTEGER NOT NULL DEFAULT 0
  );`,
  document_updates: `CREATE TABLE IF NOT EXISTS document_updates (
    document INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    piece INTEGER NOT NULL,
    updates INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    at INTEGER NOT NULL,
    user_id TEXT,
    data BLOB NOT NULL,
    acting TEXT,
    authors TEXT,
    PRIMARY KEY (document, seq, piece)
  ) WITHOUT ROWID;`,
  document_parts: `CREATE TABLE IF NOT EXISTS document_parts (
    document INTEGER NOT NULL,
    part INTEGER NOT NULL,
    piece INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (document, part, piece)
  );`,
  document_versions: `CREATE TABLE IF NOT EXISTS document_versions (
    document INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    name TEXT,
    at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    user_id TEXT,
    acting TEXT,
    authors TEXT NOT NULL,
    PRIMARY KEY (document, seq)
  ) WITHOUT ROWID;`,
  // Authors are JSON, and `parts` is that of the review. `base_seq` is the fork's first update.
  suggestions: `CREATE TABLE IF NOT EXISTS suggestions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL,
    title TEXT,
    author TEXT NOT NULL,
    base_seq INTEGER NOT NULL,
    secret TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    reviewed_by TEXT,
    reviewed_at INTEGER,
    comment TEXT,
    parts TEXT
  );
  CREATE INDEX IF NOT EXISTS suggestions_by_document ON suggestions (document, number);
  CREATE INDEX IF NOT EXISTS suggestions_pending ON suggestions (document, author) WHERE status = 'pending';`,
  // Without a name, the stream has ended and its rows are being removed. `root` is the first number of its offsets, and
  // `base` is where its own bytes begin: those before are its source's. `sort` is the latest `Stream-Seq`.
  streams: `CREATE TABLE IF NOT EXISTS streams (
    id INTEGER PRIMARY KEY,
    name TEXT UNIQUE,
    root INTEGER NOT NULL,
    source INTEGER,
    base INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ttl INTEGER,
    ends_at INTEGER,
    sort TEXT,
    closed INTEGER NOT NULL,
    closed_by TEXT,
    deleted INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS streams_by_source ON streams (source) WHERE source IS NOT NULL;
  CREATE INDEX IF NOT EXISTS streams_by_end ON streams (ends_at) WHERE ends_at IS NOT NULL;
  CREATE INDEX IF NOT EXISTS streams_ended ON streams (id) WHERE name IS NULL;`,
  // One row for each append: `number` counts those of its stream.
  stream_appends: `CREATE TABLE IF NOT EXISTS stream_appends (
    stream INTEGER NOT NULL,
    start INTEGER NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    user_id TEXT,
    data BLOB NOT NULL,
    PRIMARY KEY (stream, start)
  ) WITHOUT ROWID;`,
  stream_producers: `CREATE TABLE IF NOT EXISTS stream_producers (
    stream INTEGER NOT NULL,
    id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (stream, id)
  ) WITHOUT ROWID;`,
  events: `CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    event TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    owed TEXT,
    trace TEXT,
    more TEXT
  );`,
  changed_stores: `CREATE TABLE IF NOT EXISTS changed_stores (
    store TEXT PRIMARY KEY,
    from_seq INTEGER NOT NULL
  ) WITHOUT ROWID;`,
  document_notes: `CREATE TABLE IF NOT EXISTS document_notes (
    position INTEGER PRIMARY KEY,
    event TEXT NOT NULL,
    document TEXT NOT NULL,
    seq INTEGER NOT NULL,
    name TEXT,
    depth INTEGER,
    workflow_id TEXT
  );
  CREATE UNIQUE INDEX IF NOT EXISTS document_notes_of_updates ON document_notes (document)
    WHERE event = 'document.updated';`,
  change_causes: `CREATE TABLE IF NOT EXISTS change_causes (
    store TEXT PRIMARY KEY,
    depth INTEGER NOT NULL,
    workflow_id TEXT NOT NULL
  ) WITHOUT ROWID;`,
  participants: `CREATE TABLE IF NOT EXISTS participants (
    user_id TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    joined_at INTEGER NOT NULL,
    user TEXT NOT NULL
  ) WITHOUT ROWID;`,
  grace_periods: `CREATE TABLE IF NOT EXISTS grace_periods (
    user_id TEXT PRIMARY KEY,
    ends_at INTEGER NOT NULL,
    left_at INTEGER NOT NULL,
    state TEXT,
    color INTEGER
  ) WITHOUT ROWID;`,
  ...FACTS,
};

export const ROOM_SCHEMA: Schema = { tables: TABLES, migrations: [] };

/** Limits rows by a parameter. SQLite would prepare `LIMIT ?` again for each call. */
export const LIMIT = "LIMIT ? + 0";

/** Rows that fit into memory, whatever they contain. */
const ROWS_AT_ONCE = 32;

export class SqliteTables {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly #committing: (() => void)[] = [];
  readonly #undone: ((writes: number) => void)[] = [];
  #exist: boolean;
  #writes = 0;
  #depth = 0;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#exist = openTables(storage, ROOM_SCHEMA);
  }

  transaction<T>(work: () => T): T {
    const [existed, writes] = [this.#exist, this.#writes];
    this.#depth += 1;
    try {
      return this.#storage.transactionSync(() => {
        const result = work();
        if (this.#depth === 1) for (const commit of this.#committing) commit();
        return result;
      });
    } catch (error) {
      this.#exist = existed; // tables are rolled back like rows
      for (const forget of this.#undone) forget(writes);
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  /** Runs `work`, whose transactions are committed together: at its end, or by {@link commit}. Throws if that fails. */
  together(work: () => void): void {
    this.#depth += 1;
    try {
      work();
    } finally {
      this.#depth -= 1;
    }
    this.commit();
  }

  /** Whether no statement runs at all, as where the platform's account has reached its spending cap. */
  get isRefused(): boolean {
    try {
      this.#sql.exec("SELECT 1").toArray();
      return false;
    } catch (error) {
      if (passingReason(error) !== null) return true;
      throw error;
    }
  }

  /** Commits what the transactions of {@link together} have left so far. */
  commit(): void {
    this.#storage.transactionSync(() => {
      for (const commit of this.#committing) commit();
    });
  }

  /** False where a write is a transaction of its own. */
  get isInTransaction(): boolean {
    return this.#depth > 0;
  }

  /** Calls `commit` at the end of transactions that are within no other one, and of those that are committed together. */
  onCommitting(commit: () => void): void {
    this.#committing.push(commit);
  }

  /** Calls `forget` when writes are undone, with the number of `writes` that remain: -1 when the tables are gone. */
  onUndone(forget: (writes: number) => void): void {
    this.#undone.push(forget);
  }

  /** The rows of a query, which selects the fields of `Row`; none while there are no tables. */
  read<Row extends object>(query: string, ...params: SqlStorageValue[]): Row[] {
    return this.#exist ? (this.#sql.exec(query, ...params).toArray() as Row[]) : [];
  }

  find<Row extends object>(query: string, ...params: SqlStorageValue[]): Row | null {
    return this.read<Row>(query, ...params)[0] ?? null;
  }

  /** Reads rows while the caller iterates. `nextOf` returns the parameters after a row: a cursor would lock the table. */
  *scan<Row extends object>(
    query: string,
    first: readonly SqlStorageValue[],
    nextOf: (last: Row) => readonly SqlStorageValue[],
  ): Generator<Row> {
    for (let params: readonly SqlStorageValue[] | null = first; params !== null; ) {
      const rows: Row[] = this.read<Row>(`${query} LIMIT ${ROWS_AT_ONCE}`, ...params);
      yield* rows;
      const last = rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1);
      params = last === undefined ? null : nextOf(last);
    }
  }

  /** False before the first write, and in a room that was deleted. */
  get exist(): boolean {
    return this.#exist;
  }

  get writes(): number {
    return this.#writes;
  }

  /** Counts a write whose row follows at the end of the transaction. Returns its number. */
  countWrite(): number {
    this.#writes += 1;
    return this.#writes;
  }

  write(query: string, ...params: SqlStorageValue[]): void {
    this.#writes += 1;
    if (!this.#exist) {
      createTables(this.#storage, ROOM_SCHEMA);
      this.#exist = true;
    }
    this.#sql.exec(query, ...params);
  }

  /** Inserts a row, by the names of its columns. */
  insert(
    table: string,
    row: Readonly<Record<string, SqlStorageValue>>,
    verb: "INSERT" | "INSERT OR REPLACE" = "INSERT",
  ): void {
    const columns = Object.keys(row);
    const values = columns.map(() => "?").join();
    this.write(`${verb} INTO ${table} (${columns.join()}) VALUES (${values})`, ...Object.values(row));
  }

  /** Deletes everything, including the tables. */
  clear(): void {
    if (!this.#exist) return;
    this.#sql.exec(
      Object.keys(TABLES)
        .map((name) => `DROP TABLE ${name};`)
        .join("\n"),
    );
    this.#exist = false;
    this.#writes += 1;
    for (const forget of this.#undone) forget(-1);
  }
}

/** Writes that follow at the end of the running transaction, all at once. */
export class StagedWrites<Item> {
  readonly #tables: SqliteTables;
  readonly #write: (items: readonly Item[]) => void;
  #staged: { readonly write: number; readonly item: Item; readonly undo: () => void }[] = [];

  constructor(tables: SqliteTables, write: (items: readonly Item[]) => void) {
    this.#tables = tables;
    this.#write = write;
    tables.onCommitting(() => this.write());
    tables.onUndone((writes) => {
      for (
        let last = this.#staged.at(-1);
        last !== undefined && last.write > writes;
        last = this.#staged.at(-1)
      ) {
        last.undo();
        this.#staged.pop();
      }
    });
  }

  get isEmpty(): boolean {
    return this.#staged.length === 0;
  }

  /** `remember` shows the item in memory, and returns how to undo that. Outside a transaction, an item is one of its own. */
  add(item: Item, remember: () => () => void): void {
    if (this.#tables.isInTransaction)
      this.#staged.push({ write: this.#tables.countWrite(), item, undo: remember() });
    else this.#tables.transaction(() => this.add(item, remember));
  }

  /** Writes what is staged so far. */
  write(): void {
    if (this.isEmpty) return;
    const items = this.#staged.map(({ item }) => item);
    this.#write(items);
    this.#staged = [];
  }
}

/** Base of the stores of a room: access to the tables, and numbers that are never given twice. */
export abstract class SqlitePart {
  protected readonly tables: SqliteTables;

  constructor(tables: SqliteTables) {
    this.tables = tables;
  }

  /** Keeps a deleted number from being given again: readers may know it. */
  protected retire(table: string, number: number): void {
    this.tables.write(
      `INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE
       SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))`,
      `last of ${table}`,
      `${number}`,
    );
  }

  /** A number above all that a table has or had. */
  protected nextNumber(table: string, column: string): number {
    const query = `SELECT 1 + max(
      ifnull((SELECT max(${column}) FROM ${table}), 0),
      ifnull((SELECT CAST(value AS INTEGER) FROM facts WHERE name = ?), 0)) AS number`;
    return this.tables.find<{ number: number }>(query, `last of ${table}`)?.number ?? 1;
  }
}
