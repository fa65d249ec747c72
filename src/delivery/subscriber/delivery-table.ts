/** The tables of a subscriber's object. */

/**
 * - `subscriber`: one row that names the subscriber, because an alarm brings no key; `memory` is the handler's state.
 * - `deliveries`: `lane` is the ordering key, see `Job`. A first attempt that must not be repeated sets
 *   `last_attempt_at` when it starts. `log` is a JSON array of what the handler logged of each attempt.
 * - `known`: the event ids that were enqueued, so that each is enqueued once.
 */
export const TABLES = `
  CREATE TABLE IF NOT EXISTS subscriber (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    kind TEXT NOT NULL,
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    memory TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS deliveries (
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
    log TEXT NOT NULL DEFAULT '[]'
  );
  CREATE INDEX IF NOT EXISTS deliveries_pending ON deliveries (seq) WHERE status = 'pending';
  CREATE INDEX IF NOT EXISTS deliveries_over ON deliveries (seq) WHERE status <> 'pending';
  CREATE INDEX IF NOT EXISTS deliveries_old ON deliveries (created_at) WHERE status <> 'pending';
  CREATE TABLE IF NOT EXISTS known (event_id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS known_oldest ON known (at);`;

/** Selects `DeliveryRecord`s; a condition may follow. */
export const SELECT_DELIVERIES = `SELECT seq, id, event_id AS eventId, event, room_id AS roomId,
  occurred_at AS occurredAt, body, created_at AS createdAt, status, attempts,
  last_attempt_at AS lastAttemptAt, due_at AS dueAt, error, log FROM deliveries`;
