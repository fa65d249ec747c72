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
const STATUSES: readonly DeliveryStatus[] = ["pending", "success", "failed"];

interface DeliveryOptions {
  /** True when the event must not be enqueued again. */
  readonly isFirst?: boolean;
  readonly id?: string;
}

type WrittenDelivery = DeliveryRecord & { readonly lane: string; readonly isFirst: boolean };
type NewDelivery = WrittenDelivery & Job;

/** Bytes of a delivery on disk besides its texts, its places in the indexes included. */
const ROW_BYTES = 600;
const bytesOf = (row: "NEW" | "OLD" | "deliveries"): string =>
  `${ROW_BYTES} + length(CAST(${row}.body AS BLOB)) + length(CAST(${row}.log AS BLOB))`;

/** A random ID that begins with the delivery's number in hexadecimal, so that no index has to find it. */
const newDeliveryId = (seq: number): string => {
  const number = seq.toString(16).padStart(12, "0");
  return `${number.slice(0, 8)}-${number.slice(8)}-8${crypto.randomUUID().slice(15)}`;
};
const seqOf = (id: string): number => Number.parseInt(`${id.slice(0, 8)}${id.slice(9, 13)}`, 16) || 0;

/** Takes the old row out of the totals, if they count it, and adds the new one. */
function recount(...terms: readonly (readonly [sign: "+" | "-", row: "OLD" | "NEW"])[]): string {
  const changes = STATUSES.map((status) => {
    const rows = terms.map(([sign, row]) => `${sign} (${row}.status = '${status}')`).join(" ");
    const bytes = terms.map(([sign, row]) => `${sign} iif(${row}.status = '${status}', ${bytesOf(row)}, 0)`);
    return `${status} = ${status} ${rows}, ${status}_bytes = ${status}_bytes ${bytes.join(" ")}`;
  });
  return `WHEN OLD.seq <= (SELECT counted_seq FROM totals) BEGIN UPDATE totals SET ${changes.join()}; END;`;
}

/** The planner would rather read and sort all that is pending. */
const FIRSTS = "INDEXED BY deliveries_first WHERE status = 'pending' AND attempts = 0";
const RETRIES = "INDEXED BY deliveries_retry WHERE status = 'pending' AND attempts > 0";

/** The place of a retry among all, which are in the order of their times. */
export type RetryPlace = readonly [dueAt: number, seq: number];
const BROUGHT_TOGETHER = 500;

export class DeliveryStore extends ObjectTables implements WaitingJobs {
  readonly #storage: DurableObjectStorage;
  #key: SubscriberKey | null = null;
  /** Deliveries that storage does not have, by their numbers, which rise. */
  readonly #held = new Map<number, NewDelivery>();
  /** No number is given twice in one life of the object, whatever is deleted. */
  #lastSeq = 0;
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
    this.#held.clear();
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

  /** Whether the event was enqueued before; then it stays known for a day from `now` (epoch ms) on. */
  isKnown(eventId: string, now: number): boolean {
    if (this.heldSeq(eventId) !== null || this.findByEvent(eventId) !== null) return true;
    return this.read("UPDATE known SET at = ? WHERE event_id = ? RETURNING at", now, eventId).length > 0;
  }

  /** The kept delivery by which the event was enqueued. */
  findByEvent(eventId: string): DeliveryRecord | null {
    return this.first<DeliveryRecord>(`${SELECT_DELIVERIES} WHERE event_id = ? AND is_first = 1`, eventId);
  }

  /** Recognizes the events of deliveries that are about to be deleted, as if enqueued at `since` (epoch ms) or later. */
  rememberEvents(deliveries: string, since: number, ...params: SqlStorageValue[]): void {
    this.write(
      `INSERT OR IGNORE INTO known SELECT event_id, max(created_at, ?) FROM deliveries
       WHERE is_first = 1 AND seq IN (${deliveries})`,
      since,
      ...params,
    );
  }

