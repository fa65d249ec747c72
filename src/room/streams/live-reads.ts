/** Reads that wait for a stream to go on. */
import { STREAM_LIMITS } from "@atrium/contract/stream-limits.ts";
import { StreamRefused } from "../types/streams.ts";

export class LiveRead {
  readonly #ended: () => void;
  #wake: (() => void) | null = null;
  #isEnded = false;

  /** `ended` is called by {@link end}. */
  constructor(ended: () => void) {
    this.#ended = ended;
  }

  /** Resolves when the stream has changed, and after `ms` at the latest. */
  async changed(ms: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    this.#wake = null;
  }

  wake(): void {
    this.#wake?.();
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
  readonly #byStream = new Map<number, Set<LiveRead>>();
  readonly #ofUsers = new Map<string, number>();
  readonly #left: (stream: number) => void;

  /** `left` is called when the last read of a stream ends. */
  constructor(left: (stream: number) => void) {
    this.#left = left;
  }

  /** The caller has to end it. RATE_LIMITED above what one user may have. */
  open(stream: number, userId?: string): LiveRead {
    const ofUser = userId === undefined ? 0 : (this.#ofUsers.get(userId) ?? 0);
    if (ofUser >= STREAM_LIMITS.waitingReads)
      throw new StreamRefused("RATE_LIMITED", "Too many reads of this user wait; end some of them");
    if (userId !== undefined) this.#ofUsers.set(userId, ofUser + 1);
    const reads = this.#byStream.get(stream) ?? new Set();
    this.#byStream.set(stream, reads);
    const read = new LiveRead(() => {
      if (userId !== undefined) this.#leave(userId);
      reads.delete(read);
      if (reads.size > 0 || this.#byStream.get(stream) !== reads) return;
      this.#byStream.delete(stream);
      this.#left(stream);
    });
    reads.add(read);
    return read;
  }

  #leave(userId: string): void {
    const left = (this.#ofUsers.get(userId) ?? 0) - 1;
    if (left > 0) this.#ofUsers.set(userId, left);
    else this.#ofUsers.delete(userId);
  }

  has(stream: number): boolean {
    return this.#byStream.has(stream);
  }

  wake(stream: number): void {
    for (const read of this.#byStream.get(stream) ?? []) read.wake();
  }

  /** The room is deleted or restored. */
  wakeAll(): void {
    const streams = [...this.#byStream.values()];
    this.#byStream.clear();
    for (const read of streams.flatMap((reads) => [...reads])) read.wake();
  }
}
