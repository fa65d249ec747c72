/** A subscriber's SQLite database: every delivery is written before its first attempt. Empty until the first write. */
import type { FinalOutcome, HandlerState } from "../handler.ts";
import type {
  DeliveryRecord,
  DeliveryStatus,
  OutgoingEvent,
  SubscriberKey,
} from "../port/subscriber-port.ts";
import { SELECT_DELIVERIES, TABLES } from "./delivery-table.ts";
import type { Job } from "./scheduler.ts";

/** Of the deliveries that are over, the latest ones are kept, this many at most… */
export const MAX_KEPT = 1_000;
/** …and for this long. */
export const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** How long a repeated event id is recognized; the outbox relay retries within seconds. */
const EVENT_ID_KEPT_MS = 24 * 60 * 60 * 1000;
/** A delivery to write. */
export interface NewDelivery {
  readonly id: string;
  readonly event: OutgoingEvent;
  readonly lane: string;
  readonly now: number;
  /** Why it fails without an attempt; null when it is due at once. */
  readonly refusal: string | null;
}

type Row = Record<string, SqlStorageValue>;

const STATUS_AFTER: Readonly<Record<FinalOutcome["type"], DeliveryStatus>> = {
  delivered: "success",
  retry: "pending",
  failed: "failed",
};

export class DeliveryStore {
  readonly #storage: DurableObjectStorage;
  /** False until {@link open}, and after {@link clear}: reads then find nothing, and writes change nothing. */
  #hasTables: boolean;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    const query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'deliveries'";
    this.#hasTables = storage.sql.exec(query).toArray().length > 0;
  }

  *iterate<T extends Row>(query: string, ...params: SqlStorageValue[]): Iterable<T> {
    if (this.#hasTables) yield* this.#storage.sql.exec<T>(query, ...params);
  }

  read<T extends Row>(query: string, ...params: SqlStorageValue[]): T[] {
    return [...this.iterate<T>(query, ...params)];
  }

  write(query: string, ...params: SqlStorageValue[]): void {
    if (this.#hasTables) this.#storage.sql.exec(query, ...params);
  }

  /** Does all of `work` or nothing. */
  transaction<T>(work: () => T): T {
    const hadTables = this.#hasTables;
    try {
      return this.#storage.transactionSync(work);
    } catch (error) {
      this.#hasTables = hadTables; // tables are rolled back like rows
      throw error;
    }
  }

  /** Creates the tables with the subscriber's key, unless they exist. */
  open({ kind, accountId, id }: SubscriberKey): void {
    if (this.#hasTables) return;
    this.#storage.sql.exec(TABLES);
    this.#hasTables = true;
    this.write("INSERT INTO subscriber VALUES (1, ?, ?, ?, '{}')", kind, accountId, id);
  }

  /** Removes everything, the alarm included. */
  async clear(): Promise<void> {
    this.#hasTables = false;
    await this.#storage.deleteAll();
  }

  /** The subscriber's key; null before the first write. */
  readKey(): SubscriberKey | null {
    type KeyRow = { kind: SubscriberKey["kind"]; accountId: string; id: string };
    return this.read<KeyRow>("SELECT kind, account_id AS accountId, id FROM subscriber")[0] ?? null;
  }

  readonly handlerState: HandlerState = {
    read: () => this.read<{ memory: string }>("SELECT memory FROM subscriber")[0]?.memory ?? "{}",
    write: (json) => this.write("UPDATE subscriber SET memory = ?", json),
  };

  /** Records that the event was enqueued; false when it was before. */
  recordEventId(eventId: string, now: number): boolean {
    const insertion = "INSERT INTO known VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING at";
    return this.read(insertion, eventId, now).length > 0;
  }

  insert({ id, event, lane, now, refusal }: NewDelivery): Job {
    const [row] = this.read<{ seq: number }>(
      `INSERT INTO deliveries (id, event_id, event, room_id, occurred_at, body, lane, created_at, status, due_at, error)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
      id,
      event.eventId,
      event.event,
      event.roomId,
      event.occurredAt,
      event.body,
      lane,
      now,
      refusal === null ? "pending" : "failed",
      refusal === null ? now : null,
      refusal,
    );
    return { seq: row?.seq ?? 0, lane, attempts: 0, dueAt: now };
  }

  find(seq: number): DeliveryRecord | null {
    return this.read<DeliveryRecord>(`${SELECT_DELIVERIES} WHERE seq = ?`, seq)[0] ?? null;
  }

  /** All pending deliveries, in the order in which they were enqueued. */
  listPending(): Job[] {
    return this.read<Job>(
      "SELECT seq, lane, attempts, due_at AS dueAt FROM deliveries WHERE status = 'pending' ORDER BY seq",
    );
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
    this.write(
      "UPDATE deliveries SET status = ?, due_at = ?, error = ? WHERE seq = ?",
      STATUS_AFTER[outcome.type],
      outcome.type === "retry" ? outcome.at : null,
      outcome.type === "delivered" ? null : outcome.error,
      seq,
    );
    if (outcome.attempt === null) return;
    this.write(
      `UPDATE deliveries SET attempts = attempts + 1, last_attempt_at = ?,
         log = json_insert(log, '$[#]', json(?)) WHERE seq = ?`,
      Date.parse(outcome.attempt.attempted_at),
      JSON.stringify(outcome.attempt),
      seq,
    );
  }

  remove(seq: number): void {
    this.write("DELETE FROM deliveries WHERE seq = ?", seq);
  }

  /** Deletes what is no longer kept. */
  prune(now: number): void {
    this.write(
      `DELETE FROM deliveries WHERE status <> 'pending' AND seq <=
         (SELECT seq FROM deliveries WHERE status <> 'pending' ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
      MAX_KEPT,
    );
    this.write("DELETE FROM deliveries WHERE status <> 'pending' AND created_at < ?", now - KEPT_MS);
    this.write("DELETE FROM known WHERE at < ?", now - EVENT_ID_KEPT_MS);
  }

  /** When the oldest delivery that is over is to be deleted (epoch ms); null when there is none. */
  pruneAt(): number | null {
    const query = "SELECT min(created_at) AS at FROM deliveries WHERE status <> 'pending'";
    const at = this.read<{ at: number | null }>(query)[0]?.at ?? null;
    return at === null ? null : at + KEPT_MS;
  }
}
