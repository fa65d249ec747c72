/** Queues of frames to sockets. Large sends go out in chunks, and other work gets its turn in between. */

export interface Receiver {
  /** Accepts several texts as one array. */
  readonly batches: boolean;
  queued: QueuedFrames | null;
}

interface QueuePorts<Socket> {
  /** Epoch ms. */
  now(): number;
  transmit(socket: Socket, outgoing: Outgoing): void;
  /** Something was sent to the socket. */
  sent(socket: Socket): void;
  flushed(): void;
}

/**
 * Bytes sent in one turn of the event loop: about 2 ms of one core. The runtime encodes each frame for each socket, and
 * writes them all before it reads again, for other rooms and tenants too. Smaller chunks cost a busy room deliveries.
 */
const CHUNK_BYTES = 512 * 1024;
/** A frame costs as much as this many bytes, however small it is. */
const FRAME_BYTES = 4 * 1024;

/** Pause after each sent frame: slightly more than sending takes, so that the room can receive. */
const COOLDOWN_PER_FRAME_MS = 0.03;

/** A timer this late waits behind arriving frames, which must not keep the room from sending. */
const LATE_MS = 5;

/** Number of frames in one array that shows a busy room, with more frames on their way. */
const MANY_COLLECTED = 4;

export class SendQueues<Socket extends Receiver> {
  readonly #ports: QueuePorts<Socket>;
  /** Sockets with queued frames, in the order in which they began to wait. */
  readonly #waiting = new Set<Socket>();
  /** The socket that began to wait last. */
  #newest: Socket | null = null;
  /** Waiting sockets with a queued answer: they come first in each chunk, for up to half of it. */
  readonly #answered = new Set<Socket>();
  /** When the cooldown after the last flush ends (epoch ms). */
  #cooldownEndsAt = Number.NEGATIVE_INFINITY;
  /** A running timer keeps the object awake, so it runs only while something is queued. */
  #timer: ReturnType<typeof setTimeout> | null = null;
  #timerAt = 0;
  /** Bytes left of this turn's chunk, and when that was (epoch ms). */
  #left = CHUNK_BYTES;
  #leftAt = 0;
  /** Everything is queued, and nothing sent. */
  #isHeld = false;
  /** All earlier frames are requested: an event may begin. */
  #isRequested = true;
  /** Frames sent since nothing waited: the cooldown counts all of them. */
  #flushed = 0;
  /** The most frames that were sent as one since nothing waited. */
  #collected = 0;
  /** The empty queue, which all others extend. */
  readonly #none = new QueuedFrames();

  constructor(ports: QueuePorts<Socket>) {
    this.#ports = ports;
  }

