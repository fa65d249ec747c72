/** A subscriber's SQLite database: every delivery is written before its first attempt. Empty until the first write. */
import { FACTS, ObjectTables, type Schema } from "../../platform/objects/object-tables.ts";
import type { OutgoingEvent, SubscriberKey } from "../outbox/subscription.ts";
import type { DeliveryRecord, DeliveryStatus } from "./delivery.ts";
import type { FinalOutcome, HandlerState } from "./handler.ts";
import type { Job, WaitingJobs } from "./scheduler.ts";

type Total = { readonly deliveries: number; readonly bytes: number };

const STATUS_AFTER: Readonly<Record<FinalOutcome["type"], DeliveryStatus>> = {
  delivered: "success",
  retry: "pending",
  failed: "failed",
};

const SELECT_JOBS = "SELECT seq, lane, attempts, due_at AS dueAt FROM deliveries";
/** The planner would rather read and sort all that is pending. */
const FIRSTS = "INDEXED BY deliveries_first WHERE status = 'pending' AND attempts = 0";
const RETRIES = "INDEXED BY deliveries_retry WHERE status = 'pending' AND attempts > 0";

export class DeliveryStore extends ObjectTables implements WaitingJobs {
  readonly #storage: DurableObjectStorage;
  #key: SubscriberKey | null = null;
  onAdded: (lane: string) => void = () => {};

  constructor(storage: DurableObjectStorage) {
    super(storage, SUBSCRIBER_SCHEMA);
    this.#storage = storage;
  }

  /** Creates the tables with the subscriber's key, unless they exist. */
  open({ kind, accountId, id }: SubscriberKey): void {
    if (this.create()) this.write("INSERT INTO subscriber VALUES (1, ?, ?, ?, '{}')", kind, accountId, id);
  }

  /** Removes everything, the alarm included; the platform drops the whole database, whatever its size. */
  async clear(): Promise<void> {
    this.forgetTables();
    this.#key = null;
    await this.#storage.deleteAll();
  }

  readKey(): SubscriberKey | null {
    this.#key ??= this.first<SubscriberKey>("SELECT kind, account_id AS accountId, id FROM subscriber");
    return this.#key;
  }

  readonly handlerState: HandlerState = {
    read: () => this.first<{ memory: string }>("SELECT memory FROM subscriber")?.memory ?? "{}",
    write: (json) => this.write("UPDATE subscriber SET memory = ?", json),
  };

  /** A fact that the queue keeps, as JSON; null before it is written. */
  readFact(name: string): string | null {
    return this.first<{ value: string }>("SELECT value FROM facts WHERE name = ?", name)?.value ?? null;
  }

