/** The tables of a subscriber's object, and what their rows become. */
import { presentTime } from "../../platform/time.ts";
import { EventName } from "../events.ts";
import type { Delivery, LoggedRequest, OutgoingEvent } from "../subscriber-port.ts";

/**
 * `lane` is the room, whose events go in order, or the delivery itself when it was asked for by hand. A first
 * attempt that may not be made twice has its `last_attempt_at` from its beginning on. `log` is an array of what
 * the handler told of each attempt.
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

export type DeliveryStatus = Delivery["status"];

/** All of a delivery, and whose it is; a condition may follow. */
export const SELECT_DELIVERIES =
  "SELECT deliveries.*, subscriber.id AS subscriber_id FROM deliveries, subscriber";

export type DeliveryRow = {
  subscriber_id: string;
  seq: number;
  id: string;
  event_id: string;
  event: string;
  room_id: string;
  occurred_at: number;
  body: string;
  lane: string;
  created_at: number;
  status: string;
  attempts: number;
  last_attempt_at: number | null;
  due_at: number | null;
  error: string | null;
  log: string;
};

export const toOutgoingEvent = (row: DeliveryRow): OutgoingEvent => ({
  eventId: row.event_id,
  event: EventName.parse(row.event),
  roomId: row.room_id,
  body: row.body,
  occurredAt: row.occurred_at,
});

const presentNullable = (epochMs: number | null): string | null =>
  epochMs === null ? null : presentTime(epochMs);

/** A delivery to a webhook. */
export function presentDelivery(row: DeliveryRow): Delivery {
  const log = parseLog(row.log);
  return {
    id: row.id,
    webhook_id: row.subscriber_id,
    event: EventName.parse(row.event),
    payload: row.body,
    status: parseStatus(row.status),
    attempts: row.attempts,
    last_attempt_at: presentNullable(row.last_attempt_at),
    next_retry_at: row.attempts === 0 ? null : presentNullable(row.due_at),
    status_code: log.at(-1)?.status_code ?? null,
    error: row.error,
    created_at: presentTime(row.created_at),
    log,
  };
}

/** As the object wrote them. */
const parseStatus = (status: string): DeliveryStatus => status as DeliveryStatus;
const parseLog = (log: string): LoggedRequest[] => JSON.parse(log) as LoggedRequest[];