  /** Sends a lone frame at once while the chunk lasts, and queues others for {@link request}, in order. */
  add(socket: Socket, outgoing: Outgoing): void {
    const isAlone = !socket.batches || typeof outgoing.frame !== "string";
    if (isAlone && !this.#isHeld && socket.queued === null && this.#hasLeft()) {
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

  /** An event has one chunk, however long it takes: the clock of a local service goes on meanwhile. */
  #hasLeft(): boolean {
    const now = this.#ports.now();
    if (this.#isRequested && now !== this.#leftAt) this.#left = CHUNK_BYTES;
    this.#isRequested = false;
    this.#leftAt = now;
    return this.#left > 0;
  }

  #transmit(socket: Socket, outgoing: Outgoing): void {
    this.#left -= FRAME_BYTES + outgoing.frame.length;
    this.#ports.transmit(socket, outgoing);
  }

  /** Returns a function that tells whether all frames queued now have been sent. */
  watch(): () => boolean {
    const last = this.#newest;
    return () => last === null || !this.#waiting.has(last);
  }

  /** Sends nothing until {@link release}, which has to be followed by a {@link request}. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
  }

  /** Sends queued frames once the cooldown is over, at the end of each event. */
  request(): void {
    if (this.#isHeld) return;
    if (this.#waiting.size > 0) this.#flushSoon();
    this.#isRequested = true;
  }

  #flushSoon(): void {
    const now = this.#ports.now();
    if (this.#timer !== null) {
      if (now > this.#timerAt + LATE_MS) this.#runNow();
      return;
    }
    const waitMs = Math.max(0, this.#cooldownEndsAt - now);
    if (waitMs === 0 && this.#hasLeft() && this.#collected < MANY_COLLECTED) this.#flush();
    else this.#runIn(waitMs);
  }

  #runIn(ms: number): void {
    this.#timerAt = this.#ports.now() + ms;
    this.#timer = setTimeout(() => this.#runNow(), ms);
  }

  #runNow(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#left = CHUNK_BYTES; // a turn of its own, even in the same millisecond
    this.#flush();
  }

  #flush(): void {
    if (this.#flushed === 0) this.#collected = 0;
    const ofOthers = Math.min(this.#left, CHUNK_BYTES / 2);
    this.#sendTo(this.#answered, CHUNK_BYTES / 2);
    if (this.#left <= 0) this.#left = ofOthers; // one large answer after the other must not keep them waiting
    this.#sendTo(this.#waiting, 0);
    this.#cooldownEndsAt = this.#ports.now() + this.#flushed * COOLDOWN_PER_FRAME_MS;
    this.#ports.flushed();
    if (this.#waiting.size === 0) {
      this.#flushed = 0;
      this.#none.forget();
    } else if (this.#timer === null) this.#runIn(0);
  }

  /** Sends the queues of these sockets, while more than `reserved` is left of the chunk. */
  #sendTo(sockets: ReadonlySet<Socket>, reserved: number): void {
    for (const socket of sockets) {
      if (this.#left <= reserved) break;
      this.#flushed += 1;
      this.#send(socket, reserved);
    }
  }

  flush(socket: Socket): void {
    if (this.#waiting.has(socket)) this.#send(socket, Number.NEGATIVE_INFINITY);
  }

  /** Sends a socket's queue, while more than `reserved` is left of the chunk. */
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
    // Remaining frames queue behind the other sockets.
    if (isOpen && next < queued.count)
      for (const part of queued.parts.slice(next)) this.#enqueue(socket, part);
    this.#ports.sent(socket);
  }

  #arrayOf(queued: QueuedFrames, first: number, end: number): Outgoing | undefined {
    if (typeof queued.parts[first]?.frame !== "string") return queued.parts[first];
    if (first === 0) return queued.arrayOf(end);
    const others = queued.parts.slice(first, end).reduce((texts, part) => texts.with(part), this.#none);
    return others.arrayOf(end - first);
  }

  delete(socket: Socket): void {
    this.#waiting.delete(socket);
    this.#answered.delete(socket);
  }
}

/** The end of the array that begins at `first`: before bytes, or after `left` characters. */
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

/** A frame for any number of sockets: text, or bytes of a document. */
export interface Outgoing {
  readonly frame: string | Uint8Array;
  /** The part of its length that is events. */
  readonly eventBytes: number;
}

const NOTHING: Outgoing = { frame: "", eventBytes: 0 };

/** An immutable list of frames. A further frame makes another list, the same for all sockets. */
class QueuedFrames {
  readonly #before: QueuedFrames | null;
  readonly #last: Outgoing;
  readonly count: number;
  /** The length of all frames but the last, in characters; infinite if any is bytes. */
  readonly #lengthBefore: number;
  /** The list with one more frame, cached: a message is queued for one receiver after the other. */
  #longer: QueuedFrames | null = null;
  #parts: readonly Outgoing[] | null = null;
  #array: Outgoing | null = null;

  constructor(before: QueuedFrames | null = null, last = NOTHING) {
    this.#before = before;
    this.#last = last;
    this.count = before === null ? 0 : before.count + 1;
    const length = before === null ? 0 : before.#lengthBefore + before.#last.frame.length;
    this.#lengthBefore = typeof last.frame === "string" ? length : Number.POSITIVE_INFINITY;
  }

  with(outgoing: Outgoing): QueuedFrames {
    const known = this.#longer;
    if (known !== null && known.#last === outgoing) return known;
    this.#longer = new QueuedFrames(this, outgoing);
    return this.#longer;
  }

  /** Frees the further frames, which may be large. */
  forget(): void {
    this.#longer = null;
  }

  get parts(): readonly Outgoing[] {
    this.#parts ??= this.#listParts();
    return this.#parts;
  }

  #listParts(): Outgoing[] {
    const parts: Outgoing[] = [];
    for (let queue: QueuedFrames = this; queue.#before !== null; queue = queue.#before)
      parts.push(queue.#last);
    return parts.reverse();
  }

  /** True for texts that are as long as `length` at most without the last one. */
  isTextWithin(length: number): boolean {
    return this.#lengthBefore < length;
  }

  /** The first `count` frames, which are texts, as one. It is made once for all sockets. */
  arrayOf(count: number): Outgoing {
    let queue: QueuedFrames = this;
    while (queue.count > count && queue.#before !== null) queue = queue.#before;
    queue.#array ??= joinTexts(queue.parts);
    return queue.#array;
  }
}

/** Texts as an array. Brackets around the joined texts would copy them again. */
function joinTexts(parts: readonly Outgoing[]): Outgoing {
  const texts = parts.map(({ frame }) => frame);
  const last = texts.length - 1;
  texts[0] = `[${texts[0]}`;
  texts[last] = `${texts[last]}]`;
  return { frame: texts.join(), eventBytes: parts.reduce((sum, { eventBytes }) => sum + eventBytes, 0) };
}
