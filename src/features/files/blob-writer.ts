/** Writes a file of unknown length to R2, buffering one part at a time, because R2 needs each part's length. */
import { AppError } from "@atrium/contract/errors.ts";
import type { MultipartBlob } from "./storage/blobs.ts";

interface PartHolder {
  /** The upload fails with its next byte. */
  giveWay(): void;
}

/** Bounds the buffers of all uploads of an isolate together: above the bound the oldest buffer is written out. */
export class UploadMemory {
  readonly #maxBytes: number;
  /** The bytes that each part holds, in the order in which the parts began. */
  readonly #parts = new Map<PartHolder, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Counts a grown buffer. Above the bound, the part that has been filling the longest gives way. */
  grow(holder: PartHolder, bytes: number): void {
    this.#bytes += bytes - (this.#parts.get(holder) ?? 0);
    this.#parts.set(holder, bytes);
    for (const oldest of this.#parts.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      if (oldest === holder) continue;
      this.release(oldest);
      oldest.giveWay();
    }
  }

  release(holder: PartHolder): void {
    this.#bytes -= this.#parts.get(holder) ?? 0;
    this.#parts.delete(holder);
  }
}

export const PART_BYTES = 8 * 1024 * 1024;

export interface BlobSink {
  put(bytes: Uint8Array): Promise<void>;
  begin(): Promise<MultipartBlob>;
}

/** A part's buffer begins with this size and doubles as it fills: a slow upload takes little memory. */
const FIRST_BUFFER_BYTES = 64 * 1024;
/** For all uploads in this isolate, which has 128 MiB. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;
const memory = new UploadMemory(MAX_BUFFERED_BYTES);

const GAVE_WAY = new AppError(
  "Files",
  "RATE_LIMITED",
  "The upload was too slow for the number of uploads in progress; send it again",
);

/** Writes one file: a single put while it fits into one part, and a multipart upload from then on. */
export class BlobWriter {
  readonly #sink: BlobSink;
  readonly #maxPartBytes: number;
  #buffer = new Uint8Array();
  #bufferedBytes = 0;
  #hasGivenWay = false;
  #multipart: MultipartBlob | undefined;
  #size = 0;

  constructor(sink: BlobSink, maxBytes: number) {
    this.#sink = sink;
    this.#maxPartBytes = Math.min(maxBytes, PART_BYTES);
  }

  /** Copies the bytes. RATE_LIMITED when other uploads needed this upload's memory. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#size += bytes.byteLength;
    for (let remaining = bytes; remaining.byteLength > 0; ) {
      if (this.#bufferedBytes === this.#maxPartBytes) await this.#sendPart();
      this.#makeRoom(remaining.byteLength);
      const taken = remaining.subarray(0, this.#buffer.byteLength - this.#bufferedBytes);
      this.#buffer.set(taken, this.#bufferedBytes);
      this.#bufferedBytes += taken.byteLength;
      remaining = remaining.subarray(taken.byteLength);
    }
  }

  #makeRoom(bytes: number): void {
    if (this.#hasGivenWay) throw GAVE_WAY;
    const needed = Math.min(this.#maxPartBytes, this.#bufferedBytes + bytes);
    if (needed <= this.#buffer.byteLength) return;
    const doubled = Math.max(needed, FIRST_BUFFER_BYTES, 2 * this.#buffer.byteLength);
    const grown = new Uint8Array(Math.min(this.#maxPartBytes, doubled));
    grown.set(this.#buffer.subarray(0, this.#bufferedBytes));
    this.#buffer = grown;
    memory.grow(this, grown.byteLength);
  }

  giveWay(): void {
    this.#hasGivenWay = true;
    this.end();
  }

  end(): void {
    memory.release(this);
    this.#buffer = new Uint8Array();
    this.#bufferedBytes = 0;
  }

  async finish(): Promise<number> {
    if (this.#hasGivenWay) throw GAVE_WAY;
    if (this.#multipart === undefined) {
      await this.#sink.put(this.#buffer.subarray(0, this.#bufferedBytes));
    } else {
      await this.#sendPart();
      await this.#multipart.complete();
    }
    this.end();
    return this.#size;
  }

  async #sendPart(): Promise<void> {
    const part = this.#buffer.subarray(0, this.#bufferedBytes);
    this.#multipart ??= await this.#sink.begin();
    await this.#multipart.add(part);
    this.end();
  }
}
