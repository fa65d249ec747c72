/** Reads a large request body in large chunks, and only up to its size limit. */

import type { Module } from "../../platform/error-codes.ts";
import { AppError } from "../../platform/errors.ts";

/** The client has gone before it had sent the whole body: it reads no response, and nothing of ours has failed. */
export class BrokenOff extends AppError {
  constructor(module: Module, cause: unknown) {
    super(module, "BAD_REQUEST", "The request broke off before its end; send it again");
    this.cause = cause;
  }
}

/** By default, the platform reads 4 KiB at a time, and every read costs a turn of the event loop. */
const READ_BYTES = 64 * 1024;
const NO_BYTES = new Uint8Array();

/** workerd's extension of the standard BYOB reader. */
interface MinimumReader {
  /** Waits for at least `bytes` bytes or the end. The last bytes may come together with `done` or before it. */
  readAtLeast(
    bytes: number,
    into: Uint8Array,
  ): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

const openReader = (body: ReadableStream<Uint8Array>): MinimumReader =>
  body.getReader({ mode: "byob" }) as unknown as MinimumReader;

export class Body {
  readonly #reader: MinimumReader | null;
  readonly #tooLarge: AppError;
  /** How many more bytes the body may have. */
  #remaining: number;
  #isDone = false;

  /** {@link read} throws `tooLarge` when the body has more than `maxBytes`, and {@link BrokenOff} when it ends early. */
  constructor(stream: ReadableStream<Uint8Array> | null, maxBytes: number, tooLarge: AppError) {
    this.#reader = stream && openReader(stream);
    this.#remaining = maxBytes;
    this.#tooLarge = tooLarge;
  }

  /** The next bytes, in a new buffer; null at the end. */
  async read(): Promise<Uint8Array | null> {
    if (this.#reader === null || this.#isDone) return null;
    const { value = NO_BYTES, done } = await this.#reader
      .readAtLeast(READ_BYTES, new Uint8Array(READ_BYTES))
      .catch((error: unknown) => {
        throw new BrokenOff(this.#tooLarge.module, error);
      });
    this.#isDone = done;
    this.#remaining -= value.byteLength;
    if (this.#remaining < 0) throw this.#tooLarge;
    return value;
  }

  /** Reads and discards the rest, up to the limit. Never rejects. */
  async drain(): Promise<void> {
    try {
      while ((await this.read()) !== null);
    } catch {
      // The body ended early or exceeds its limit: the response can be sent either way.
    }
  }
}
