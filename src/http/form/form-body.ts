/** A large body on its way in, read in chunks of a good size, and no further than it may be long. */

/** Left to itself, the platform gives 4 KiB at a time, each of which costs a turn of the loop. */
const READ_BYTES = 64 * 1024;
const NOTHING = new Uint8Array();

interface PatientReader {
  /** Waits for `bytes` of them, or for the end; the last ones may come with `done` or before it. */
  readAtLeast(
    bytes: number,
    into: Uint8Array,
  ): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

/** The platform's own reader, as it is beyond what the standard says of it. */
const patientReader = (body: ReadableStream<Uint8Array>): PatientReader =>
  body.getReader({ mode: "byob" }) as unknown as PatientReader;

export class Body {
  readonly #reader: PatientReader | null;
  readonly #tooLarge: Error;
  #left: number;
  #isDone = false;

  /** {@link read} throws `tooLarge` when there are more than `maxBytes`. */
  constructor(stream: ReadableStream<Uint8Array> | null, maxBytes: number, tooLarge: Error) {
    this.#reader = stream && patientReader(stream);
    this.#left = maxBytes;
    this.#tooLarge = tooLarge;
  }

  /** The next bytes, in a buffer of their own; null at the end. */
  async read(): Promise<Uint8Array | null> {
    if (this.#reader === null || this.#isDone) return null;
    const { value = NOTHING, done } = await this.#reader.readAtLeast(READ_BYTES, new Uint8Array(READ_BYTES));
    this.#isDone = done;
    this.#left -= value.byteLength;
    if (this.#left < 0) throw this.#tooLarge;
    return value;
  }

  /** Reads what is left to no end, as far as it may go on; never rejects. */
  async drain(): Promise<void> {
    try {
      while ((await this.read()) !== null);
    } catch {
      // It broke off, or has no end: there is nobody to be kept waiting for an answer.
    }
  }
}
