/** Reads what a replay sends next: from the event log, or from earlier deliveries. */
import type { LogQuery, LogSlice } from "../event-log/log-query.ts";
import { readPage } from "../event-log/page-reader.ts";
import { shardOf } from "../event-log/shards.ts";
import type { DeliveryRecord, OutgoingEvent } from "../port/delivery-record.ts";
import type { ReplayRecord } from "../port/replay.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import { SELECT_DELIVERIES } from "./delivery-table.ts";

/** Events per slice: enqueuing one takes some milliseconds. */
const SLICE = 200;
/** An event may be logged so much later than it happened: its outbox is retried for as long as the log cannot be reached. */
const MAX_LATENESS_MS = 60 * 60 * 1000;

/** The replay as the store keeps it: the latest one, also when it has ended. */
export interface StoredReplay extends ReplayRecord {
  /** Where the next slice begins: the position in each shard that is read, or the number of the latest delivery. */
  readonly positions: readonly (number | null)[];
  /** Deliveries after this one are not looked at: they are the replay's own, or newer. */
  readonly untilSeq: number;
}

export interface Slice {
  readonly events: readonly OutgoingEvent[];
  readonly positions: readonly (number | null)[];
  readonly isLast: boolean;
}

/** The organization's log. */
export interface LogPort {
  readLog(shard: number, query: LogQuery): Promise<LogSlice>;
}

/** The events after the replay's positions, from where it takes them. PrunedError when the log has lost some. */
export async function nextSlice(replay: StoredReplay, store: DeliveryStore, log: LogPort): Promise<Slice> {
  return replay.status === null ? await nextOfLog(replay, log) : nextOfDeliveries(replay, store);
}

async function nextOfLog({ positions, roomId, names, from, to }: StoredReplay, log: LogPort): Promise<Slice> {
  const query = { after: positions, from, until: to + MAX_LATENESS_MS, roomId, names, limit: SLICE };
  const page = await readPage(query, (index, slice) =>
    log.readLog(roomId === null ? index : shardOf(roomId), slice),
  );
  return { events: page.events, positions: page.positions, isLast: !page.hasMore };
}

function nextOfDeliveries({ positions, status, untilSeq }: StoredReplay, store: DeliveryStore): Slice {
  const query = `${SELECT_DELIVERIES} WHERE status = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ${SLICE}`;
  const events = store.read<DeliveryRecord>(query, status, positions[0] ?? 0, untilSeq);
  return { events, positions: [events.at(-1)?.seq ?? untilSeq], isLast: events.length < SLICE };
}

/** Whether the replay is of this event. */
export const isWanted = ({ from, to, roomId, names }: StoredReplay, event: OutgoingEvent): boolean =>
  event.occurredAt >= from &&
  event.occurredAt <= to &&
  (roomId === null || event.roomId === roomId) &&
  names.some((name) => name === event.event);
