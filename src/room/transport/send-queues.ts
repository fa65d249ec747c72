/** Frames on their way to sockets: large ones, and those to many, go out in portions, so that other work gets its turn between. */

import { type Outgoing, QueuedFrames } from "./queued-frames.ts";

/** A socket, as far as it concerns what waits to be sent to it. */
export interface Receiver {
  /** Accepts several texts as one array. */
  readonly batches: boolean;
  /** Null for nothing. */
  queued: QueuedFrames | null;
}

interface QueuePorts<Socket> {
  /** Epoch ms. */
  now(): number;
  transmit(socket: Socket, outgoing: Outgoing): void;
  /** Something was sent to the socket. */
  sent(socket: Socket): void;
  /** A portion is sent. */
  flushed(): void;
}

/**
 * What may go out in one turn of the event loop: about two milliseconds of one core. The runtime encodes each frame
 * anew for each socket, and writes them all before it looks for what has arrived, for other rooms and tenants too; a
 * request of theirs takes several turns, and may meet a portion in each. Smaller portions cost a busy room deliveries.
 */
const PORTION_BYTES = 512 * 1024;
/** A frame costs as much as this many bytes, however small it is. */
const FRAME_BYTES = 4 * 1024;

/** Per frame sent: slightly more than sending it takes, so that the room can receive as long as it sends. */
const REST_PER_FRAME_MS = 0.03;

/**
 * For frames that must all arrive soon. The rest after a flush grows with what it sent: a small flush is followed
 * by the next at once, and what is queued during a long rest goes out as one frame.
 */
export class RestPolicy {
  #endsAt = Number.NEGATIVE_INFINITY;

  dueAt(now: number): number {
    return Math.max(now, this.#endsAt);
  }

  recordFlush(now: number, frames: number): void {
    this.#endsAt = now + frames * REST_PER_FRAME_MS;
  }
}

/** A timer that is so late waits behind all that has arrived: more of that must not keep the room from sending. */
const LATE_MS = 5;

/** From this many frames in one array on, the room is so busy that more frames are on their way already. */
const MANY_COLLECTED = 4;

export class SendQueues<Socket extends Receiver> {
  readonly #ports: QueuePorts<Socket>;
  /** Those with queued frames, in the order in which they began to wait. */
  readonly #waiting = new Set<Socket>();
  /** The one that has begun to wait most recently. */
  #newest: Socket | null = null;
  /** Those of them whose frames contain an answer: in each portion they come first, for up to half of it. */
  readonly #answered = new Set<Socket>();
  readonly #rest = new RestPolicy();
  /** A running timer keeps the object awake, so it runs only while something is queued. */
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** When the timer should run (epoch ms). */
  #timerAt = 0;
  /** What is left of this turn's portion, and when that was (epoch ms). */
  #left = PORTION_BYTES;
  #leftAt = 0;
  /** Everything before has been requested: an event may begin. */
  #isRequested = true;
  /** Sent since nothing waited: the rest afterwards is for all of it. */
  #flushed = 0;
  /** Since nothing waited, a socket has been sent this many frames as one. */
  #collected = 0;
  /** What all frames are queued behind. */
  readonly #none = new QueuedFrames();

  constructor(ports: QueuePorts<Socket>) {
    this.#ports = ports;
  }

  /**
   * Queues a frame for {@link request} or, if the socket takes it alone, sends it at once while the portion lasts. Each
   * socket gets its frames in order.
   */
  add(socket: Socket, outgoing: Outgoing): void {
    const isAlone = !socket.batches || typeof outgoing.frame !== "string";
    if (isAlone && socket.queued === null && this.#hasLeft()) {
      this.#transmit(socket, outgoing);
      this.#ports.sent(socket);
      return;
    }
    this.#enqueue(socket, outgoing);
    if (typeof outgoing.frame === "string" && outgoing.eventBytes === 0) this.#answered.add(socket);
  }

  #enqueue(socket: Socket, outgoing: Outgoing): void {
    socket.queued = (socket.queued ?? this.#none).with(outgoing);
    if (!this.#waiting.has(socket)) this.#newest = socket;
    this.#waiting.add(socket);
  }

  /** An event has one portion, however long it takes: the clock of a local service goes on meanwhile. */
  #hasLeft(): boolean {
    const now = this.#ports.now();
    if (this.#isRequested && now !== this.#leftAt) this.#left = PORTION_BYTES;
    this.#isRequested = false;
    this.#leftAt = now;
    return this.#left > 0;
  }

  #transmit(socket: Socket, outgoing: Outgoing): void {
    this.#left -= FRAME_BYTES + outgoing.frame.length;
    this.#ports.transmit(socket, outgoing);
  }

