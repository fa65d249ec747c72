/** The tables of a shard: the inboxes of some of an organization's identities. */

import { CHANNELS, type Channel } from "@atrium/contract/resources/notification-settings.ts";
import { DAY_MS } from "@atrium/contract/time.ts";
import { FACTS, ObjectTables, RESTORED_SEQ, type Schema } from "../../../platform/objects/object-tables.ts";

/** An item is shown while `seq` is above `deleted_seq`, and unread while it is above `read_seq`, which is never lower. */
export const SCHEMA: Schema = {
  tables: {
    ...FACTS,
    // Of an identity that was deleted, a row stays: what arrives later has no effect.
    inboxes: `CREATE TABLE IF NOT EXISTS inboxes (
      identity_id TEXT PRIMARY KEY,
      seq INTEGER NOT NULL DEFAULT 0,
      settings TEXT,
      removed_at INTEGER
    ) WITHOUT ROWID;`,
    items: `CREATE TABLE IF NOT EXISTS items (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      identity_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      room_id TEXT NOT NULL,
      subject_id TEXT NOT NULL,
      seq INTEGER NOT NULL,
      read_seq INTEGER NOT NULL,
      deleted_seq INTEGER NOT NULL,
      notified_at INTEGER NOT NULL,
      read_at INTEGER,
      unwanted INTEGER NOT NULL DEFAULT 0,
      UNIQUE (identity_id, room_id, kind, subject_id)
    );
    CREATE INDEX IF NOT EXISTS items_newest ON items (identity_id, notified_at DESC, id DESC);
    CREATE INDEX IF NOT EXISTS items_unread ON items (identity_id, room_id, notified_at) WHERE seq > read_seq;
    CREATE INDEX IF NOT EXISTS items_of_subject ON items (room_id, kind, subject_id);`,
    // Deleted rooms, subjects and activities; empty IDs stand for all. One of many items is due until they are removed.
    removals: `CREATE TABLE IF NOT EXISTS removals (
      room_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      subject_id TEXT NOT NULL,
      activity_id TEXT NOT NULL,
      at INTEGER NOT NULL,
      due INTEGER,
      PRIMARY KEY (room_id, kind, subject_id, activity_id)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS removals_due ON removals (due) WHERE due IS NOT NULL;`,
    // Of activities that are not shown any more, the ID stays: it must have no second effect.
    activities: `CREATE TABLE IF NOT EXISTS activities (
      identity_id TEXT NOT NULL,
      id TEXT NOT NULL,
      item INTEGER,
      seq INTEGER NOT NULL,
      at INTEGER NOT NULL,
      created_by TEXT,
      data TEXT,
      is_mention INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (identity_id, id)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS activities_of_item ON activities (item, seq) WHERE item IS NOT NULL;
    CREATE INDEX IF NOT EXISTS activities_forgotten ON activities (at) WHERE item IS NULL;`,
    // An item waits for a channel from its first unread activity on until it is read.
    waiting: `CREATE TABLE IF NOT EXISTS waiting (
        identity_id TEXT NOT NULL,
        item INTEGER NOT NULL,
        channel TEXT NOT NULL,
        due INTEGER NOT NULL,
        PRIMARY KEY (identity_id, item, channel)
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS waiting_due ON waiting (due);
      CREATE TRIGGER IF NOT EXISTS waiting_read AFTER UPDATE ON items WHEN new.read_seq >= new.seq
      BEGIN DELETE FROM waiting WHERE identity_id = new.identity_id AND item = new.number; END;
      CREATE TRIGGER IF NOT EXISTS waiting_deleted AFTER DELETE ON items
      BEGIN DELETE FROM waiting WHERE identity_id = old.identity_id AND item = old.number; END;`,
    sendings: `CREATE TABLE IF NOT EXISTS sendings (
        id TEXT PRIMARY KEY,
        identity_id TEXT NOT NULL,
        channel TEXT NOT NULL,
        at INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        due INTEGER,
        failures INTEGER NOT NULL DEFAULT 0,
        uncertain INTEGER NOT NULL DEFAULT 0,
        done TEXT NOT NULL DEFAULT '[]',
        items TEXT NOT NULL
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS sendings_newest ON sendings (identity_id, at DESC, id DESC);
      CREATE INDEX IF NOT EXISTS sendings_due ON sendings (due) WHERE due IS NOT NULL;`,
    push_targets: `CREATE TABLE IF NOT EXISTS push_targets (
        identity_id TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        p256dh TEXT NOT NULL,
        auth TEXT NOT NULL,
        origin TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER,
        terms TEXT NOT NULL,
        PRIMARY KEY (identity_id, endpoint)
      ) WITHOUT ROWID;
      CREATE TRIGGER IF NOT EXISTS inboxes_deleted AFTER DELETE ON inboxes BEGIN
        DELETE FROM items WHERE identity_id = old.identity_id;
        DELETE FROM activities WHERE identity_id = old.identity_id;
        DELETE FROM sendings WHERE identity_id = old.identity_id;
        DELETE FROM push_targets WHERE identity_id = old.identity_id;
      END;`,
  },
  migrations: [],
};

