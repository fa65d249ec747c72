/** Reads that wait for a stream, or the room's changes, to go on. The readers of one are served in turns, the more seldom the more there are. */
import { STREAM_LIMITS } from "@atrium/contract/stream-limits.ts";
import { StreamRefused } from "../types/streams.ts";

/** Readers that are served in one go, and the time until the next ones are: others of the room come in between. */
const [SERVED_AT_ONCE, TURN_MS] = [10, 10];
/** The longest time in which all are served once. */
const MAX_ROUND_MS = 250;

/** A stream by its ID, or the room's changes. */
export type LiveSource = number | "changes";

/** The readers of one source. */
class Audience {
  readonly reads = new Set<LiveRead>();
  /** The readers that have not been served since the round began. */
  #waiting: LiveRead[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isDue = false;

  /** Whether readers are served in turns. */
  get isPaused(): boolean {
    return this.#timer !== null;
  }

  /** The source has changed: serves everyone, now or after the round that is under way. */
  changed(): void {
    this.#isDue = true;
    if (!this.isPaused) this.#serve();
  }

  #serve(): void {
    this.#timer = null;
    this.#waiting = this.#waiting.filter((read) => this.reads.has(read));
    if (this.#waiting.length === 0) {
      if (!this.#isDue) return;
      this.#isDue = false;
      this.#waiting = [...this.reads];
    }
    const atOnce = Math.max(SERVED_AT_ONCE, Math.ceil((this.reads.size * TURN_MS) / MAX_ROUND_MS));
    const turn = this.#waiting.splice(0, atOnce);
    if (this.reads.size > atOnce || this.#waiting.length > 0 || this.#isDue)
      this.#timer = setTimeout(() => this.#serve(), TURN_MS);
    for (const read of turn) read.wake();
  }

  end(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    for (const read of this.reads) read.wake();
  }
}

export class LiveRead {
  readonly #audience: Audience;
  readonly #ended: () => void;
  #wake: (() => void) | null = null;
  /** Woken while it did not wait. */
  #isAwake = false;
  #isEnded = false;
  #isDoubted = false;

  /** `ended` is called by {@link end}. */
  constructor(audience: Audience, ended: () => void) {
    this.#audience = audience;
    this.#ended = ended;
  }

  /** Whether the others are being served: a reader that was has to wait for the next time. */
  get isPaused(): boolean {
    return this.#audience.isPaused;
  }

  /** Resolves when the source may have changed since the last call, and after `ms` at the latest. */
  async changed(ms: number): Promise<void> {
    if (this.#isAwake) {
      this.#isAwake = false;
      return;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    this.#wake = null;
  }

  wake(): void {
    if (this.#wake === null) this.#isAwake = true;
    else this.#wake();
  }

  /** Its client may be gone, which shows once something is sent. */
  doubt(): void {
    this.#isDoubted = true;
    this.wake();
  }

  /** Whether it was doubted since the last call. */
  takeDoubt(): boolean {
    const isDoubted = this.#isDoubted;
    this.#isDoubted = false;
    return isDoubted;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.wake();
    this.#ended();
  }
}

export class LiveReads {
  readonly #bySource = new Map<LiveSource, Audience>();
  readonly #ofUsers = new Map<string, Set<LiveRead>>();
  readonly #left: (source: LiveSource) => void;

  /** `left` is called when the last read of a source ends. */
  constructor(left: (source: LiveSource) => void) {
    this.#left = left;
  }

  /** The caller has to end it. RATE_LIMITED above what one user may have: reads whose clients are gone then end. */
  open(source: LiveSource, userId?: string): LiveRead {
    const ofUser = this.#ofUsers.get(userId ?? "") ?? new Set<LiveRead>();
    if (ofUser.size >= STREAM_LIMITS.waitingReads) {
      for (const read of ofUser) read.doubt();
      const headers = { "Retry-After": String(STREAM_LIMITS.doubtedSeconds) };
      throw new StreamRefused("RATE_LIMITED", "Too many reads of this user wait; end some of them", headers);
    }
    if (userId !== undefined) this.#ofUsers.set(userId, ofUser);
    const audience = this.#bySource.get(source) ?? new Audience();
    this.#bySource.set(source, audience);
    const read = new LiveRead(audience, () => {
      ofUser.delete(read);
      if (userId !== undefined && ofUser.size === 0) this.#ofUsers.delete(userId);
      audience.reads.delete(read);
      if (audience.reads.size > 0 || this.#bySource.get(source) !== audience) return;
      this.#bySource.delete(source);
      audience.end();
      this.#left(source);
    });
    audience.reads.add(read);
    ofUser.add(read);
    return read;
  }

  has(source: LiveSource): boolean {
    return this.#bySource.has(source);
  }

  wake(source: LiveSource): void {
    this.#bySource.get(source)?.changed();
  }

  /** Ends all reads of a source. */
  end(source: LiveSource): void {
    for (const read of [...(this.#bySource.get(source)?.reads ?? [])]) read.end();
  }

  /** The room is deleted or restored. */
  wakeAll(): void {
    const audiences = [...this.#bySource.values()];
    this.#bySource.clear();
    for (const audience of audiences) audience.end();
  }
}
