/** When presence goes out: at once in a calm room, in longer and longer intervals in a busy one. */

/**
 * Deliveries per second above which the tick gets longer. Far below what a core can send frame by frame (some
 * 15,000 a second): an overloaded room receives too little to notice that it is overloaded.
 */
const CALM_DELIVERIES = 3_000;
const BUSY_DELIVERIES = 50_000;
const BUSY_TICK_MS = 16;
const CROWDED_TICK_MS = 33;
const MEMORY_MS = 1_000;
/** Sending a tick to a crowd takes long. The next one follows when it is sent, and this part of that time later. */
const REST_AFTER_SENDING = 0.3;
/** So that presence goes on while other things wait to be sent, too. */
const LONGEST_TICK_MS = 1_000;

/**
 * For presence, where only the latest state counts and a longer tick saves work. Counts the deliveries that are
 * requested, not those that are made: coalescing makes far fewer, so a tick based on those would shrink as soon
 * as it helped.
 */
export class TickPolicy {
  /** Decays with time: at a steady rate it is about the deliveries of one second. */
  #level = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  #flushedAt = Number.NEGATIVE_INFINITY;
  /** What was flushed last is still being sent. */
  #isSending = false;
  /** How long it took to send a tick, most recently. */
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

  /** How far ticks are apart at least, in milliseconds: 0 in a calm room. */
  intervalAt(now: number): number {
    const level = this.#levelAt(now);
    if (level <= CALM_DELIVERIES) return 0;
    if (this.#isSending) return LONGEST_TICK_MS;
    const tick = level <= BUSY_DELIVERIES ? BUSY_TICK_MS : CROWDED_TICK_MS;
    return Math.max(tick, this.#sendingMs * (1 + REST_AFTER_SENDING));
  }

  recordFlush(now: number): void {
    this.#flushedAt = now;
    this.#isSending = true;
  }

  /** What was flushed last has nothing to send: it does not show how long that takes. */
  recordEmpty(): void {
    this.#isSending = false;
  }

  /** What was flushed last is sent. True for the first time. */
  recordSent(now: number): boolean {
    if (!this.#isSending) return false;
    this.#isSending = false;
    this.#sendingMs = now - this.#flushedAt;
    return true;
  }
}

/** Flushes when a policy says so. A running timer keeps the object awake, so it runs only while something is queued. */
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

  /** Something is queued. */
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
