/** What is shown of a subscriber's deliveries, and for how long. */

import type { OutgoingEvent } from "../subscriber-port.ts";
import {
  type DeliveryRow,
  type DeliveryStatus,
  SELECT_DELIVERIES,
  toOutgoingEvent,
} from "./delivery-table.ts";
import type { SubscriberStorage } from "./subscriber-storage.ts";

/** Of the deliveries that are over, so many are kept, the latest ones, and none for longer than this. */
export const MAX_KEPT = 1_000;
export const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** For so long an event that is handed over once more is known; whoever hands over tries again within seconds. */
const KNOWN_MS = 24 * 60 * 60 * 1000;
/** A page ends with what goes beyond it: 32 MiB is what one object can answer another. */
export const MAX_PAGE_CHARS = 4 * 1024 * 1024;

/** `over` is all but what is pending. */
export type StatusFilter = DeliveryStatus | "over" | "any";

const WHERE: Readonly<Record<StatusFilter, string>> = {
  any: "",
  over: "WHERE status <> 'pending'",
  pending: "WHERE status = 'pending'",
  success: "WHERE status = 'success'",
  failed: "WHERE status = 'failed'",
};

export class DeliveryHistory {
  readonly #storage: SubscriberStorage;

  constructor(storage: SubscriberStorage) {
    this.#storage = storage;
  }

  find(seq: number): DeliveryRow | null {
    return this.#storage.read<DeliveryRow>(`${SELECT_DELIVERIES} WHERE seq = ?`, seq)[0] ?? null;
  }

  /** The latest delivery of the event. */
  findByEvent(eventId: string): DeliveryRow | null {
    const query = `${SELECT_DELIVERIES} WHERE event_id = ? ORDER BY seq DESC LIMIT 1`;
    return this.#storage.read<DeliveryRow>(query, eventId)[0] ?? null;
  }

  findEnvelope(id: string): OutgoingEvent | null {
    const [row] = this.#storage.read<DeliveryRow>(`${SELECT_DELIVERIES} WHERE deliveries.id = ?`, id);
    return row === undefined ? null : toOutgoingEvent(row);
  }

  /** A page, newest first, and how many there are. It ends early rather than grow beyond all bounds. */
  list(
    standing: StatusFilter,
    limit: number,
    offset: number,
  ): { readonly rows: DeliveryRow[]; readonly total: number } {
    const where = WHERE[standing];
    const [counted] = this.#storage.read<{ total: number }>(
      `SELECT count(*) AS total FROM deliveries ${where}`,
    );
    const rows: DeliveryRow[] = [];
    let chars = 0;
    const query = `${SELECT_DELIVERIES} ${where} ORDER BY seq DESC LIMIT ? OFFSET ?`;
    for (const row of this.#storage.iterate<DeliveryRow>(query, limit, offset)) {
      chars += row.body.length + row.log.length;
      if (rows.length > 0 && chars > MAX_PAGE_CHARS) break;
      rows.push(row);
    }
    return { rows, total: counted?.total ?? 0 };
  }

  /** Forgets what was over long ago, or has too much after it. */
  prune(now: number): void {
    this.#storage.write(
      `DELETE FROM deliveries WHERE status <> 'pending' AND seq <=
         (SELECT seq FROM deliveries WHERE status <> 'pending' ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
      MAX_KEPT,
    );
    this.#storage.write("DELETE FROM deliveries WHERE status <> 'pending' AND created_at < ?", now - KEPT_MS);
    this.#storage.write("DELETE FROM known WHERE at < ?", now - KNOWN_MS);
  }

  /** When something of what is kept is to be forgotten (epoch ms); null when nothing is kept. */
  forgetAt(): number | null {
    const query = "SELECT min(created_at) AS at FROM deliveries WHERE status <> 'pending'";
    const at = this.#storage.read<{ at: number | null }>(query)[0]?.at ?? null;
    return at === null ? null : at + KEPT_MS;
  }
}
