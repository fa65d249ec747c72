/** What a subscriber is to be given and was given: a row for each, written before anything is done about it. */

import type { OutgoingEvent } from "../subscriber-port.ts";
import { type DeliveryRow, SELECT_DELIVERIES, toOutgoingEvent } from "./delivery-table.ts";
import type { DeliveryProgress } from "./progress.ts";
import type { Job } from "./scheduler.ts";
import type { SubscriberStorage } from "./subscriber-storage.ts";

/** A delivery that is to be written. */
export interface NewDelivery {
  readonly id: string;
  readonly envelope: OutgoingEvent;
  readonly lane: string;
  readonly now: number;
  /** Why it is over before it began; null when it is due at once. */
  readonly refusal: string | null;
}

export class DeliveryStore {
  readonly #storage: SubscriberStorage;

  constructor(storage: SubscriberStorage) {
    this.#storage = storage;
  }

  /** Notes that the event was handed over; false when it was before. */
  recordEventId(eventId: string, now: number): boolean {
    const insertion = "INSERT INTO known VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING at";
    return this.#storage.read(insertion, eventId, now).length > 0;
  }

  insert({ id, envelope, lane, now, refusal }: NewDelivery): Job {
    const [row] = this.#storage.read<{ seq: number }>(
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
    );
    return { seq: row?.seq ?? 0, lane, attempts: 0, dueAt: now };
  }

  /** All that waits, in the order in which it was taken. */
  listPending(): Job[] {
    const query = "SELECT seq, lane, attempts, due_at FROM deliveries WHERE status = 'pending' ORDER BY seq";
    return this.#storage
      .read<{ seq: number; lane: string; attempts: number; due_at: number }>(query)
      .map(({ due_at, ...job }) => ({ ...job, dueAt: due_at }));
  }

  /** What is to be delivered; null when it is not kept any more. */
  findEnvelope(seq: number): OutgoingEvent | null {
    const [row] = this.#storage.read<DeliveryRow>(`${SELECT_DELIVERIES} WHERE seq = ?`, seq);
    return row === undefined ? null : toOutgoingEvent(row);
  }

  /** Marks the delivery as begun, for good once this settles: see {@link Courier.interruption}. */
  async markStarted(seq: number, now: number): Promise<void> {
    this.#storage.write("UPDATE deliveries SET last_attempt_at = ? WHERE seq = ?", now, seq);
    await this.#storage.sync();
  }

  /** Takes the mark back: nothing was begun after all. */
  clearStarted(seq: number): void {
    this.#storage.write("UPDATE deliveries SET last_attempt_at = NULL WHERE seq = ? AND attempts = 0", seq);
  }

  /** Those that were begun, and of which nothing else is known, have failed. */
  failStarted(error: string): void {
    this.#storage.write(
      `UPDATE deliveries SET status = 'failed', due_at = NULL, error = ?
       WHERE status = 'pending' AND attempts = 0 AND last_attempt_at IS NOT NULL`,
      error,
    );
  }

  recordProgress(seq: number, { status, retryAt, attempt, error }: DeliveryProgress): void {
    this.#storage.write(
      "UPDATE deliveries SET status = ?, due_at = ?, error = ? WHERE seq = ?",
      status,
      retryAt,
      error,
      seq,
    );
    if (attempt === null) return;
    this.#storage.write(
      `UPDATE deliveries SET attempts = attempts + 1, last_attempt_at = ?,
         log = json_insert(log, '$[#]', json(?)) WHERE seq = ?`,
      Date.parse(attempt.attempted_at),
      JSON.stringify(attempt),
      seq,
    );
  }

  /** Removes the delivery as if it had never been. */
  remove(seq: number): void {
    this.#storage.write("DELETE FROM deliveries WHERE seq = ?", seq);
  }
}
