/** The deliveries of a subscriber as lists show them. */
import type { DeliveryPage, DeliveryRecord, DeliveryStatus, StatusFilter } from "../port/subscriber-port.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import { SELECT_DELIVERIES } from "./delivery-table.ts";

/** A page ends before it exceeds this: one object's RPC result may have 32 MiB at most. */
const MAX_PAGE_CHARS = 4 * 1024 * 1024;

/** Both orders come from the index, so that a page reads no more rows than its end is from the newest. */
const withStatus = (status: DeliveryStatus): string => `${SELECT_DELIVERIES} WHERE status = '${status}'`;
const FROM: Readonly<Record<StatusFilter, string>> = {
  any: SELECT_DELIVERIES,
  over: `SELECT * FROM (${withStatus("success")} UNION ALL ${withStatus("failed")})`,
  pending: withStatus("pending"),
  success: withStatus("success"),
  failed: withStatus("failed"),
};

const STATUSES: Readonly<Record<StatusFilter, readonly DeliveryStatus[]>> = {
  any: ["pending", "success", "failed"],
  over: ["success", "failed"],
  pending: ["pending"],
  success: ["success"],
  failed: ["failed"],
};

export class DeliveryHistory {
  readonly #store: DeliveryStore;

  constructor(store: DeliveryStore) {
    this.#store = store;
  }

  findById(id: string): DeliveryRecord | null {
    return this.#store.read<DeliveryRecord>(`${SELECT_DELIVERIES} WHERE id = ?`, id)[0] ?? null;
  }

  /** A page, newest first, and the total; the first delivery is always there, however large. */
  list(filter: StatusFilter, limit: number, offset: number): DeliveryPage {
    const total = STATUSES[filter].reduce((sum, status) => sum + this.#store.total(status).deliveries, 0);
    const deliveries: DeliveryRecord[] = [];
    let chars = 0;
    const query = `${FROM[filter]} ORDER BY seq DESC LIMIT ? OFFSET ?`;
    for (const delivery of this.#store.iterate<DeliveryRecord>(query, limit, offset)) {
      chars += delivery.body.length + delivery.log.length;
      if (deliveries.length > 0 && chars > MAX_PAGE_CHARS) break;
      deliveries.push(delivery);
    }
    return { deliveries, total };
  }
}
