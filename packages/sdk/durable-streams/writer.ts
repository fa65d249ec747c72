/** Writes into a stream as an idempotent producer: each piece is stored once, in order, over any network. */
import { linked, type Signals } from "../core/aborting.ts";
import { getOrAdd } from "../core/emitter.ts";
import { AtriumError, clientFault } from "../core/error.ts";
import { abortable, Deferred, newId } from "../core/runtime.ts";
import { kindOf } from "./content.ts";
import { attempt, type Endpoint, timed, waitAfter } from "./endpoint.ts";
import { MAX_CHUNK_BYTES, PendingPieces } from "./pending-pieces.ts";

export interface StreamWriterOptions {
  /** Names the writer to the service: a new writer of the same name stops the one before. Another name each time by default. */
  readonly producerId?: string | undefined;
  /**
   * Least time between the starts of two requests, in milliseconds; 100 by default. `flush` and `close` do not wait for it. An
   * organization's keys may send 100 requests a second together.
   */
  readonly intervalMs?: number | undefined;
  /** Stops the writer, whose calls then reject with the signal's reason. A sent piece may be stored. */
  readonly signal?: AbortSignal | undefined;
}

const INTERVAL_MS = 100;
const CLOSED = clientFault("CONFLICT", "The writer is closed");

let latestEpoch = 0;

/** Higher than that of any earlier writer of the same name, as far as clocks agree. */
function nextEpoch(): number {
  latestEpoch = Math.max(latestEpoch + 1, Date.now() * 1000 + Math.floor(Math.random() * 1000));
  return latestEpoch;
}

/** The stream as its writer knows it. */
export interface WrittenStream {
  readonly endpoint: Endpoint;
  readonly name: string;
  /** The type of the content, which each append repeats; null until it is known. */
  readonly contentType: string | null;
  /** Asks the service for it, until it answers. */
  readType(signal: AbortSignal): Promise<string>;
  /** The writer has stopped: the stream may be another one now. */
  forget(): void;
}

export class StreamWriter {
  readonly #stream: WrittenStream;
  readonly #producerId: string;
  readonly #signals: Signals;
  readonly #intervalMs: number;
  readonly #pieces = new PendingPieces();
  #epoch = nextEpoch();
  #seq = 0;
  #running: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;
  /** Whether something has come since the last look. */
  #hasNews = false;
  /** Callers of `flush` and `close`, for whom requests do not wait. */
  #waiting = 0;
  #sentAt = -Infinity;
  #hurry = () => {};
  #isClosing = false;
  #isClosed = false;
  #offset: string | null = null;

  /** Not for applications: `writer()` of a stream makes it. */
  constructor(stream: WrittenStream, options: StreamWriterOptions, signals: Signals = []) {
    const { producerId = newId(), intervalMs = INTERVAL_MS, signal } = options;
    this.#stream = stream;
    this.#producerId = producerId;
    this.#intervalMs = intervalMs;
    this.#signals = [...signals, signal];
  }

  /** The stream's end after the latest stored piece; null before the first. */
  get offset(): string | null {
    return this.#offset;
  }