  /** Writes a delivery that is due at once, and returns its number. */
  insert(event: OutgoingEvent, lane: string | null, now: number, options: DeliveryOptions = {}): number {
    const delivery = this.#newDelivery(event, lane, now, options);
    this.#write(delivery);
    return delivery.seq;
  }

  /**
   * Adds a delivery that storage has only after {@link recordOutcome} or {@link writeHeld}: until then the caller
   * keeps the event.
   */
  hold(event: OutgoingEvent, lane: string, now: number): void {
    const held = this.#newDelivery(event, lane, now, { isFirst: true });
    this.#held.set(held.seq, held);
  }

  isHeld(seq: number): boolean {
    return this.#held.has(seq);
  }

  holdsLane(lane: string): boolean {
    return [...this.#held.values()].some((held) => held.lane === lane);
  }

  get heldDeliveries(): number {
    return this.#held.size;
  }

  /** Writes the held deliveries as pending. */
  writeHeld(): void {
    if (this.#held.size === 0) return;
    this.transaction(() => {
      for (const delivery of this.#held.values()) this.#write(delivery);
    });
    this.#held.clear();
  }

  /** Holds deliveries no longer whose outcomes are recorded. */
  release(seqs: readonly number[]): void {
    for (const seq of seqs) this.#held.delete(seq);
  }

  /** The number of the held delivery of an event. */
  heldSeq(eventId: string): number | null {
    return [...this.#held.values()].find((held) => held.eventId === eventId)?.seq ?? null;
  }

  #newDelivery(
    event: OutgoingEvent,
    lane: string | null,
    now: number,
    { isFirst = false, id }: DeliveryOptions,
  ): NewDelivery {
    const seq = this.lastSeq() + 1;
    this.#lastSeq = seq;
    const ownId = id ?? newDeliveryId(seq);
    this.onAdded(lane ?? ownId);
    const { eventId, event: name, roomId, occurredAt, body, trace = null } = event;
    return {
      ...{ seq, id: ownId, eventId, event: name, roomId, occurredAt, body, trace, isFirst },
      ...{ lane: lane ?? ownId, createdAt: now, dueAt: now, status: "pending" },
      ...{ attempts: 0, lastAttemptAt: null, error: null, log: "[]" },
    };
  }

  #write(delivery: WrittenDelivery): void {
    this.write(
      `INSERT INTO deliveries (seq, id, event_id, is_first, event, room_id, occurred_at, lane, created_at, status,
         attempts, last_attempt_at, due_at, error, trace, body, log)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[delivery.seq, delivery.id, delivery.eventId, Number(delivery.isFirst), delivery.event],
      ...[delivery.roomId, delivery.occurredAt, delivery.lane, delivery.createdAt, delivery.status],
      ...[delivery.attempts, delivery.lastAttemptAt, delivery.dueAt, delivery.error, delivery.trace ?? null],
      ...[delivery.body, delivery.log],
    );
  }

  lastSeq(): number {
    return Math.max(this.#lastSeq, this.#storedSeq);
  }

  get #storedSeq(): number {
    const query = "SELECT max(counted_seq, ifnull((SELECT max(seq) FROM deliveries), 0)) AS seq FROM totals";
    return this.first<{ seq: number }>(query)?.seq ?? 0;
  }

  find(seq: number): DeliveryRecord | null {
    return this.#held.get(seq) ?? this.first<DeliveryRecord>(`${SELECT_DELIVERIES} WHERE seq = ?`, seq);
  }

  findById(id: string): DeliveryRecord | null {
    const found = this.find(seqOf(id));
    if (found?.id === id) return found;
    const apart = this.findByEvent(id);
    return apart?.id === id ? apart : null;
  }

  lanesAfter(lane: string, limit: number): string[] {
    const next = (after: string) => `SELECT min(lane) FROM deliveries ${FIRSTS} AND lane > ${after}`;
    const query = `WITH RECURSIVE lanes (lane) AS (
        ${next("?")} UNION ALL SELECT (${next("lanes.lane")}) FROM lanes WHERE lane IS NOT NULL LIMIT ?
      ) SELECT lane FROM lanes WHERE lane IS NOT NULL`;
    const stored = this.read<{ lane: string }>(query, lane, limit).map((row) => row.lane);
    if (this.#held.size === 0) return stored;
    const held = [...this.#held.values()].map((each) => each.lane).filter((each) => each > lane);
    return [...new Set([...stored, ...held])].sort().slice(0, limit);
  }

  firstOf(lane: string, afterSeq: number): Job | null {
    const query = `${SELECT_JOBS} ${FIRSTS} AND lane = ? AND seq > ? ORDER BY seq LIMIT 1`;
    const stored = this.first<Job>(query, lane, afterSeq);
    const held = [...this.#held.values()].find((each) => each.lane === lane && each.seq > afterSeq);
    return held === undefined || (stored !== null && stored.seq < held.seq) ? stored : held;
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

  /** The number of the latest delivery that the stored totals count; those behind it are few. */
  get countedSeq(): number {
    return this.first<{ seq: number }>("SELECT counted_seq AS seq FROM totals")?.seq ?? 0;
  }

  /** The number up to which storage has all deliveries: no earlier one is held. */
  get countableSeq(): number {
    return Math.min(this.#storedSeq, ...[...this.#held.keys()].map((seq) => seq - 1));
  }

  /** The deliveries up to a number, or all. */
  total(status: DeliveryStatus, upTo = Number.MAX_SAFE_INTEGER): Total {
    const query = `SELECT ${status} + ifnull(sum(status = '${status}'), 0) AS deliveries,
        ${status}_bytes + ifnull(sum(iif(status = '${status}', ${bytesOf("deliveries")}, 0)), 0) AS bytes
      FROM totals LEFT JOIN deliveries ON seq > counted_seq AND seq <= ?`;
    return this.first<Total>(query, upTo) ?? { deliveries: 0, bytes: 0 };
  }

  /** Counts the deliveries up to {@link countableSeq} in the stored totals; within a transaction. */
  countAll(): void {
    const upTo = this.countableSeq;
    const totals = STATUSES.map((status) => this.total(status, upTo));
    const counts = totals.flatMap(({ deliveries, bytes }) => [deliveries, bytes]);
    const set = STATUSES.map((status) => `${status} = ?, ${status}_bytes = ?`).join();
    this.write(`UPDATE totals SET ${set}, counted_seq = ?`, ...counts, upTo);
  }

  /** When the oldest delivery with this status was enqueued (epoch ms); null when there is none. */
  oldestAt(status: DeliveryStatus): number | null {
    const query = "SELECT created_at AS at FROM deliveries WHERE status = ? ORDER BY seq LIMIT 1";
    return this.first<{ at: number }>(query, status)?.at ?? null;
  }

  /** When the attempt began that delivered the newest of the delivered events (epoch ms); null when none is kept. */
  lastSuccessAt(): number | null {
    const query =
      "SELECT last_attempt_at AS at FROM deliveries WHERE status = 'success' ORDER BY seq DESC LIMIT 1";
    return this.first<{ at: number | null }>(query)?.at ?? null;
  }

  /**
   * Makes a slice of the retries behind a place due at `at` (epoch ms), except those that were tried since then.
   * Returns their number, and the place of the next slice; null when this was the last one.
   */
  bringForward(
    at: number,
    after: RetryPlace,
  ): { readonly brought: number; readonly next: RetryPlace | null } {
    const slice = `FROM deliveries ${RETRIES} AND (due_at, seq) > (?, ?) ORDER BY due_at, seq LIMIT`;
    const last = `SELECT due_at AS dueAt, seq ${slice} 1 OFFSET ${BROUGHT_TOGETHER - 1}`;
    const next = this.first<Pick<Job, "dueAt" | "seq">>(last, ...after);
    const some = `SELECT seq ${slice} ${BROUGHT_TOGETHER}`;
    this.write(
      `UPDATE deliveries SET due_at = ? WHERE last_attempt_at < ? AND seq IN (${some})`,
      ...[at, at],
      ...after,
    );
    return { brought: this.#changes, next: next && [next.dueAt, next.seq] };
  }

  /** The rows that the latest statement has written. */
  get #changes(): number {
    return this.first<{ rows: number }>("SELECT changes() AS rows")?.rows ?? 0;
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

  /** Fails the deliveries whose first attempt started and has no recorded outcome. Returns their number. */
  failStarted(error: string): number {
    this.write(
      `UPDATE deliveries SET status = 'failed', due_at = NULL, error = ?
       WHERE status = 'pending' AND attempts = 0 AND last_attempt_at IS NOT NULL`,
      error,
    );
    return this.#changes;
  }

  /** Within a transaction, after which a held delivery is to be released. */
  recordOutcome(seq: number, outcome: FinalOutcome): void {
    const { type, attempt } = outcome;
    const dueAt = type === "retry" ? outcome.at : null;
    const error = type === "delivered" ? null : outcome.error;
    const held = this.#held.get(seq);
    if (held !== undefined) {
      const ended = { ...held, status: STATUS_AFTER[type], dueAt, error };
      const lastAttemptAt = attempt === null ? null : Date.parse(attempt.attempted_at);
      this.#write(
        attempt === null ? ended : { ...ended, attempts: 1, lastAttemptAt, log: JSON.stringify([attempt]) },
      );
      return;
    }
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
    this.transaction(() => {
      const held = this.#held.get(seq);
      if (held !== undefined)
        this.write("INSERT OR IGNORE INTO known VALUES (?, ?)", held.eventId, held.createdAt);
      this.rememberEvents("?", 0, seq);
      this.write("DELETE FROM deliveries WHERE seq = ?", seq);
    });
    this.#held.delete(seq);
  }
}

/**
 * - `subscriber`: one row that names the subscriber, because an alarm brings no key; `memory` is the handler's state.
 * - `deliveries`: `lane` is the ordering key, see `Job`. A first attempt that must not be repeated sets
 *   `last_attempt_at` when it starts. `log` is a JSON array of what the handler logged of each attempt. Each step of
 *   the queue has an index, so that none reads more than what is next.
 *   `trace` is that of the request behind the event, as JSON.
 *   `is_first` marks the delivery by which an event was enqueued, so that each is enqueued once.
 * - `known`: the IDs of events that were enqueued, and whose deliveries were deleted early.
 * - `totals`: one row; how many deliveries up to `counted_seq` have each status, with their bytes. Triggers keep
 *   them, so no write can forget them. Later deliveries, which are few, are counted when the totals are read.
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
  totals: `CREATE TABLE IF NOT EXISTS totals (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    counted_seq INTEGER NOT NULL DEFAULT 0,
    ${STATUSES.map((status) => `${status} INTEGER NOT NULL DEFAULT 0, ${status}_bytes INTEGER NOT NULL DEFAULT 0`)}
  );
  INSERT OR IGNORE INTO totals (only_row) VALUES (1);`,
  deliveries: `CREATE TABLE IF NOT EXISTS deliveries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    is_first INTEGER NOT NULL,
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
  CREATE UNIQUE INDEX IF NOT EXISTS deliveries_of_events ON deliveries (event_id) WHERE is_first = 1;
  CREATE TRIGGER IF NOT EXISTS deliveries_delete AFTER DELETE ON deliveries ${recount(["-", "OLD"])}
  CREATE TRIGGER IF NOT EXISTS deliveries_update AFTER UPDATE OF status, log, body ON deliveries
  ${recount(["-", "OLD"], ["+", "NEW"])}`,
  known: `CREATE TABLE IF NOT EXISTS known (event_id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
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
