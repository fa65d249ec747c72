/** Frames on their way to sockets: large ones, and those to many, go out in portions, so that other work gets its turn between. */

/** A frame for any number of sockets: text, or bytes of a document. */
export interface Outgoing {
  readonly frame: string | Uint8Array;
  /** Of its length, what is an event. */
  readonly eventBytes: number;
}

/** A socket, as far as it concerns what waits to be sent to it. */
export interface Receiver {
  /** Accepts several texts as one array. */
  readonly batches: boolean;
  queued: Outgoing[];
}

interface QueuePorts<Socket> {
  /** Epoch ms. The platform's clock stands still while an event is handled. */
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

/** From this many frames in one array on, the room is so busy that more frames are on their way already. */
const MANY_COLLECTED = 4;

/** An array of texts. Most receivers are sent the same, so it is made once for them. */
class SharedArray {
  #parts: readonly Outgoing[] = [];
  #whole: Outgoing | undefined;

  /** Bytes stay alone, as they are. */
  of(parts: readonly Outgoing[]): Outgoing | undefined {
    const [first] = parts;
    if (typeof first?.frame !== "string") return first;
    const isSame =
      parts.length === this.#parts.length && parts.every((part, index) => part === this.#parts[index]);
    if (isSame) return this.#whole;
    this.#parts = parts;
    this.#whole = arrayOf(parts);
    return this.#whole;
  }

  /** It may be large. */
  forget(): void {
    this.#parts = [];
    this.#whole = undefined;
  }
}

/** The brackets become part of the first and the last text: around the joined ones, they would have them copied again. */
function arrayOf(parts: readonly Outgoing[]): Outgoing {
  const texts = parts.map(({ frame }) => frame);
  const last = texts.length - 1;
  texts[0] = `[${texts[0]}`;
  texts[last] = `${texts[last]}]`;
  return { frame: texts.join(), eventBytes: parts.reduce((sum, { eventBytes }) => sum + eventBytes, 0) };
}

export class SendQueues<Socket extends Receiver> {
  readonly #ports: QueuePorts<Socket>;
  /** Those with queued frames, in the order in which they began to wait. */
  readonly #waiting = new Set<Socket>();
  /** Those of them whose frames contain an answer: in each portion they come first, for up to half of it. */
  readonly #answered = new Set<Socket>();
  readonly #rest = new RestPolicy();
  /** A running timer keeps the object awake, so it runs only while something is queued. */
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** What is left of this turn's portion, and when that was (epoch ms). */
  #left = PORTION_BYTES;
  #leftAt = 0;
  /** Sent since nothing waited: the rest afterwards is for all of it. */
  #flushed = 0;
  /** Since nothing waited, a socket has been sent this many frames as one. */
  #collected = 0;
  readonly #arrays = new SharedArray();

  constructor(ports: QueuePorts<Socket>) {
    this.#ports = ports;
  }

  /**
   * Queues a frame for {@link request} or, if the socket takes it alone, sends it at once while the portion lasts. Each
   * socket gets its frames in order.
   */
  add(socket: Socket, outgoing: Outgoing): void {
    const isAlone = !socket.batches || typeof outgoing.frame !== "string";
    if (isAlone && socket.queued.length === 0 && this.#hasLeft()) {
      this.#transmit(socket, outgoing);
      this.#ports.sent(socket);
      return;
    }
    socket.queued.push(outgoing);
    this.#waiting.add(socket);
    if (typeof outgoing.frame === "string" && outgoing.eventBytes === 0) this.#answered.add(socket);
  }

  #hasLeft(): boolean {
    const now = this.#ports.now();
    if (now !== this.#leftAt) this.#left = PORTION_BYTES;
    this.#leftAt = now;
    return this.#left > 0;
  }

  #transmit(socket: Socket, outgoing: Outgoing): void {
    this.#left -= FRAME_BYTES + outgoing.frame.length;
    this.#ports.transmit(socket, outgoing);
  }

  /** Whether something waits to be sent. */
  get isSending(): boolean {
    return this.#waiting.size > 0;
  }

  /** Sends what is queued as soon as the room has rested. */
  request(): void {
    if (this.#waiting.size === 0 || this.#timer !== null) return;
    const now = this.#ports.now();
    const waitMs = this.#rest.dueAt(now) - now;
    if (waitMs <= 0 && this.#hasLeft() && this.#collected < MANY_COLLECTED) this.#flush();
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
    if (this.#flushed === 0) this.#collected = 0;
    this.#sendTo(this.#answered, PORTION_BYTES / 2);
    this.#sendTo(this.#waiting, 0);
    this.#rest.recordFlush(this.#ports.now(), this.#flushed);
    this.#ports.flushed();
    if (this.#waiting.size === 0) {
      this.#flushed = 0;
      this.#arrays.forget();
    } else if (this.#timer === null) this.#runIn(0);
  }

  /** Sends what is queued for these, while more than `reserved` is left of the portion. */
  #sendTo(sockets: ReadonlySet<Socket>, reserved: number): void {
    for (const socket of sockets) {
      if (this.#left <= reserved) break;
      this.#flushed += 1;
      this.#send(socket, () => this.#left - reserved);
    }
  }

  /** Sends all that is queued for a socket, now. */
  flush(socket: Socket): void {
    if (this.#waiting.has(socket)) this.#send(socket, () => Number.POSITIVE_INFINITY);
  }

  /** Sends what is queued for a socket, as long as there is something left of what may be sent. */
  #send(socket: Socket, left: () => number): void {
    const { queued } = socket;
    socket.queued = []; // a send that fails closes the socket, which flushes it
    let next = 0;
    while (next < queued.length && left() > 0) {
      const end = socket.batches ? endOfArray(queued, next, left()) : next + 1;
      const outgoing = socket.batches ? this.#arrays.of(queued.slice(next, end)) : queued[next];
      if (outgoing !== undefined) this.#transmit(socket, outgoing);
      this.#collected = Math.max(this.#collected, end - next);
      next = end;
    }
    this.#answered.delete(socket);
    const isOpen = this.#waiting.delete(socket);
    if (isOpen && next < queued.length) {
      socket.queued = queued.slice(next);
      this.#waiting.add(socket); // behind the others
    }
    this.#ports.sent(socket);
  }

  /** The socket is gone. */
  delete(socket: Socket): void {
    this.#waiting.delete(socket);
    this.#answered.delete(socket);
  }
}

/** Where the array ends that begins with the frame at `first`: at bytes, or when it has `left` of them. */
function endOfArray(queued: readonly Outgoing[], first: number, left: number): number {
  let end = first;
  for (let length = 0; end < queued.length && length < left; end += 1) {
    const frame = queued[end]?.frame;
    if (typeof frame !== "string") break;
    length += frame.length;
  }
  return Math.max(end, first + 1);
}
