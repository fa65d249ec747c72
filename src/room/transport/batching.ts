/** Batches frames that arrive at once and write, and presence that changes within a tick. */

/** Deliveries per second above which the tick grows. An overloaded room receives too little to notice: a core sends 15,000. */
const CALM_DELIVERIES = 3_000;
const BUSY_DELIVERIES = 50_000;
const BUSY_TICK_MS = 16;
const CROWDED_TICK_MS = 33;
const MEMORY_MS = 1_000;
/** The next tick follows after this part of the time that sending the last one took. */
const COOLDOWN_AFTER_SENDING = 0.3;
/** Presence goes on while other frames wait. */
const LONGEST_TICK_MS = 1_000;

/**
 * Ticks of presence: none in a calm room, longer ones in a busy room. They depend on the requested deliveries:
 * coalescing makes fewer, which would shrink the tick again.
 */
export class TickPolicy {
  /** Decays with time: at a steady rate it is about the deliveries of one second. */
  #level = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  #flushedAt = Number.NEGATIVE_INFINITY;
  /** The last flush is still being sent. */
  #isSending = false;
  #sendingMs = 0;

  count(deliveries: number, now: number): void {
    this.#level = this.#levelAt(now) + deliveries;
    this.#countedAt = now;
  }

  #levelAt(now: number): number {
    return this.#level * Math.exp(-Math.max(0, now - this.#countedAt) / MEMORY_MS);
  }

  /** When to flush presence that has changed by `now` (epoch ms); `now` for at once. */
  dueAt(now: number): number {
    return Math.max(now, this.#flushedAt + this.intervalAt(now));
  }

  /** Milliseconds between ticks; 0 in a calm room. */
  intervalAt(now: number): number {
    const level = this.#levelAt(now);
    if (level <= CALM_DELIVERIES) return 0;
    if (this.#isSending) return LONGEST_TICK_MS;
    const tick = level <= BUSY_DELIVERIES ? BUSY_TICK_MS : CROWDED_TICK_MS;
    return Math.max(tick, this.#sendingMs * (1 + COOLDOWN_AFTER_SENDING));
  }

  recordFlush(now: number): void {
    this.#flushedAt = now;
    this.#isSending = true;
  }

  /** The last flush had nothing to send, so it tells no time. */
  recordEmpty(): void {
    this.#isSending = false;
  }

  /** The last flush is sent. True for the first call. */
  recordSent(now: number): boolean {
    if (!this.#isSending) return false;
    this.#isSending = false;
    this.#sendingMs = now - this.#flushedAt;
    return true;
  }
}

/** Flushes when the policy says so. A timer keeps the object awake, so it runs only while frames wait. */
export class FlushTimer {
  readonly #now: () => number;
  readonly #policy: TickPolicy;
  readonly #flush: () => void;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(now: () => number, policy: TickPolicy, flush: () => void) {
    this.#now = now;
    this.#policy = policy;
    this.#flush = flush;
  }

  request(): void {
    const now = this.#now();
    const waitMs = this.#policy.dueAt(now) - now;
    if (waitMs <= 0)
      this.#run(); // also when the timer is late, behind all that has arrived
    else this.#timer ??= setTimeout(() => this.#run(), waitMs);
  }

  /** The policy has changed its mind. Never flushes at once. */
  replan(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    const now = this.#now();
    this.#timer = setTimeout(() => this.#run(), Math.max(0, this.#policy.dueAt(now) - now));
  }

  #run(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#flush();
  }
}

const MAX_FRAMES = 256;
const MAX_LENGTH = 1024 * 1024;

interface FrameBatcherPorts<Sender> {
  /** Runs `work`, which handles several frames, so that storage writes once for all of them. Never throws. */
  together(work: () => void): void;
  /** Never throws. */
  handle(sender: Sender, frame: string | ArrayBuffer): void;
  /** Grows with each write to storage. */
  writes(): number;
  /** Epoch ms. The platform's clock stands still while an event is handled. */
  now(): number;
}

/** A frame in the same millisecond as a write waits for the next turn: storage commits once for all of them. */
export class FrameBatcher<Sender> {
  readonly #ports: FrameBatcherPorts<Sender>;
  #batch: { readonly sender: Sender; readonly frame: string | ArrayBuffer }[] = [];
  #length = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #wroteAt = Number.NEGATIVE_INFINITY;

  constructor(ports: FrameBatcherPorts<Sender>) {
    this.#ports = ports;
  }

  receive(sender: Sender, frame: string | ArrayBuffer): void {
    this.#batch.push({ sender, frame });
    this.#length += typeof frame === "string" ? frame.length : frame.byteLength;
    const isAlone = this.#timer === null && this.#ports.now() !== this.#wroteAt;
    if (isAlone || this.#batch.length >= MAX_FRAMES || this.#length >= MAX_LENGTH) this.finish();
    else this.#timer ??= setTimeout(() => this.finish(), 0);
  }

  /** Handles the batch now, before work that depends on it. */
  finish(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const frames = this.#batch;
    if (frames.length === 0) return;
    this.#batch = [];
    this.#length = 0;
    const before = this.#ports.writes();
    const handle = () => {
      for (const { sender, frame } of frames) this.#ports.handle(sender, frame);
    };
    if (frames.length === 1) handle();
    else this.#ports.together(handle);
    if (this.#ports.writes() !== before) this.#wroteAt = this.#ports.now();
  }
}
