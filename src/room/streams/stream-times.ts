/** When streams end: at a time, or when no one has read or written them for their TTL. */
import type { StoredStream } from "../storage/sqlite-streams.ts";
import type { RoomStorage } from "../storage/storage.ts";
import type { StreamCreation } from "../types/streams.ts";
import type { LiveReads } from "./live-reads.ts";

interface TimePorts {
  readonly storage: Pick<RoomStorage, "streams">;
  now(): number;
  planAlarm(): void;
}

/**
 * A TTL's end is written with a reserve, of which each use takes some: most uses write no row. The end in memory is exact,
 * and after a crash a stream lives on for the reserve at most.
 */
const RESERVE = 0.1;
/** Until the room looks again at a stream that someone reads. */
const MIN_WAIT_MS = 1_000;

type Times = Pick<StoredStream, "ttl" | "endsAt">;

export class StreamTimes {
  readonly #ports: TimePorts;
  readonly #live: Pick<LiveReads, "has">;
  /** The exact ends of streams with a TTL that were used in this life of the room. */
  readonly #ends = new Map<number, number>();

  constructor(ports: TimePorts, live: Pick<LiveReads, "has">) {
    this.#ports = ports;
    this.#live = live;
  }

  /** A new stream's times. A fork that asks for none has those of its source. */
  of({ ttlSeconds, expiresAt }: StreamCreation, source: StoredStream | null, now: number): Times {
    const isOwn = ttlSeconds !== null || expiresAt !== null || source === null;
    const ttl = isOwn ? ttlSeconds : source.ttl;
    if (ttl === null) return { ttl, endsAt: isOwn ? expiresAt : source.endsAt };
    return { ttl, endsAt: now + reserved(ttl) };
  }

  /** Never while someone waits for the stream to go on. */
  isOver({ id, ttl, endsAt }: StoredStream): boolean {
    if (endsAt === null || (ttl !== null && this.#live.has(id))) return false;
    return this.#ports.now() >= (this.#ends.get(id) ?? endsAt);
  }

  /** A request reads or writes the stream: its TTL begins anew. */
  use(stream: StoredStream): StoredStream {
    if (stream.ttl === null || stream.endsAt === null) return stream;
    const end = this.#ports.now() + stream.ttl * 1000;
    this.#ends.set(stream.id, end);
    return stream.endsAt < end ? this.store(stream) : stream;
  }

  /** Writes the end of a TTL, which is not over. */
  store(stream: StoredStream): StoredStream {
    const { id, ttl } = stream;
    if (ttl === null) return stream;
    const now = this.#ports.now();
    const exact = this.#live.has(id) ? now + ttl * 1000 : Math.max(this.#ends.get(id) ?? 0, now);
    const endsAt = Math.max(exact + reserved(ttl) - ttl * 1000, now + MIN_WAIT_MS);
    this.#ports.storage.streams.moveEnd(id, endsAt);
    this.#ports.planAlarm();
    return { ...stream, endsAt };
  }

  forget(id: number): void {
    this.#ends.delete(id);
  }

  reset(): void {
    this.#ends.clear();
  }
}

/** A TTL and its reserve, in milliseconds. */
const reserved = (ttl: number): number => Math.ceil(ttl * 1000 * (1 + RESERVE));
