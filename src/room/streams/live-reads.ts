/** Reads that wait for a stream to go on. */

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
    this.#isEnded = true;
    this.wake();
    this.#ended();
  }
}

export class LiveReads {
  readonly #byStream = new Map<number, Set<LiveRead>>();
  readonly #left: (stream: number) => void;

  /** `left` is called when the last read of a stream ends. */
  constructor(left: (stream: number) => void) {
    this.#left = left;
  }

  /** The caller has to end it. */
  open(stream: number): LiveRead {
    const reads = this.#byStream.get(stream) ?? new Set();
    this.#byStream.set(stream, reads);
    const read = new LiveRead(() => {
      reads.delete(read);
      if (reads.size > 0 || this.#byStream.get(stream) !== reads) return;
      this.#byStream.delete(stream);
      this.#left(stream);
    });
    reads.add(read);
    return read;
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
