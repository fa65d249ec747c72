/** Texts of large stores, kept in memory up to a bound for all rooms of an isolate. */

/** Entries that follow each other in the order of keys. */
export interface EntryText {
  /** Keys, values and versions in turn, each after a comma, as JSON has them in an array, in UTF-8. Read only. */
  readonly items: Uint8Array;
  readonly lastKey: string;
}

const SURROGATES = 0xd800;
const BEHIND_SURROGATES = 0xe000;

/** The order of a UTF-16 unit. Half of a pair stands for a code point above U+FFFF. */
const rank = (unit: number): number =>
  unit >= SURROGATES && unit < BEHIND_SURROGATES ? unit + 0x10000 : unit;

/** The order of keys in SQLite: by code points. `<` would put those above U+FFFF before U+E000. */
function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Memory for the texts of all stores of an isolate: the least recently used give way. */
export class TextCacheMemory {
  readonly #maxBytes: number;
  #bytes = 0;
  /** Bytes of each holder, the least recently used first. */
  readonly #held = new Map<TextCache, number>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a holder may keep this many more bytes. The least recently used holders give theirs up for it. */
  take(holder: TextCache, bytes: number): boolean {
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

  give(holder: TextCache, bytes: number): void {
    this.#hold(holder, (this.#held.get(holder) ?? 0) - bytes);
  }

  release(holder: TextCache): void {
    this.#hold(holder, 0);
    this.#held.delete(holder);
  }

  #hold(holder: TextCache, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(holder) ?? 0);
    this.#held.delete(holder);
    this.#held.set(holder, bytes);
  }
}

interface Piece extends EntryText {
  readonly after: string;
}

/** The cached texts of one store. */
export class TextCache {
  readonly #memory: TextCacheMemory;
  /** In the order of keys, without overlaps. Between two there may be entries that are not kept. */
  #pieces: Piece[] = [];

  constructor(memory: TextCacheMemory) {
    this.#memory = memory;
  }

  /** The kept text after a key, or the key up to which nothing is kept; null for the end of the store. */
  find(after: string): EntryText | { readonly until: string | null } {
    const next = this.#pieces[this.#countBefore(after)];
    this.#memory.take(this, 0);
    return next?.after === after ? next : { until: next?.after ?? null };
  }

  /** Keeps the text after a key, up to the next kept one, if there is memory for it. */
  keep(after: string, { items, lastKey }: EntryText): void {
    const index = this.#countBefore(after);
    const previous = this.#pieces[index - 1];
    // A text from the middle of a piece is kept in that piece.
    if (previous !== undefined && compareKeys(previous.lastKey, after) > 0) return;
    if (this.#memory.take(this, items.length)) this.#pieces.splice(index, 0, { after, items, lastKey });
  }

  forget(key: string): void {
    const index = this.#countBefore(key) - 1;
    const piece = this.#pieces[index];
    if (piece === undefined || compareKeys(piece.lastKey, key) < 0) return;
    this.#pieces.splice(index, 1);
    this.#memory.give(this, piece.items.length);
  }

  forgetAll(): void {
    this.drop();
    this.#memory.release(this);
  }

  drop(): void {
    this.#pieces = [];
  }

  /** The number of pieces that begin before a key. */
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
