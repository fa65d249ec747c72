/** Sends a span of events again: takes them from the log, or from earlier deliveries, a slice at a time. */
import { PrunedError } from "../event-log/page-reader.ts";
import { SHARDS } from "../event-log/shards.ts";
import { type ReplayRecord, type ReplayRequest, replayLane } from "../port/replay.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import { isWanted, type LogPort, nextSlice, type Slice, type StoredReplay } from "./replay-slices.ts";

/** No further slice is enqueued while so many first attempts wait (retries may have days to wait)… */
const MAX_WAITING = 2_000;
/** …which is looked at again after this time. */
const PAUSE_MS = 1_000;
/** After a failure to read the log. */
const RETRY_MS = 5_000;

interface ReplayPorts extends LogPort {
  /** Epoch milliseconds. */
  now(): number;
  newId(): string;
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
      const slice = await nextSlice(replay, this.#store, this.#ports);
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
    const now = this.#ports.now();
    const wanted = events.filter((event) => isWanted(replay, event));
    this.#store.transaction(() => {
      for (const event of wanted) this.#store.insert(event, replayLane(replay.id, event.roomId), now);
      const deliveries = replay.deliveries + wanted.length;
      this.#write({ ...replay, positions, deliveries, endedAt: isLast ? now : null });
    });
  }
}

/** As {@link Replay} wrote it. */
const parseReplay = (json: string): StoredReplay => JSON.parse(json) as StoredReplay;
