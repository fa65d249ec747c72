/** Writes a file of unknown length to R2, buffering one part at a time, because R2 needs each part's length. */
import type { MultipartBlob } from "./storage/blobs.ts";

/** R2 requires 5 MiB or more; a file that fits into one part is put in one call. */
export const PART_BYTES = 8 * 1024 * 1024;

/** The destination of the bytes. */
export interface BlobSink {
  put(bytes: Uint8Array): Promise<void>;
  /** Called before the first part of a file that needs several. */
  begin(): Promise<MultipartBlob>;
}

export class BlobWriter {
  readonly #sink: BlobSink;
  readonly #buffer: Uint8Array;
  #bufferedBytes = 0;
  #multipart: MultipartBlob | undefined;
  #size = 0;

  /** The file has at most `maxBytes`: a small one gets a smaller buffer than a whole part. */
  constructor(sink: BlobSink, maxBytes: number) {
    this.#sink = sink;
    this.#buffer = new Uint8Array(Math.min(maxBytes, PART_BYTES));
  }

  /** Copies the next bytes. The sink receives nothing before they exceed {@link PART_BYTES}. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#size += bytes.byteLength;
    for (let rest = bytes; rest.byteLength > 0; ) {
      if (this.#bufferedBytes === this.#buffer.byteLength) await this.#sendPart();
      const taken = rest.subarray(0, this.#buffer.byteLength - this.#bufferedBytes);
      this.#buffer.set(taken, this.#bufferedBytes);
      this.#bufferedBytes += taken.byteLength;
      rest = rest.subarray(taken.byteLength);
    }
  }

  /** Writes the rest, after which the file can be read. Returns its size in bytes. */
  async finish(): Promise<number> {
    if (this.#multipart === undefined) {
      await this.#sink.put(this.#buffer.subarray(0, this.#bufferedBytes));
    } else {
      await this.#sendPart();
      await this.#multipart.complete();
    }
    return this.#size;
  }

  async #sendPart(): Promise<void> {
    this.#multipart ??= await this.#sink.begin();
    await this.#multipart.add(this.#buffer.subarray(0, this.#bufferedBytes));
    this.#bufferedBytes = 0;
  }
}