/** The column `unwanted` for channels that were not to carry the latest activity when it arrived. */
export const unwantedBy = (channels: readonly Channel[]): number =>
  channels.reduce((bits, channel) => bits | (1 << CHANNELS.indexOf(channel)), 0);
/** The number with which an inbox is made. */
export const FIRST_SEQ = `ifnull((SELECT CAST(value AS INTEGER) FROM facts WHERE name = '${RESTORED_SEQ}'), 0)`;

/** The columns of an item as its fields. */
export const COLUMNS = `number, id, kind, room_id AS roomId, subject_id AS subjectId, seq, read_seq AS readSeq,
  deleted_seq AS deletedSeq, notified_at AS notifiedAt, read_at AS readAt`;

export const KEPT_MS = 90 * DAY_MS;
/** Longer than the delivery of an activity takes that was under way at its removal. */
const REMOVALS_KEPT_MS = DAY_MS;
/** Rows that one alarm looks at for those that are due: an identity has several, and very many may have to wait. */
const DUE_AT_ONCE = 1_000;
/** Rows that one alarm deletes of each table. */
const PRUNED_AT_ONCE = 1_000;

/** The SQLite database of a shard. Empty until the first write. */
export class InboxTables extends ObjectTables {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    super(storage, SCHEMA);
    this.#storage = storage;
  }

  /** When too old content is to be deleted next (epoch ms); null before the first write. */
  get pruneAt(): number | null {
    const row = this.first<{ value: string }>("SELECT value FROM facts WHERE name = 'prune_at'");
    return row && Number(row.value);
  }

  planPruning(at: number): void {
    this.write("INSERT OR REPLACE INTO facts VALUES ('prune_at', ?)", String(at));
  }

  /** When the next notification, sending or removal is due (epoch ms); null without any. */
  get dueAt(): number | null {
    const query = `SELECT min(due) AS due FROM (SELECT min(due) AS due FROM waiting
      UNION ALL SELECT min(due) FROM sendings WHERE due IS NOT NULL
      UNION ALL SELECT min(due) FROM removals WHERE due IS NOT NULL)`;
    return this.first<{ due: number | null }>(query)?.due ?? null;
  }

  /** Identities whose notifications or sendings are due, of those that have waited longest. */
  dueIdentities(now: number, limit: number): string[] {
    const longest = (table: string) =>
      `SELECT * FROM (SELECT identity_id AS id FROM ${table} WHERE due <= ?1 ORDER BY due LIMIT ${DUE_AT_ONCE})`;
    const query = `SELECT DISTINCT id FROM (${longest("waiting")} UNION ALL ${longest("sendings")}) LIMIT ?2`;
    return this.read<{ id: string }>(query, now, limit).map(({ id }) => id);
  }

  /** Numbers of changes are beyond this one, also in inboxes that are made later. */
  skipTo(seq: number): void {
    this.write("UPDATE inboxes SET seq = max(seq, ?)", seq);
    this.write("INSERT OR REPLACE INTO facts VALUES (?, ?)", RESTORED_SEQ, String(seq));
  }

  /** After a restore: notifications and sendings stop waiting, and rooms may have what had been deleted again. */
  forgetDue(): void {
    this.write("DELETE FROM removals");
    this.write("DELETE FROM waiting");
    this.write("UPDATE sendings SET outcome = 'failed', due = NULL, done = '[]' WHERE due IS NOT NULL");
  }

  /** Deletes the inbox of an identity. Later deliveries to it have no effect. */
  remove(identityId: string, now: number): void {
    this.transaction(() => {
      this.create();
      this.write("DELETE FROM inboxes WHERE identity_id = ?", identityId);
      this.write("INSERT INTO inboxes (identity_id, removed_at) VALUES (?, ?)", identityId, now);
    });
  }

  /** Deletes some of what is too old, and the inboxes that have become empty. True while there is more of it. */
  prune(now: number): boolean {
    return this.transaction(() => {
      const cut = now - KEPT_MS;
      const old = this.read<{ number: number }>(
        `SELECT items.number FROM inboxes CROSS JOIN items ON items.identity_id = inboxes.identity_id
         WHERE items.notified_at <= ? LIMIT ?`,
        ...[cut, PRUNED_AT_ONCE],
      ).map(({ number }) => number);
      deleteItems(this, old);
      this.write("DELETE FROM removals WHERE at <= ? AND due IS NULL", now - REMOVALS_KEPT_MS);
      const marks = this.read(
        `DELETE FROM activities WHERE (identity_id, id) IN (
           SELECT identity_id, id FROM activities WHERE item IS NULL AND at <= ? ORDER BY at LIMIT ?) RETURNING 1`,
        ...[cut, PRUNED_AT_ONCE],
      ).length;
      const sendings = this.read(
        `DELETE FROM sendings WHERE id IN (
           SELECT sendings.id FROM inboxes CROSS JOIN sendings ON sendings.identity_id = inboxes.identity_id
           WHERE at <= ? AND due IS NULL LIMIT ?) RETURNING 1`,
        ...[cut, PRUNED_AT_ONCE],
      ).length;
      const isMore = Math.max(old.length, marks, sendings) === PRUNED_AT_ONCE;
      if (!isMore) this.#dropEmpty(cut);
      return isMore;
    });
  }

  #dropEmpty(cut: number): void {
    const hasNo = (table: string) =>
      `NOT EXISTS (SELECT 1 FROM ${table} WHERE ${table}.identity_id = inboxes.identity_id)`;
    this.write(
      `DELETE FROM inboxes WHERE settings IS NULL AND ifnull(removed_at, 0) <= ?
         AND ${["items", "activities", "push_targets"].map(hasNo).join(" AND ")}`,
      cut,
    );
  }

  /** False after a restore: the numbers that it has skipped stay skipped. */
  get isEmpty(): boolean {
    const query = "SELECT 1 FROM inboxes UNION ALL SELECT 1 FROM facts WHERE name = ? LIMIT 1";
    return this.first(query, RESTORED_SEQ) === null;
  }

  /** Deletes the whole storage, the alarm included. */
  async clear(): Promise<void> {
    this.forgetTables();
    await this.#storage.deleteAlarm();
    await this.#storage.deleteAll();
  }
}

/** Deletes items by their numbers, and keeps only the IDs of their activities. */
export function deleteItems(tables: ObjectTables, numbers: readonly number[]): void {
  if (numbers.length === 0) return;
  const json = JSON.stringify(numbers);
  tables.write(
    `UPDATE activities SET item = NULL, created_by = NULL, data = NULL
     WHERE item IN (SELECT value FROM json_each(?))`,
    json,
  );
  tables.write("DELETE FROM items WHERE number IN (SELECT value FROM json_each(?))", json);
}
