/** Lists a subscriber's deliveries, newest first, by status, event and room. */
import type {
  DeliveryPage,
  DeliveryQuery,
  DeliveryRecord,
  DeliveryStatus,
  StatusFilter,
} from "./delivery.ts";
import { type DeliveryStore, SELECT_DELIVERIES } from "./delivery-store.ts";

/** A page ends before it exceeds this: one object's RPC result may have 32 MiB at most. */
const MAX_PAGE_CHARS = 4 * 1024 * 1024;

/** The newest deliveries that a search for events or a room reads: no index serves it. */
const MAX_SEARCHED = 10_000;

/** Both orders come from the index, so that a page reads no more rows than its end is from where it begins. */
const withStatus = (select: string, status: DeliveryStatus): string =>
  `${select} WHERE status = '${status}' AND seq < ?`;
const over = (select: string): string =>
  `SELECT * FROM (${withStatus(select, "success")} UNION ALL ${withStatus(select, "failed")})`;
/** The deliveries before a number, which is a placeholder: `over` has it twice. */
const from = (select: string, filter: StatusFilter): string => {
  if (filter === "any") return `${select} WHERE seq < ?`;
  return filter === "over" ? over(select) : withStatus(select, filter);
};

const STATUSES: Readonly<Record<StatusFilter, readonly DeliveryStatus[]>> = {
  any: ["pending", "success", "failed"],
  over: ["success", "failed"],
  pending: ["pending"],
  success: ["success"],
  failed: ["failed"],
};

/** A page, newest first, and the total; the first delivery is always there, however large. */
export function listDeliveries(
  store: DeliveryStore,
  filter: StatusFilter,
  { limit, offset, event, roomId, beforeSeq = Number.MAX_SAFE_INTEGER }: DeliveryQuery,
): DeliveryPage {
  const bounds = filter === "over" ? [beforeSeq, beforeSeq] : [beforeSeq];
  if (event !== undefined || roomId !== undefined) {
    const params = [...bounds, event ?? null, event ?? null, roomId ?? null, roomId ?? null];
    const rows = from("SELECT seq, event, room_id FROM deliveries", filter);
    const matching = `FROM (${rows} ORDER BY seq DESC LIMIT ${MAX_SEARCHED})
      WHERE (? IS NULL OR event = ?) AND (? IS NULL OR room_id = ?)`;
    const counted = store.first<{ total: number }>(`SELECT count(*) AS total ${matching}`, ...params);
    const page = `${SELECT_DELIVERIES} WHERE seq IN (SELECT seq ${matching} ORDER BY seq DESC LIMIT ? OFFSET ?) ORDER BY seq DESC`;
    return { ...pageOf(store, page, ...params, limit, offset), total: counted?.total ?? 0 };
  }
  const total = STATUSES[filter].reduce((sum, status) => sum + store.total(status).deliveries, 0);
  const page = `${from(SELECT_DELIVERIES, filter)} ORDER BY seq DESC LIMIT ? OFFSET ?`;
  return { ...pageOf(store, page, ...bounds, limit, offset), total };
}

function pageOf(store: DeliveryStore, query: string, ...params: SqlStorageValue[]) {
  const deliveries: DeliveryRecord[] = [];
  let chars = 0;
  for (const delivery of store.iterate<DeliveryRecord>(query, ...params)) {
    chars += delivery.body.length + delivery.log.length;
    if (deliveries.length > 0 && chars > MAX_PAGE_CHARS) return { deliveries, isCut: true };
    deliveries.push(delivery);
  }
  return { deliveries };
}