  writeFact(name: string, json: string | null): void {
    if (json === null) this.write("DELETE FROM facts WHERE name = ?", name);
    else this.write("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, json);
  }

  /** Records that the event was enqueued or repeated now; false when it was enqueued before. */
  recordEventId(eventId: string, now: number): boolean {
    const repeated = this.read("UPDATE known SET at = ? WHERE event_id = ? RETURNING at", now, eventId);
    if (repeated.length === 0) this.write("INSERT INTO known (event_id, at) VALUES (?, ?)", eventId, now);
    return repeated.length === 0;
  }

  linkEvent(eventId: string, seq: number): void {
    this.write("UPDATE known SET seq = ? WHERE event_id = ?", seq, eventId);
  }

  findByEvent(eventId: string): DeliveryRecord | null {
    const query = `${SELECT_DELIVERIES} WHERE seq = (SELECT known.seq FROM known WHERE event_id = ?)`;
    return this.first<DeliveryRecord>(query, eventId);
  }

  /** Writes a delivery that is due at once, in a lane of its own when that is null. Returns its number. */
  insert(event: OutgoingEvent, lane: string | null, now: number, id: string = crypto.randomUUID()): number {
    this.onAdded(lane ?? id);
    const row = this.first<{ seq: number }>(
      `INSERT INTO deliveries (id, event_id, event, room_id, occurred_at, body, lane, created_at, status, due_at, trace)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?) RETURNING seq`,
      id,
      event.eventId,
      event.event,
      event.roomId,
      event.occurredAt,
      event.body,
      lane ?? id,
      now,
      now,
      event.trace ?? null,
    );
    return row?.seq ?? 0;
  }

  lastSeq(): number {
    return this.first<{ seq: number | null }>("SELECT max(seq) AS seq FROM deliveries")?.seq ?? 0;
  }

  find(seq: number): DeliveryRecord | null {
    return this.first<DeliveryRecord>(`${SELECT_DELIVERIES} WHERE seq = ?`, seq);
  }

  findById(id: string): DeliveryRecord | null {
    return this.first<DeliveryRecord>(`${SELECT_DELIVERIES} WHERE id = ?`, id);
  }

  lanesAfter(lane: string, limit: number): string[] {
    const next = (after: string) => `SELECT min(lane) FROM deliveries ${FIRSTS} AND lane > ${after}`;
    const query = `WITH RECURSIVE lanes (lane) AS (
        ${next("?")} UNION ALL SELECT (${next("lanes.lane")}) FROM lanes WHERE lane IS NOT NULL LIMIT ?
      ) SELECT lane FROM lanes WHERE lane IS NOT NULL`;
    return this.read<{ lane: string }>(query, lane, limit).map((row) => row.lane);
  }

  firstOf(lane: string, afterSeq: number): Job | null {
    const query = `${SELECT_JOBS} ${FIRSTS} AND lane = ? AND seq > ? ORDER BY seq LIMIT 1`;
    return this.first<Job>(query, lane, afterSeq);
  }

  /** True if at least `count` first attempts are pending. */
  hasFirsts(count: number): boolean {
    return (
      this.read(`SELECT 1 FROM deliveries ${FIRSTS} AND lane > '' LIMIT 1 OFFSET ?`, count - 1).length > 0
    );
  }

  retries(limit: number): Job[] {
    const query = `${SELECT_JOBS} ${RETRIES} AND due_at >= 0 ORDER BY due_at, seq LIMIT ?`;
    return this.read<Job>(query, limit);
  }

  total(status: DeliveryStatus): Total {
    const query = "SELECT deliveries, bytes FROM totals WHERE status = ?";
    return this.first<Total>(query, status) ?? { deliveries: 0, bytes: 0 };
  }

  /** When the oldest delivery with this status was enqueued (epoch ms); null when there is none. */
  oldestAt(status: DeliveryStatus): number | null {
    const query = "SELECT created_at AS at FROM deliveries WHERE status = ? ORDER BY seq LIMIT 1";
    return this.first<{ at: number }>(query, status)?.at ?? null;
  }

  /** Marks a first attempt that must not be repeated as started; on disk when this resolves. */
  async markStarted(seq: number, now: number): Promise<void> {
    this.write("UPDATE deliveries SET last_attempt_at = ? WHERE seq = ?", now, seq);
    await this.#storage.sync();
  }

  /** Removes the mark: no attempt was made after all. */
  clearStarted(seq: number): void {
    this.write("UPDATE deliveries SET last_attempt_at = NULL WHERE seq = ? AND attempts = 0", seq);
  }

  /** Fails the deliveries whose first attempt started and has no recorded outcome. */
  failStarted(error: string): void {
    this.write(
      `UPDATE deliveries SET status = 'failed', due_at = NULL, error = ?
       WHERE status = 'pending' AND attempts = 0 AND last_attempt_at IS NOT NULL`,
      error,
    );
  }

  recordOutcome(seq: number, outcome: FinalOutcome): void {
    const { type, attempt } = outcome;
    const dueAt = type === "retry" ? outcome.at : null;
    const error = type === "delivered" ? null : outcome.error;
    const ended = "UPDATE deliveries SET status = ?, due_at = ?, error = ?";
    if (attempt === null) {
      this.write(`${ended} WHERE seq = ?`, STATUS_AFTER[type], dueAt, error, seq);
      return;
    }
    this.write(
      `${ended}, attempts = attempts + 1, last_attempt_at = ?, log = json_insert(log, '$[#]', json(?))
       WHERE seq = ?`,
      STATUS_AFTER[type],
      dueAt,
      error,
      Date.parse(attempt.attempted_at),
      JSON.stringify(attempt),
      seq,
    );
  }

  remove(seq: number): void {
    this.write("DELETE FROM deliveries WHERE seq = ?", seq);
  }
}

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

export const SELECT_DELIVERIES = `SELECT seq, id, event_id AS eventId, event, room_id AS roomId,
  occurred_at AS occurredAt, body, created_at AS createdAt, status, attempts,
  last_attempt_at AS lastAttemptAt, due_at AS dueAt, error, log, trace FROM deliveries`;
