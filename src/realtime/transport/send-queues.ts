/** Frames on their way to sockets: large ones, and those to many, go out in portions, so that other work gets its turn between. */

/** A socket, as far as it concerns what waits to be sent to it. */
export interface Receiver {
  /** Accepts several frames as one array. */
  readonly batches: boolean;
  queued: string[];
  /** Of the queued frames, those that are events. */
  queuedEventBytes: number;
}

interface QueuePorts<Socket> {
  /** Epoch ms. The platform's clock stands still while an event is handled. */
  now(): number;
  /** Sends a frame; of its bytes, `eventBytes` are events. */
  transmit(socket: Socket, frame: string, eventBytes: number): void;
  /** What was queued for the socket is sent. */
  sent(socket: Socket): void;
  /** A portion is sent. */
  flushed(): void;
}

/**
 * What may go out in one turn of the event loop: about two milliseconds of one core. The runtime encodes each frame
 * anew for each socket, and writes them all before it looks for what has arrived, for other rooms and tenants too.
 */
const PORTION_BYTES = 512 * 1024;
/** A frame costs as much as this many bytes, however small it is. */
const FRAME_BYTES = 4 * 1024;

const costOf = (frame: string): number => FRAME_BYTES + frame.length;

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

export class SendQueues<Socket extends Receiver> {
  readonly #ports: QueuePorts<Socket>;
  /** Those with queued frames, in the order in which they began to wait. */
  readonly #waiting = new Set<Socket>();
  readonly #rest = new RestPolicy();
  /** A running timer keeps the object awake, so it runs only while something is queued. */
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** What is left of this turn's portion, and when that was (epoch ms). */
  #left = PORTION_BYTES;
  #leftAt = 0;
  /** Sent since nothing waited: the rest afterwards is for all of it. */
  #flushed = 0;

  constructor(ports: QueuePorts<Socket>) {
    this.#ports = ports;
  }

  /**
   * Queues a frame for {@link request} or, for a socket that takes one frame at a time, sends it at once while the portion
   * lasts. Each socket gets its frames in order.
   */
  add(socket: Socket, frame: string, eventBytes: number): void {
    if (!socket.batches && socket.queued.length === 0 && this.#hasLeft()) {
      this.#left -= costOf(frame);
      this.#ports.transmit(socket, frame, eventBytes);
      return;
    }
    socket.queued.push(frame);
    socket.queuedEventBytes += eventBytes;
    this.#waiting.add(socket);
  }

  #hasLeft(): boolean {
    const now = this.#ports.now();
    if (now !== this.#leftAt) this.#left = PORTION_BYTES;
    this.#leftAt = now;
    return this.#left > 0;
  }

  /** Sends what is queued as soon as the room has rested. */
  request(): void {
    if (this.#waiting.size === 0 || this.#timer !== null) return;
    const now = this.#ports.now();
    const waitMs = this.#rest.dueAt(now) - now;
    if (waitMs <= 0 && this.#hasLeft()) this.#flush();
    else this.#runIn(Math.max(0, waitMs));
  }

  #runIn(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#left = PORTION_BYTES; // a turn of its own, even in the same millisecond
      this.#flush();
    }, ms);
  }

  #flush(): void {
    for (const socket of this.#waiting) {
      if (this.#left <= 0) break;
      this.#flushed += 1;
      this.flush(socket);
    }
    this.#rest.recordFlush(this.#ports.now(), this.#flushed);
    this.#ports.flushed();
    if (this.#waiting.size === 0) this.#flushed = 0;
    else if (this.#timer === null) this.#runIn(0);
  }

  /** Sends all that is queued for a socket, now. */
  flush(socket: Socket): void {
    if (!this.#waiting.delete(socket)) return;
    const { queued, queuedEventBytes } = socket;
    socket.queued = [];
    socket.queuedEventBytes = 0;
    const frames = socket.batches ? [`[${queued.join()}]`] : queued;
    for (const [index, frame] of frames.entries()) {
      this.#left -= costOf(frame);
      this.#ports.transmit(socket, frame, index === 0 ? queuedEventBytes : 0);
    }
    this.#ports.sent(socket);
  }

  /** The socket is gone. */
  delete(socket: Socket): void {
    this.#waiting.delete(socket);
  }
}
