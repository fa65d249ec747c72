/** Texts of large stores, kept in memory up to a bound for all rooms of an isolate. */
import { compareKeys } from "./key-order.ts";
import type { EntryText } from "./storage-content.ts";

/** A store that keeps text. */
interface TextHolder {
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

/** All entries after a key, up to the last one. */
interface Piece extends EntryText {
  readonly after: string;
}

export class KeptTexts implements TextHolder {
  readonly #memory: TextMemory;
  /** In the order of keys, without overlaps. Between two there may be entries that are not kept. */
  #pieces: Piece[] = [];

  constructor(memory: TextMemory) {
    this.#memory = memory;
  }

  /** What is kept of the entries after a key; otherwise the key up to which nothing is, null for the end of the store. */
  find(after: string): EntryText | { readonly until: string | null } {
    const next = this.#pieces[this.#countBefore(after)];
    this.#memory.take(this, 0);
    return next?.after === after ? next : { until: next?.after ?? null };
  }

  /** Keeps the text of the entries after a key, up to the next that are kept at most, if there is memory for it. */
  keep(after: string, { items, lastKey }: EntryText): void {
    const index = this.#countBefore(after);
    const previous = this.#pieces[index - 1];
    // What is read from the middle of a piece is kept in that piece.
    if (previous !== undefined && compareKeys(previous.lastKey, after) > 0) return;
    if (this.#memory.take(this, items.length)) this.#pieces.splice(index, 0, { after, items, lastKey });
  }

  /** The entry of this key is written or deleted. */
  forget(key: string): void {
    const index = this.#countBefore(key) - 1;
    const piece = this.#pieces[index];
    if (piece === undefined || compareKeys(piece.lastKey, key) < 0) return;
    this.#pieces.splice(index, 1);
    this.#memory.give(this, piece.items.length);
  }

  /** The entries of all keys are gone. */
  forgetAll(): void {
    this.drop();
    this.#memory.release(this);
  }

  drop(): void {
    this.#pieces = [];
  }

  /** How many pieces begin with entries before a key, or with it after this one. */
  #countBefore(key: string): number {
    let [low, high] = [0, this.#pieces.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareKeys(this.#pieces[middle]?.after ?? "", key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
