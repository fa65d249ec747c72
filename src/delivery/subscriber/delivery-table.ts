/** The tables of a subscriber's object. */
import { FACTS, type Schema } from "../../platform/objects/object-tables.ts";

/** Bytes of a delivery on disk besides its texts, its places in the indexes included. */
const ROW_BYTES = 600;
const bytesOf = (row: "NEW" | "OLD"): string =>
  `${ROW_BYTES} + length(CAST(${row}.body AS BLOB)) + length(CAST(${row}.log AS BLOB))`;

const add = (sign: "+" | "-", row: "NEW" | "OLD"): string =>
  `UPDATE totals SET deliveries = deliveries ${sign} 1, bytes = bytes ${sign} (${bytesOf(row)}) WHERE status = ${row}.status;`;

/**
 * - `subscriber`: one row that names the subscriber, because an alarm brings no key; `memory` is the handler's state.
 * - `deliveries`: `lane` is the ordering key, see `Job`. A first attempt that must not be repeated sets
 *   `last_attempt_at` when it starts. `log` is a JSON array of what the handler logged of each attempt. Each step of
 *   the queue has an index, so that none reads more than what is next.
 *   `trace` is that of the request behind the event, as JSON.
 * - `known`: the event ids that were enqueued, so that each is enqueued once; `seq` is the delivery of one that was
 *   enqueued by hand.
 * - `totals`: how many deliveries have each status, with their bytes. Triggers keep them, so no write can forget them.
 * - `stats`: what the attempts of a time were: `width` is a minute or an hour, `at` its beginning, both in milliseconds.
 */
const TABLES = {
  ...FACTS,
  subscriber: `CREATE TABLE IF NOT EXISTS subscriber (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    kind TEXT NOT NULL,
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    memory TEXT NOT NULL
  );`,
  totals: `CREATE TABLE IF NOT EXISTS totals (status TEXT PRIMARY KEY, deliveries INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
  INSERT OR IGNORE INTO totals VALUES ('pending', 0, 0), ('success', 0, 0), ('failed', 0, 0);`,
  deliveries: `CREATE TABLE IF NOT EXISTS deliveries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    event_id TEXT NOT NULL,
    event TEXT NOT NULL,
    room_id TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    lane TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    last_attempt_at INTEGER,
    due_at INTEGER,
    error TEXT,
    log TEXT NOT NULL DEFAULT '[]',
    trace TEXT
  );
  CREATE INDEX IF NOT EXISTS deliveries_by_status ON deliveries (status, seq);
  CREATE INDEX IF NOT EXISTS deliveries_first ON deliveries (lane, seq) WHERE status = 'pending' AND attempts = 0;
  CREATE INDEX IF NOT EXISTS deliveries_retry ON deliveries (due_at, seq) WHERE status = 'pending' AND attempts > 0;
  CREATE INDEX IF NOT EXISTS deliveries_started ON deliveries (seq)
    WHERE status = 'pending' AND attempts = 0 AND last_attempt_at IS NOT NULL;
  CREATE TRIGGER IF NOT EXISTS deliveries_insert AFTER INSERT ON deliveries BEGIN ${add("+", "NEW")} END;
  CREATE TRIGGER IF NOT EXISTS deliveries_delete AFTER DELETE ON deliveries BEGIN ${add("-", "OLD")} END;
  CREATE TRIGGER IF NOT EXISTS deliveries_update AFTER UPDATE OF status, log, body ON deliveries BEGIN
    ${add("-", "OLD")} ${add("+", "NEW")}
  END;`,
  known: `CREATE TABLE IF NOT EXISTS known (event_id TEXT PRIMARY KEY, at INTEGER NOT NULL, seq INTEGER) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS known_oldest ON known (at);`,
  stats: `CREATE TABLE IF NOT EXISTS stats (
    width INTEGER NOT NULL,
    at INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    latencies TEXT NOT NULL,
    PRIMARY KEY (width, at)
  ) WITHOUT ROWID;`,
};

export const SUBSCRIBER_SCHEMA: Schema = { tables: TABLES, migrations: [] };

/** Selects `DeliveryRecord`s; a condition may follow. */
export const SELECT_DELIVERIES = `SELECT seq, id, event_id AS eventId, event, room_id AS roomId,
  occurred_at AS occurredAt, body, created_at AS createdAt, status, attempts,
  last_attempt_at AS lastAttemptAt, due_at AS dueAt, error, log, trace FROM deliveries`;