  /**
   * Writes a piece: text, bytes or any JSON, as the stream's type asks. Resolves at once unless a mebibyte waits, so that it can
   * be awaited or not. Pieces that come during a request and the interval after it go into the next one together. Rejects with the error that has
   * stopped the writer, as `flush` and `close` do.
   */
  write(value: unknown): Promise<void> {
    return quiet(this.#write(value));
  }

  async #write(value: unknown): Promise<void> {
    this.#check();
    if (this.#isClosing) throw new AtriumError(CLOSED);
    this.#add(value);
    this.#start();
    if (this.#pieces.size > MAX_CHUNK_BYTES) await this.flush();
  }

  /** Resolves when all pieces are stored. */
  flush(): Promise<void> {
    return quiet(this.#flush());
  }

  async #flush(): Promise<void> {
    this.#waiting += 1;
    this.#hurry();
    while (this.#running !== null) await this.#running;
    this.#waiting -= 1;
    this.#check();
  }

  /** Closes the stream together with the last piece, for good. Repeated calls wait for the first. */
  close(finalValue?: unknown): Promise<void> {
    return quiet(this.#close(finalValue));
  }

  async #close(finalValue: unknown): Promise<void> {
    this.#check();
    if (finalValue !== undefined) {
      if (this.#isClosing) throw new AtriumError(CLOSED);
      this.#add(finalValue);
    }
    this.#isClosing = true;
    this.#start();
    await this.#flush();
  }

  #add(value: unknown): void {
    const { contentType } = this.#stream;
    this.#pieces.add(value, contentType === null ? null : kindOf(contentType));
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  #start(): void {
    if (this.#isClosed) return;
    this.#hasNews = true;
    this.#running ??= this.#run()
      .catch((error: unknown) => {
        this.#failure = { error };
        this.#hasNews = false;
        this.#stream.forget();
      })
      .then(() => {
        this.#running = null;
        if (this.#hasNews) this.#start();
      });
  }

  async #run(): Promise<void> {
    const { aborting, unlink } = linked(this.#signals);
    const { signal } = aborting;
    try {
      signal.throwIfAborted();
      const contentType = this.#stream.contentType ?? (await this.#stream.readType(signal));
      for (;;) {
        this.#hasNews = false;
        if (this.#pieces.isEmpty && !this.#isClosing) return;
        await this.#pause(signal);
        const body = this.#pieces.take(kindOf(contentType), this.#isClosing);
        const closes = this.#isClosing && this.#pieces.isEmpty;
        if (body === null && !closes) return;
        await this.#send(contentType, body, closes, signal);
        this.#isClosed = closes;
        if (closes) return;
      }
    } finally {
      unlink();
    }
  }

  /** Lets pieces come together, unless a caller waits for them. */
  async #pause(signal: AbortSignal): Promise<void> {
    const leftMs = this.#sentAt + this.#intervalMs - performance.now();
    if (leftMs <= 0 || this.#waiting > 0) return;
    const { promise, resolve } = new Deferred();
    const timer = setTimeout(resolve, leftMs);
    this.#hurry = resolve;
    await abortable(promise, { signal }).finally(() => clearTimeout(timer));
  }

  /** Repeats the request under its number until it is answered: the service stores it once. */
  async #send(
    contentType: string,
    body: string | Uint8Array<ArrayBuffer> | null,
    closes: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { endpoint, name } = this.#stream;
    /** Whether an attempt may have been stored. */
    let isUncertain = false;
    this.#sentAt = performance.now();
    for (let failures = 1; ; failures += 1) {
      const headers = {
        ...(body !== null && { "Content-Type": contentType }),
        ...(closes && { "Stream-Closed": "true" }),
        "Producer-Epoch": String(this.#epoch),
        "Producer-Id": this.#producerId,
        "Producer-Seq": String(this.#seq),
      };
      const request = { method: "POST", headers, body } as const;
      const tried = await timed(signal, (ends) =>
        attempt(endpoint, name, request, ends, (response) => response.headers.get("Stream-Next-Offset")),
      );
      if (tried.error === null) {
        this.#offset = tried.result ?? this.#offset;
        this.#seq += 1;
        return;
      }
      const { error, headers: answered } = tried;
      const other = Number(answered?.get("Producer-Epoch") ?? Number.NaN);
      // The clock of an earlier writer of this name was ahead.
      if (error.code === "FORBIDDEN" && other >= this.#epoch && this.#seq === 0 && !isUncertain) {
        this.#epoch = other + 1;
        continue;
      }
      if (!error.retryable) throw error;
      isUncertain ||= error.code !== "RATE_LIMITED";
      await waitAfter(endpoint, failures, answered, signal);
    }
  }
}

/**
 * Single appends of one client. They share a producer, because the service keeps the state of each; those to the same stream
 * at the same time share a writer.
 */
export class Appends {
  readonly #producerId = newId();
  readonly #writers = new Map<string, { readonly writer: StreamWriter; uses: number }>();

  async append(stream: WrittenStream, value: unknown): Promise<void> {
    const address = stream.endpoint.urlOf(stream.name);
    const shared = getOrAdd(this.#writers, address, () => ({
      writer: new StreamWriter(stream, { producerId: this.#producerId }),
      uses: 0,
    }));
    shared.uses += 1;
    try {
      await shared.writer.write(value);
      await shared.writer.flush();
    } finally {
      shared.uses -= 1;
      if (shared.uses === 0) this.#writers.delete(address);
    }
  }
}

/** The promise, of which a rejection may stay unheard: the writer's next call rejects, too. */
function quiet(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
}