  /** Returns whether what waits now has been sent, whatever has begun to wait since. */
  watch(): () => boolean {
    const last = this.#newest;
    return () => last === null || !this.#waiting.has(last);
  }

  /** Sends what is queued as soon as the room has rested, at the end of each event. */
  request(): void {
    if (this.#waiting.size > 0) this.#flushSoon();
    this.#isRequested = true;
  }

  #flushSoon(): void {
    const now = this.#ports.now();
    if (this.#timer !== null) {
      if (now > this.#timerAt + LATE_MS) this.#runNow();
      return;
    }
    const waitMs = this.#rest.dueAt(now) - now;
    if (waitMs <= 0 && this.#hasLeft() && this.#collected < MANY_COLLECTED) this.#flush();
    else this.#runIn(Math.max(0, waitMs));
  }

  #runIn(ms: number): void {
    this.#timerAt = this.#ports.now() + ms;
    this.#timer = setTimeout(() => this.#runNow(), ms);
  }

  #runNow(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#left = PORTION_BYTES; // a turn of its own, even in the same millisecond
    this.#flush();
  }

  #flush(): void {
    if (this.#flushed === 0) this.#collected = 0;
    const ofOthers = Math.min(this.#left, PORTION_BYTES / 2);
    this.#sendTo(this.#answered, PORTION_BYTES / 2);
    if (this.#left <= 0) this.#left = ofOthers; // one large answer after the other must not keep them waiting
    this.#sendTo(this.#waiting, 0);
    this.#rest.recordFlush(this.#ports.now(), this.#flushed);
    this.#ports.flushed();
    if (this.#waiting.size === 0) {
      this.#flushed = 0;
      this.#none.forget();
    } else if (this.#timer === null) this.#runIn(0);
  }

  /** Sends what is queued for these, while more than `reserved` is left of the portion. */
  #sendTo(sockets: ReadonlySet<Socket>, reserved: number): void {
    for (const socket of sockets) {
      if (this.#left <= reserved) break;
      this.#flushed += 1;
      this.#send(socket, reserved);
    }
  }

  /** Sends all that is queued for a socket, now. */
  flush(socket: Socket): void {
    if (this.#waiting.has(socket)) this.#send(socket, Number.NEGATIVE_INFINITY);
  }

  /** Sends what is queued for a socket, while more than `reserved` is left of the portion. */
  #send(socket: Socket, reserved: number): void {
    const queued = socket.queued ?? this.#none;
    socket.queued = null; // a send that fails closes the socket, which flushes it
    let next = 0;
    while (next < queued.count && this.#left > reserved) {
      const end = socket.batches ? endOfArray(queued, next, this.#left - reserved) : next + 1;
      const outgoing = socket.batches ? this.#arrayOf(queued, next, end) : queued.parts[next];
      if (outgoing !== undefined) this.#transmit(socket, outgoing);
      this.#collected = Math.max(this.#collected, end - next);
      next = end;
    }
    this.#answered.delete(socket);
    const isOpen = this.#waiting.delete(socket);
    // Behind the others.
    if (isOpen && next < queued.count)
      for (const part of queued.parts.slice(next)) this.#enqueue(socket, part);
    this.#ports.sent(socket);
  }

  /** Bytes stay alone, as they are. */
  #arrayOf(queued: QueuedFrames, first: number, end: number): Outgoing | undefined {
    if (typeof queued.parts[first]?.frame !== "string") return queued.parts[first];
    if (first === 0) return queued.arrayOf(end);
    const others = queued.parts.slice(first, end).reduce((texts, part) => texts.with(part), this.#none);
    return others.arrayOf(end - first);
  }

  /** The socket is gone. */
  delete(socket: Socket): void {
    this.#waiting.delete(socket);
    this.#answered.delete(socket);
  }
}

/** Where the array ends that begins with the frame at `first`: at bytes, or when it has `left` of them. */
function endOfArray(queued: QueuedFrames, first: number, left: number): number {
  if (first === 0 && queued.isTextWithin(left)) return queued.count;
  const { parts } = queued;
  let end = first;
  for (let length = 0; end < parts.length && length < left; end += 1) {
    const frame = parts[end]?.frame;
    if (typeof frame !== "string") break;
    length += frame.length;
  }
  return Math.max(end, first + 1);
}
