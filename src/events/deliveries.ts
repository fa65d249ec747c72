/** A subscriber's queue and its records in the SQLite database of its object; empty until the first write. */
import { type DeliveryRow, envelopeOf, presentDelivery, TABLES } from "./delivery-rows.ts";
import type { Job } from "./drain.ts";
import type { Delivery, Envelope, LoggedAttempt, SubscriberKey } from "./subscriber.ts";

/** Of the deliveries that are over, so many are kept, the latest ones, and none for longer than this. */
export const MAX_KEPT = 1_000;
export const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** For so long an event that is handed over once more is known; whoever hands over tries again within seconds. */
const KNOWN_MS = 24 * 60 * 60 * 1000;

/** A delivery that is to be written. */
export interface NewDelivery {
  readonly id: string;
  readonly envelope: Envelope;
  readonly lane: string;
  readonly now: number;
  /** Why it is over before it began; null when it is due at once. */
  readonly refusal: string | null;
}

/** What became of a delivery by an attempt, or without one. */
export interface Progress {
  readonly status: Delivery["status"];
  readonly retryAt: number | null;
  readonly attempt: LoggedAttempt | null;
  readonly error: string | null;
}

export class Deliveries {
  readonly #storage: DurableObjectStorage;
  #exist: boolean;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    const query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'deliveries'";
    this.#exist = storage.sql.exec(query).toArray().length > 0;
  }

  #read<Row extends Record<string, SqlStorageValue>>(query: string, ...params: SqlStorageValue[]): Row[] {
    return this.#exist ? this.#storage.sql.exec<Row>(query, ...params).toArray() : [];
  }

  /** Does `work` whole or not at all. */
  transaction<T>(work: () => T): T {
    const existed = this.#exist;
    try {
      return this.#storage.transactionSync(work);
    } catch (error) {
      this.#exist = existed; // tables are rolled back like rows
      throw error;
    }
  }

  /** Makes the tables, and notes whose they are: an alarm has nobody to ask. */
  open({ kind, accountId, id }: SubscriberKey): void {
    if (this.#exist) return;
    this.#storage.sql.exec(TABLES);
    this.#exist = true;
    this.#storage.sql.exec("INSERT INTO subscriber VALUES (1, ?, ?, ?, '{}')", kind, accountId, id);
  }

  /** Whose deliveries these are; null before the first. */
  readKey(): SubscriberKey | null {
    const row = this.#read<{ account_id: string; id: string }>("SELECT account_id, id FROM subscriber")[0];
    return row === undefined ? null : { kind: "webhook", accountId: row.account_id, id: row.id };
  }

  /** What the courier has noted, as JSON. */
  readMemory(): string {
    return this.#read<{ memory: string }>("SELECT memory FROM subscriber")[0]?.memory ?? "{}";
  }

  writeMemory(memory: string): void {
    if (this.#exist) this.#storage.sql.exec("UPDATE subscriber SET memory = ?", memory);
  }

  /** Notes that the event was handed over; false when it was before. */
  know(eventId: string, now: number): boolean {
    const { sql } = this.#storage;
    const noted = sql.exec(
      "INSERT INTO known VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING at",
      eventId,
      now,
    );
    return noted.toArray().length > 0;
  }

  insert({ id, envelope, lane, now, refusal }: NewDelivery): Job {
    const [row] = this.#storage.sql
      .exec<{ seq: number }>(
        `INSERT INTO deliveries (id, event_id, event, room_id, occurred_at, body, lane, created_at, status, due_at, error)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
        id,
        envelope.eventId,
        envelope.event,
        envelope.roomId,
        envelope.occurredAt,
        envelope.body,
        lane,
        now,
        refusal === null ? "pending" : "failed",
        refusal === null ? now : null,
        refusal,
      )
      .toArray();
    return { seq: row?.seq ?? 0, lane, attempts: 0, dueAt: now };
  }

  /** All that waits, in the order in which it was taken. */
  listPending(): Job[] {
    return this.#read<{ seq: number; lane: string; attempts: number; due_at: number }>(
      "SELECT seq, lane, attempts, due_at FROM deliveries WHERE status = 'pending' ORDER BY seq",
    ).map(({ due_at, ...job }) => ({ ...job, dueAt: due_at }));
  }

  /** What is to be delivered; null when it is not kept any more. */
  findEnvelope(seq: number): Envelope | null {
    const row = this.#read<DeliveryRow>("SELECT * FROM deliveries WHERE seq = ?", seq)[0];
    return row === undefined ? null : envelopeOf(row);
  }

  findEnvelopeOf(id: string): Envelope | null {
    const row = this.#read<DeliveryRow>("SELECT * FROM deliveries WHERE id = ?", id)[0];
    return row === undefined ? null : envelopeOf(row);
  }

  note(seq: number, { status, retryAt, attempt, error }: Progress): void {
    if (!this.#exist) return;
    this.#storage.sql.exec(
      "UPDATE deliveries SET status = ?, due_at = ?, error = ? WHERE seq = ?",
      status,
      retryAt,
      error,
      seq,
    );
    if (attempt === null) return;
    this.#storage.sql.exec(
      `UPDATE deliveries SET attempts = attempts + 1, last_attempt_at = ?, status_code = ?,
         log = json_insert(log, '$[#]', json(?)) WHERE seq = ?`,
      Date.parse(attempt.attempted_at),
      attempt.status_code,
      JSON.stringify(attempt),
      seq,
    );
  }

  /** Forgets what was over long ago, or has too much after it. */
  prune(now: number): void {
    if (!this.#exist) return;
    const { sql } = this.#storage;
    sql.exec(
      `DELETE FROM deliveries WHERE status <> 'pending' AND seq <=
         (SELECT seq FROM deliveries WHERE status <> 'pending' ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
      MAX_KEPT,
    );
    sql.exec("DELETE FROM deliveries WHERE status <> 'pending' AND created_at < ?", now - KEPT_MS);
    sql.exec("DELETE FROM known WHERE at < ?", now - KNOWN_MS);
  }

  /** When something of what is kept is to be forgotten (epoch ms); null when nothing is kept. */
  forgetAt(): number | null {
    const query = "SELECT min(created_at) AS at FROM deliveries WHERE status <> 'pending'";
    const at = this.#read<{ at: number | null }>(query)[0]?.at ?? null;
    return at === null ? null : at + KEPT_MS;
  }

  find(seq: number): Delivery | null {
    return this.#present("SELECT * FROM deliveries WHERE seq = ?", seq)[0] ?? null;
  }

  /** Newest first. */
  list(
    status: Delivery["status"] | undefined,
    limit: number,
    offset: number,
  ): { deliveries: Delivery[]; total: number } {
    const [where, params] = status === undefined ? ["", []] : ["WHERE status = ?", [status]];
    const counted = this.#read<{ total: number }>(
      `SELECT count(*) AS total FROM deliveries ${where}`,
      ...params,
    );
    const deliveries = this.#present(
      `SELECT * FROM deliveries ${where} ORDER BY seq DESC LIMIT ? OFFSET ?`,
      ...params,
      limit,
      offset,
    );
    return { deliveries, total: counted[0]?.total ?? 0 };
  }

  #present(query: string, ...params: SqlStorageValue[]): Delivery[] {
    const webhookId = this.readKey()?.id ?? "";
    return this.#read<DeliveryRow>(query, ...params).map((row) => presentDelivery(row, webhookId));
  }

  /** Removes everything. */
  async clear(): Promise<void> {
    this.#exist = false;
    await this.#storage.deleteAll();
  }
}
