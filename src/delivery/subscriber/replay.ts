/** Replays a span of events from the log, or from earlier deliveries, a chunk at a time. */
import { parseStored } from "@atrium/contract/stored.ts";
import { type LogQuery, type LogSlice, PrunedError, readPage } from "../event-log/log-page.ts";
import { SHARDS, shardOf } from "../event-log/shards.ts";
import { mentionedIn, type OutgoingEvent } from "../outbox/subscription.ts";
import type { DeliveryRecord, ReplayRecord, ReplayRequest } from "./delivery.ts";
import { type DeliveryStore, type RetryPlace, SELECT_DELIVERIES } from "./delivery-store.ts";
import { replayLane } from "./scheduler.ts";

/** The most first attempts that wait when another chunk is enqueued. Retries may have days to wait. */
const MAX_WAITING = 2_000;
const PAUSE_MS = 1_000;
const RETRY_MS = 5_000;
/** Events per chunk: enqueuing one takes some milliseconds. */
const CHUNK = 200;
/** Longest delay between an event and its place in the log: its outbox is retried while the log cannot be reached. */
const MAX_LATENESS_MS = 60 * 60 * 1000;

interface StoredReplay extends ReplayRecord {
  /** The begin of the next chunk: the position in each shard, or the number of the latest delivery. */
  readonly positions: readonly (number | null)[];
  /** Deliveries above this number are skipped: they are the replay's own, or newer. */
  readonly untilSeq: number;
  /** The place behind which retries are still to be made due; null when none is. That comes first. */
  readonly retriesAfter: RetryPlace | null;
}

interface Chunk {
  readonly events: readonly OutgoingEvent[];
  readonly positions: readonly (number | null)[];
  readonly isLast: boolean;
}

interface LogPort {
  readLog(shard: number, query: LogQuery): Promise<LogSlice>;
}

/** The events after the replay's positions. PrunedError when the log has lost some. */
async function nextChunk(replay: StoredReplay, store: DeliveryStore, log: LogPort): Promise<Chunk> {
  return replay.status === null ? await nextOfLog(replay, log) : nextOfDeliveries(replay, store);
}

async function nextOfLog({ positions, roomId, names, from, to }: StoredReplay, log: LogPort): Promise<Chunk> {
  const query = { after: positions, from, until: to + MAX_LATENESS_MS, roomId, names, limit: CHUNK };
  const page = await readPage(query, (index, slice) =>
    log.readLog(roomId === null ? index : shardOf(roomId), slice),
  );
  return { events: page.events, positions: page.positions, isLast: !page.hasMore };
}

function nextOfDeliveries({ positions, status, untilSeq }: StoredReplay, store: DeliveryStore): Chunk {
  const query = `${SELECT_DELIVERIES} WHERE status = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ${CHUNK}`;
  const events = store.read<DeliveryRecord>(query, status, positions[0] ?? 0, untilSeq);
  return { events, positions: [events.at(-1)?.seq ?? untilSeq], isLast: events.length < CHUNK };
}

/** A failed delivery counts by its latest attempt too: its event may be older, if it was retried or sent again. */
const timesOf = (status: StoredReplay["status"], event: OutgoingEvent & Partial<DeliveryRecord>) =>
  status === "failed" && event.lastAttemptAt != null
    ? [event.occurredAt, event.lastAttemptAt]
    : [event.occurredAt];

const isWanted = (
  { from, to, status, roomId, names, identityId }: StoredReplay,
  event: OutgoingEvent,
): boolean =>
  timesOf(status, event).some((time) => time >= from && time <= to) &&
  (roomId === null || event.roomId === roomId) &&
  names.some((name) => name === event.event) &&
  (identityId === null || identityId === mentionedIn(event));

interface ReplayPorts extends LogPort {
  now(): number;
  newId(): string;
}

const FACT = "replay";

export class Replay {
  readonly #store: DeliveryStore;
  readonly #ports: ReplayPorts;
  #isStepping = false;
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

  find(): ReplayRecord | null {
    const stored = this.#stored;
    if (stored === null) return null;
    const { positions: _, untilSeq: __, retriesAfter: ___, ...record } = stored;
    return record;
  }

  /**
   * Starts a replay; null while another one is running. One of failures first makes all waiting retries due, whenever
   * their events occurred: some of them now, the rest by {@link step}. Within a transaction.
   */
  start(request: ReplayRequest): ReplayRecord | null {
    const latest = this.#stored;
    if (latest !== null && latest.endedAt === null) return null;
    const { status, roomId } = request;
    const now = this.#ports.now();
    const ofLog = roomId === null ? new Array<null>(SHARDS).fill(null) : [null];
    const replay: StoredReplay = {
      ...request,
      id: this.#ports.newId(),
      deliveries: 0,
      startedAt: now,
      endedAt: null,
      error: null,
      positions: status === null ? ofLog : [0],
      untilSeq: this.#store.lastSeq(),
      retriesAfter: status === "failed" ? [now, Number.MAX_SAFE_INTEGER] : null,
    };
    if (replay.retriesAfter === null) this.#write(replay);
    else this.#bringForward(replay, replay.retriesAfter);
    return this.find();
  }

  /** Ends a running replay. Its enqueued deliveries stay. */
  end(error: string): void {
    const stored = this.#stored;
    if (stored !== null && stored.endedAt === null)
      this.#write({ ...stored, endedAt: this.#ports.now(), error });
  }

  /** When the next step may be taken (epoch ms); null when no replay is running. */
  dueAt(): number | null {
    const stored = this.#stored;
    if (stored === null || stored.endedAt !== null || this.#isStepping) return null;
    return Math.max(this.#ports.now(), this.#notBefore);
  }

  /** Takes the next step if it is due; true if it did. Rejects when the log cannot be read: it is tried again. */
  async step(): Promise<boolean> {
    const replay = this.#stored;
    const dueAt = this.dueAt();
    if (replay === null || dueAt === null || dueAt > this.#ports.now()) return false;
    const { retriesAfter } = replay;
    if (retriesAfter !== null) {
      this.#store.transaction(() => this.#bringForward(replay, retriesAfter));
      return true;
    }
    if (this.#store.hasFirsts(MAX_WAITING)) {
      this.#notBefore = this.#ports.now() + PAUSE_MS;
      return false;
    }
    this.#isStepping = true;
    try {
      const chunk = await nextChunk(replay, this.#store, this.#ports);
      // The subscriber may have been deleted or disabled meanwhile.
      const current = this.#stored;
      if (current?.id === replay.id && current.endedAt === null) this.#enqueue(replay, chunk);
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

  #bringForward(replay: StoredReplay, after: RetryPlace): void {
    const { brought, next } = this.#store.bringForward(replay.startedAt, after);
    this.#write({ ...replay, deliveries: replay.deliveries + brought, retriesAfter: next });
  }

  /** Writes the events and how far the replay is in one transaction, so that a crash repeats and skips none. */
  #enqueue(replay: StoredReplay, { events, positions, isLast }: Chunk): void {
    const now = this.#ports.now();
    const wanted = events.filter((event) => isWanted(replay, event));
    this.#store.transaction(() => {
      for (const event of wanted) this.#store.insert(event, replayLane(replay.id, event.roomId), now);
      const deliveries = replay.deliveries + wanted.length;
      this.#write({ ...replay, positions, deliveries, endedAt: isLast ? now : null });
    });
  }
}

const PARSED_AS_NULL = {
  ...{ status: null, roomId: null, identityId: null },
  ...{ endedAt: null, error: null, retriesAfter: null },
};
const parseReplay = (json: string) => parseStored<StoredReplay>(json, PARSED_AS_NULL);
