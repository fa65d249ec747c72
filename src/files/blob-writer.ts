/** Brings a file of unknown length to R2, holding one part of it: R2 wants to know the length of what it is given. */
import type { PartedBlob } from "./blobs.ts";

/** R2 wants 5 MiB or more; a file that fits into one part is put whole, in one call. */
export const PART_BYTES = 8 * 1024 * 1024;

/** Where the bytes go. */
export interface BlobSink {
  put(bytes: Uint8Array): Promise<void>;
  /** Called before the first part of a file that needs several. */
  begin(): Promise<PartedBlob>;
}

export class BlobWriter {
  readonly #sink: BlobSink;
  readonly #held: Uint8Array;
  #heldBytes = 0;
  #parted: PartedBlob | undefined;
  #size = 0;

  /** There may be at most `maxBytes`, which spares a small file the room of a whole part. */
  constructor(sink: BlobSink, maxBytes: number) {
    this.#sink = sink;
    this.#held = new Uint8Array(Math.min(maxBytes, PART_BYTES));
  }

  /** Takes the next bytes, and copies them. Nothing reaches the sink before there are more than {@link PART_BYTES}. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#size += bytes.byteLength;
    for (let rest = bytes; rest.byteLength > 0; ) {
      if (this.#heldBytes === this.#held.byteLength) await this.#sendPart();
      const taken = rest.subarray(0, this.#held.byteLength - this.#heldBytes);
      this.#held.set(taken, this.#heldBytes);
      this.#heldBytes += taken.byteLength;
      rest = rest.subarray(taken.byteLength);
    }
  }

  /** Sends what is left. Gives the file's size; it can be read from now on. */
  async finish(): Promise<number> {
    if (this.#parted === undefined) {
      await this.#sink.put(this.#held.subarray(0, this.#heldBytes));
    } else {
      await this.#sendPart();
      await this.#parted.complete();
    }
    return this.#size;
  }

  async #sendPart(): Promise<void> {
    this.#parted ??= await this.#sink.begin();
    await this.#parted.add(this.#held.subarray(0, this.#heldBytes));
    this.#heldBytes = 0;
  }
}
