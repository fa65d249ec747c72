/** The deliveries of a subscriber as lists show them. */
import type { DeliveryPage, DeliveryRecord, StatusFilter } from "../port/subscriber-port.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import { SELECT_DELIVERIES } from "./delivery-table.ts";

/** A page ends before it exceeds this: one object's RPC result may have 32 MiB at most. */
const MAX_PAGE_CHARS = 4 * 1024 * 1024;

const WHERE: Readonly<Record<StatusFilter, string>> = {
  any: "",
  over: "WHERE status <> 'pending'",
  pending: "WHERE status = 'pending'",
  success: "WHERE status = 'success'",
  failed: "WHERE status = 'failed'",
};

export class DeliveryHistory {
  readonly #store: DeliveryStore;

  constructor(store: DeliveryStore) {
    this.#store = store;
  }

  /** The latest delivery of the event. */
  findByEvent(eventId: string): DeliveryRecord | null {
    const query = `${SELECT_DELIVERIES} WHERE event_id = ? ORDER BY seq DESC LIMIT 1`;
    return this.#store.read<DeliveryRecord>(query, eventId)[0] ?? null;
  }

  findById(id: string): DeliveryRecord | null {
    return this.#store.read<DeliveryRecord>(`${SELECT_DELIVERIES} WHERE id = ?`, id)[0] ?? null;
  }

  /** A page, newest first, and the total; the first delivery is always there, however large. */
  list(filter: StatusFilter, limit: number, offset: number): DeliveryPage {
    const where = WHERE[filter];
    const [counted] = this.#store.read<{ total: number }>(
      `SELECT count(*) AS total FROM deliveries ${where}`,
    );
    const deliveries: DeliveryRecord[] = [];
    let chars = 0;
    const query = `${SELECT_DELIVERIES} ${where} ORDER BY seq DESC LIMIT ? OFFSET ?`;
    for (const delivery of this.#store.iterate<DeliveryRecord>(query, limit, offset)) {
      chars += delivery.body.length + delivery.log.length;
      if (deliveries.length > 0 && chars > MAX_PAGE_CHARS) break;
      deliveries.push(delivery);
    }
    return { deliveries, total: counted?.total ?? 0 };
  }
}
