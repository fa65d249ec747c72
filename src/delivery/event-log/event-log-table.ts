/** The tables of one shard of an event log. */
import { FACTS, type Schema } from "../../platform/objects/object-tables.ts";
import { HOURS_TABLE, SPANS_TABLE } from "./hourly-count-store.ts";
import type { LoggedEvent } from "./log-query.ts";

/**
 * - `log`: one row; events up to `pruned_seq` are deleted, those up to `last_seq` kept, without a gap.
 * - `events`: three rows written for each, with its places in the two indexes. The numbers rise with `logged_at`, so
 *   neither a read from a time nor the pruning needs an index for it.
 * - `hours` and `spans`: what happened when, for charts. An event counts in the transaction that appends it.
 */
const TABLES = {
  ...FACTS,
  log: `CREATE TABLE IF NOT EXISTS log (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    last_seq INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    pruned_seq INTEGER NOT NULL,
    bytes INTEGER NOT NULL
  );
  INSERT OR IGNORE INTO log VALUES (1, 0, 0, 0, 0);`,
  events: `CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    event TEXT NOT NULL,
    room_id TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    logged_at INTEGER NOT NULL,
    body TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS events_by_room ON events (room_id, seq);`,
  hours: HOURS_TABLE,
  spans: SPANS_TABLE,
};

export const EVENT_LOG_SCHEMA: Schema = { tables: TABLES, migrations: [] };

export type LogRow = { lastSeq: number; lastAt: number; prunedSeq: number; bytes: number };
export const EMPTY: LogRow = { lastSeq: 0, lastAt: 0, prunedSeq: 0, bytes: 0 };

/** A row as a read sees it: the body only if the event is wanted. */
export type ScannedRow = Omit<LoggedEvent, "body"> & { readonly body: string | null };

export const SCAN = `SELECT seq, id AS eventId, event, room_id AS roomId, occurred_at AS occurredAt, logged_at AS loggedAt,
  iif(? IS NULL OR instr(?, json_quote(event)), body, NULL) AS body FROM events`;
