/** The memory that uploads in flight take together: bounded by bytes, so that many slow ones cost as little as few. */

/** An upload that buffers a part. */
interface PartHolder {
  /** Frees the buffer; the upload fails with its next byte. */
  giveWay(): void;
}

interface HeldPart {
  bytes: number;
  /** The order in which parts began to fill. */
  readonly began: number;
}

export class UploadMemory {
  readonly #maxBytes: number;
  readonly #parts = new Map<PartHolder, HeldPart>();
  #bytes = 0;
  #begun = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Counts that the buffer of a part has grown to `bytes`. When all of them exceed the bound, parts that have been
   * filling the longest give way: a slow client does not keep memory from one that sends.
   */
  grow(holder: PartHolder, bytes: number): void {
    const part = this.#parts.get(holder) ?? { bytes: 0, began: this.#begun };
    if (!this.#parts.has(holder)) this.#begun += 1;
    this.#bytes += bytes - part.bytes;
    part.bytes = bytes;
    this.#parts.set(holder, part);
    while (this.#bytes > this.#maxBytes && this.#parts.size > 1) this.#evictOldest(holder);
  }

  #evictOldest(except: PartHolder): void {
    const [oldest] = [...this.#parts]
      .filter(([holder]) => holder !== except)
      .sort(([, one], [, other]) => one.began - other.began);
    if (oldest === undefined) return;
    this.release(oldest[0]);
    oldest[0].giveWay();
  }

  /** The part is complete, or its upload has ended. */
  release(holder: PartHolder): void {
    this.#bytes -= this.#parts.get(holder)?.bytes ?? 0;
    this.#parts.delete(holder);
  }
}
