/** Sends a span of events again: takes them from the log, or from earlier deliveries, a slice at a time. */
import type { LogQuery, LogSlice } from "../../event-log/port/event-log-port.ts";
import { PrunedError, readPage } from "../../event-log/reading/page-reader.ts";
import { SHARDS, shardOf } from "../../event-log/shards/shard-of.ts";
import { type ReplayRecord, type ReplayRequest, replayLane } from "../port/replay.ts";
import type { DeliveryRecord, OutgoingEvent } from "../port/subscriber-port.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import { SELECT_DELIVERIES } from "./delivery-table.ts";

/** Events per slice: enqueuing one takes some milliseconds. */
const SLICE = 200;
/** No further slice is enqueued while so many first attempts wait (retries may have days to wait)… */
const MAX_WAITING = 2_000;
/** …which is looked at again after this time. */
const PAUSE_MS = 1_000;
/** After a failure to read the log. */
const RETRY_MS = 5_000;
/** An event may be logged so much later than it happened: its outbox is retried for as long as the log cannot be reached. */
const MAX_LATENESS_MS = 60 * 60 * 1000;

interface ReplayPorts {
  /** Epoch milliseconds. */
  now(): number;
  newId(): string;
  /** Reads a shard of the organization's log. */
  readLog(shard: number, query: LogQuery): Promise<LogSlice>;
}

/** The replay as the store keeps it: the latest one, also when it has ended. */
interface StoredReplay extends ReplayRecord {
  /** Where the next slice begins: the position in each shard that is read, or the number of the latest delivery. */
  readonly positions: readonly (number | null)[];
  /** Deliveries after this one are not looked at: they are the replay's own, or newer. */
  readonly untilSeq: number;
}

interface Slice {
  readonly events: readonly OutgoingEvent[];
  readonly positions: readonly (number | null)[];
  readonly isLast: boolean;
}

const FACT = "replay";

export class Replay {
  readonly #store: DeliveryStore;
  readonly #ports: ReplayPorts;
  #isStepping = false;
  /** The next slice has to wait until then (epoch ms). */
  #notBefore = 0;

  constructor(store: DeliveryStore, ports: ReplayPorts) {
    this.#store = store;
    this.#ports = ports;
  }

  get #stored(): StoredReplay | null {
    const json = this.#store.readFact(FACT);
    return json === null ? null : parseReplay(json);
  }

  #write(replay: StoredReplay): void {
    this.#store.writeFact(FACT, JSON.stringify(replay));
  }

  /** The latest replay; null when there was none. */
  find(): ReplayRecord | null {
    const stored = this.#stored;
    if (stored === null) return null;
    const { positions: _, untilSeq: __, ...record } = stored;
    return record;
  }

  /** Starts a replay; null while another one is running. */
  start(request: ReplayRequest): ReplayRecord | null {
    const latest = this.#stored;
    if (latest !== null && latest.endedAt === null) return null;
    const { status, roomId } = request;
    const ofLog = roomId === null ? new Array<null>(SHARDS).fill(null) : [null];
    this.#write({
      ...request,
      id: this.#ports.newId(),
      deliveries: 0,
      startedAt: this.#ports.now(),
      endedAt: null,
      error: null,
      positions: status === null ? ofLog : [0],
      untilSeq: this.#store.lastSeq(),
    });
    return this.find();
  }

  /** Ends the replay, if one is running. What it has enqueued stays. */
  end(error: string): void {
    const stored = this.#stored;
    if (stored !== null && stored.endedAt === null)
      this.#write({ ...stored, endedAt: this.#ports.now(), error });
  }

  /** When the next slice may be enqueued (epoch ms); null when no replay is running. */
  dueAt(): number | null {
    const stored = this.#stored;
    if (stored === null || stored.endedAt !== null || this.#isStepping) return null;
    return Math.max(this.#ports.now(), this.#notBefore);
  }

  /** Enqueues the next slice if it is due; true if it did. Rejects when the log cannot be read: it is tried again. */
  async step(): Promise<boolean> {
    const replay = this.#stored;
    const dueAt = this.dueAt();
    if (replay === null || dueAt === null || dueAt > this.#ports.now()) return false;
    if (this.#store.hasFirsts(MAX_WAITING)) {
      this.#notBefore = this.#ports.now() + PAUSE_MS;
      return false;
    }
    this.#isStepping = true;
    try {
      const slice = await this.#next(replay);
      // The subscriber may have been deleted or disabled meanwhile.
      const current = this.#stored;
      if (current?.id === replay.id && current.endedAt === null) this.#enqueue(replay, slice);
      return true;
    } catch (error) {
      this.#notBefore = this.#ports.now() + RETRY_MS;
      if (!(error instanceof PrunedError)) throw error;
      this.end("Events of the span were deleted before they could be sent: the log keeps them no longer");
      return false;
    } finally {
      this.#isStepping = false;
    }
  }

  /** Writes the events and how far the replay is in one transaction, so that a crash repeats and skips none. */
  #enqueue(replay: StoredReplay, { events, positions, isLast }: Slice): void {
    const { id, from, to, roomId, names } = replay;
    const now = this.#ports.now();
    const wanted = events.filter(
      (event) =>
        event.occurredAt >= from &&
        event.occurredAt <= to &&
        (roomId === null || event.roomId === roomId) &&
        names.some((name) => name === event.event),
    );
    this.#store.transaction(() => {
      for (const event of wanted) this.#store.insert(event, replayLane(id, event.roomId), now);
      const deliveries = replay.deliveries + wanted.length;
      this.#write({ ...replay, positions, deliveries, endedAt: isLast ? now : null });
    });
  }

  #next(replay: StoredReplay): Promise<Slice> | Slice {
    return replay.status === null ? this.#nextOfLog(replay) : this.#nextOfDeliveries(replay);
  }

  async #nextOfLog({ positions, roomId, names, from, to }: StoredReplay): Promise<Slice> {
    const query = {
      after: positions,
      from: from,
      until: to + MAX_LATENESS_MS,
      roomId,
      names,
      limit: SLICE,
    };
    const page = await readPage(query, (index, slice) =>
      this.#ports.readLog(roomId === null ? index : shardOf(roomId), slice),
    );
    return { events: page.events, positions: page.positions, isLast: !page.hasMore };
  }

  #nextOfDeliveries({ positions, status, untilSeq }: StoredReplay): Slice {
    const query = `${SELECT_DELIVERIES} WHERE status = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ${SLICE}`;
    const events = this.#store.read<DeliveryRecord>(query, status, positions[0] ?? 0, untilSeq);
    return { events, positions: [events.at(-1)?.seq ?? untilSeq], isLast: events.length < SLICE };
  }
}

/** As {@link Replay} wrote it. */
const parseReplay = (json: string): StoredReplay => JSON.parse(json) as StoredReplay;
