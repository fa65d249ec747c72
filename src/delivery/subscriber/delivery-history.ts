/** The deliveries of a subscriber as lists show them. */
import type {
  DeliveryPage,
  DeliveryQuery,
  DeliveryRecord,
  DeliveryStatus,
  StatusFilter,
} from "../port/subscriber-port.ts";
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

/** A search for events or a room looks at so many deliveries, the newest first: no index serves it. */
const MAX_SEARCHED = 10_000;
const rowsWith = (status: DeliveryStatus): string =>
  `SELECT seq, event, room_id FROM deliveries WHERE status = '${status}'`;
const FROM_ROWS: Readonly<Record<StatusFilter, string>> = {
  any: "SELECT seq, event, room_id FROM deliveries",
  over: `${rowsWith("success")} UNION ALL ${rowsWith("failed")}`,
  pending: rowsWith("pending"),
  success: rowsWith("success"),
  failed: rowsWith("failed"),
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
  list(filter: StatusFilter, { limit, offset, event, roomId }: DeliveryQuery): DeliveryPage {
    if (event !== undefined || roomId !== undefined) {
      const params = [event ?? null, event ?? null, roomId ?? null, roomId ?? null];
      const matching = `FROM (SELECT seq, event, room_id FROM (${FROM_ROWS[filter]}) ORDER BY seq DESC LIMIT ${MAX_SEARCHED})
        WHERE (? IS NULL OR event = ?) AND (? IS NULL OR room_id = ?)`;
      const counted = this.#store.read<{ total: number }>(`SELECT count(*) AS total ${matching}`, ...params);
      const query = `${SELECT_DELIVERIES} WHERE seq IN (SELECT seq ${matching} ORDER BY seq DESC LIMIT ? OFFSET ?) ORDER BY seq DESC`;
      return { deliveries: this.#page(query, ...params, limit, offset), total: counted[0]?.total ?? 0 };
    }
    const total = STATUSES[filter].reduce((sum, status) => sum + this.#store.total(status).deliveries, 0);
    const query = `${FROM[filter]} ORDER BY seq DESC LIMIT ? OFFSET ?`;
    return { deliveries: this.#page(query, limit, offset), total };
  }

  /** As many rows as may be returned. */
  #page(query: string, ...params: SqlStorageValue[]): DeliveryRecord[] {
    const deliveries: DeliveryRecord[] = [];
    let chars = 0;
    for (const delivery of this.#store.iterate<DeliveryRecord>(query, ...params)) {
      chars += delivery.body.length + delivery.log.length;
      if (deliveries.length > 0 && chars > MAX_PAGE_CHARS) break;
      deliveries.push(delivery);
    }
    return deliveries;
  }
}
