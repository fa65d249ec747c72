/** The tables of a shard: the inboxes of some of an organization's identities. */

import { CHANNELS, type Channel } from "@atrium/contract/resources/notification-settings.ts";
import { DAY_MS } from "@atrium/contract/time.ts";
import { FACTS, ObjectTables, RESTORED_SEQ, type Schema } from "../../../platform/objects/object-tables.ts";
import { ActivityStore } from "./activity-store.ts";

/** An item is shown while `seq` is above `deleted_seq`, and unread while it is above `read_seq`, which is never lower. */
export const SCHEMA: Schema = {
  tables: {
    ...FACTS,
    // Of an identity that was deleted, a row stays: what arrives later has no effect.
    // By `due`, its alarm looks at it: never later than the first of its items and sendings is due.
    inboxes: `CREATE TABLE IF NOT EXISTS inboxes (
      identity_id TEXT PRIMARY KEY,
      seq INTEGER NOT NULL DEFAULT 0,
      due INTEGER,
      settings TEXT,
      removed_at INTEGER
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS inboxes_due ON inboxes (due) WHERE due IS NOT NULL;`,
    // An item that is unread waits for the channels that have a time. Its number follows from its ID.
    items: `CREATE TABLE IF NOT EXISTS items (
      number INTEGER PRIMARY KEY,
      id TEXT NOT NULL,
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
      email_due INTEGER,
      web_push_due INTEGER,
      activities TEXT NOT NULL DEFAULT '[]',
      UNIQUE (room_id, kind, subject_id, identity_id)
    );
    CREATE INDEX IF NOT EXISTS items_newest
      ON items (identity_id, seq > read_seq, notified_at DESC, id DESC, room_id);`,
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
    // The IDs of activities that no item shows any more: they must have no second effect.
    forgotten: `CREATE TABLE IF NOT EXISTS forgotten (
      identity_id TEXT NOT NULL,
      id TEXT NOT NULL,
      seq INTEGER NOT NULL,
      at INTEGER NOT NULL,
      is_mention INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (identity_id, id)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS forgotten_oldest ON forgotten (at);`,
    sendings: `CREATE TABLE IF NOT EXISTS sendings (
        id TEXT NOT NULL,
        identity_id TEXT NOT NULL,
        channel TEXT NOT NULL,
        at INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        due INTEGER,
        failures INTEGER NOT NULL DEFAULT 0,
        uncertain INTEGER NOT NULL DEFAULT 0,
        done TEXT NOT NULL DEFAULT '[]',
        items TEXT NOT NULL,
        PRIMARY KEY (identity_id, at, id)
      ) WITHOUT ROWID;`,
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
        DELETE FROM forgotten WHERE identity_id = old.identity_id;
        DELETE FROM sendings WHERE identity_id = old.identity_id;
        DELETE FROM push_targets WHERE identity_id = old.identity_id;
      END;`,
  },
  migrations: [],
};

/** The column `unwanted` for channels that were not to carry the latest activity when it arrived. */
export const unwantedBy = (channels: readonly Channel[]): number =>
  channels.reduce((bits, channel) => bits | (1 << CHANNELS.indexOf(channel)), 0);
/** When a notification is due (epoch ms), by channel; null while it does not wait. */
export type DueTimes = Readonly<Record<Channel, number | null>>;
/** The columns of items with these times. */
export const DUE_COLUMNS: Readonly<Record<Channel, string>> = { email: "email_due", webPush: "web_push_due" };
/** The first of times (epoch ms); null without any. */
export function earliest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** The number with which an inbox is made. */
export const FIRST_SEQ = `ifnull((SELECT CAST(value AS INTEGER) FROM facts WHERE name = '${RESTORED_SEQ}'), 0)`;

/** The number of an item: 48 random bits of its ID, by which it is found. One that is taken fails, and is delivered anew. */
export const numberOf = (id: string): number => Number.parseInt(`${id.slice(0, 8)}${id.slice(9, 13)}`, 16);

/** The columns of an item as its fields. */
export const COLUMNS = `number, id, kind, room_id AS roomId, subject_id AS subjectId, seq, read_seq AS readSeq,
  deleted_seq AS deletedSeq, notified_at AS notifiedAt, read_at AS readAt`;

export const KEPT_MS = 90 * DAY_MS;
/** Longer than the delivery of an activity takes that was under way at its removal. */
const REMOVALS_KEPT_MS = DAY_MS;
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

  /** When the next inbox or removal is due (epoch ms); null without any. */
  get dueAt(): number | null {
    const query = `SELECT min(due) AS due FROM (SELECT min(due) AS due FROM inboxes WHERE due IS NOT NULL
      UNION ALL SELECT min(due) FROM removals WHERE due IS NOT NULL)`;
    return this.first<{ due: number | null }>(query)?.due ?? null;
  }

  /** Identities whose inboxes are due, those first that have waited longest. */
  dueIdentities(now: number, limit: number): string[] {
    const query = "SELECT identity_id AS id FROM inboxes WHERE due <= ? ORDER BY due LIMIT ?";
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
    const columns = Object.values(DUE_COLUMNS);
    const isDue = columns.map((column) => `${column} IS NOT NULL`).join(" OR ");
    this.write(`UPDATE items SET ${columns.map((column) => `${column} = NULL`).join()} WHERE ${isDue}`);
    this.write("UPDATE inboxes SET due = NULL WHERE due IS NOT NULL");
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
           AND (items.seq > items.read_seq) IN (0, 1)
         WHERE items.notified_at <= ? LIMIT ?`,
        ...[cut, PRUNED_AT_ONCE],
      ).map(({ number }) => number);
      new ActivityStore(this).deleteItems(old);
      this.write("DELETE FROM removals WHERE at <= ? AND due IS NULL", now - REMOVALS_KEPT_MS);
      const marks = this.read(
        `DELETE FROM forgotten WHERE (identity_id, id) IN (
           SELECT identity_id, id FROM forgotten WHERE at <= ? ORDER BY at LIMIT ?) RETURNING 1`,
        ...[cut, PRUNED_AT_ONCE],
      ).length;
      const sendings = this.read(
        `DELETE FROM sendings WHERE (identity_id, at, id) IN (
           SELECT sendings.identity_id, at, id FROM inboxes CROSS JOIN sendings ON sendings.identity_id = inboxes.identity_id
           WHERE at <= ? AND sendings.due IS NULL LIMIT ?) RETURNING 1`,
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
         AND ${["items", "forgotten", "push_targets"].map(hasNo).join(" AND ")}`,
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
