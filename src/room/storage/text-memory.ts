/** How much text the stores of an isolate may keep in memory together: those that were read last. */

/** A store that keeps text. */
export interface TextHolder {
  /** Gives up all that it keeps. */
  drop(): void;
}

export class TextMemory {
  readonly #maxBytes: number;
  #bytes = 0;
  /** What each holds in bytes; the one that was used last is the last one. */
  readonly #held = new Map<TextHolder, number>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What all keep together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a holder may keep so much more: others give theirs up for it, from the one that was not used for longest. */
  take(holder: TextHolder, bytes: number): boolean {
    const own = this.#held.get(holder) ?? 0;
    if (own + bytes > this.#maxBytes) return false;
    this.#hold(holder, own + bytes);
    for (const other of this.#held.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      other.drop();
      this.release(other);
    }
    return true;
  }

  /** A holder keeps so much less. */
  give(holder: TextHolder, bytes: number): void {
    this.#hold(holder, (this.#held.get(holder) ?? 0) - bytes);
  }

  /** A holder keeps nothing. */
  release(holder: TextHolder): void {
    this.#hold(holder, 0);
    this.#held.delete(holder);
  }

  #hold(holder: TextHolder, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(holder) ?? 0);
    this.#held.delete(holder);
    this.#held.set(holder, bytes);
  }
}
