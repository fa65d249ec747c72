/** A durable stream of a room. */
import { linked, untilAborted } from "../core/aborting.ts";
import { segmentOf } from "../core/address.ts";
import { report } from "../core/emitter.ts";
import { ask, type Endpoint, type Patience, type StreamRequest } from "./endpoint.ts";
import { type StreamPart, StreamReader, type StreamReadOptions } from "./reader.ts";
import { type Appends, StreamWriter, type StreamWriterOptions, type WrittenStream } from "./writer.ts";

export interface CreateStreamOptions {
  /** `text/plain; charset=utf-8` by default; with `application/json`, the stream is a list of messages. Any other type but text is bytes. */
  readonly contentType?: string | undefined;
  /** Deletes the stream after this time without reads and writes. */
  readonly ttlSeconds?: number | undefined;
  /** Deletes the stream at this time. */
  readonly expiresAt?: Date | string | undefined;
  /** Makes the stream a fork: it begins with the content of another stream of the room, up to `offset` or its end. */
  readonly from?: { readonly name: string; readonly offset?: string | undefined } | undefined;
}

/** State of a stream. */
export interface StreamInfo {
  readonly contentType: string;
  /** The end of the content: a read from there gets what comes later. */
  readonly offset: string;
  readonly isClosed: boolean;
  readonly ttlSeconds: number | null;
  /** RFC 3339. */
  readonly expiresAt: string | null;
}

export interface SubscribeOptions extends Omit<StreamReadOptions, "signal"> {
  /** Called with the error that ends the subscription; reported like an uncaught one by default. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const TEXT = "text/plain; charset=utf-8";

function infoOf({ headers }: Response): StreamInfo {
  const ttl = headers.get("Stream-TTL");
  return {
    contentType: headers.get("Content-Type") ?? "application/octet-stream",
    offset: headers.get("Stream-Next-Offset") ?? "",
    isClosed: headers.get("Stream-Closed")?.toLowerCase() === "true",
    ttlSeconds: ttl === null ? null : Number(ttl),
    expiresAt: headers.get("Stream-Expires-At"),
  };
}

const timeOf = (time: Date | string): string => (typeof time === "string" ? time : time.toISOString());

/** `Message` is the type of a JSON stream's messages, which the service does not check. */
export class RoomStream<Message = unknown> {
  readonly name: string;
  readonly #endpoint: Endpoint;
  readonly #appends: Appends;
  #contentType: string | null = null;
  /** The request for the type, which concurrent appends share. */
  #reading: Promise<StreamInfo> | null = null;

  /** Throws VALIDATION_ERROR for an invalid name. Not for applications: `stream(client, name)` and `AtriumServer.stream` make it. */
  constructor(endpoint: Endpoint, appends: Appends, name: string) {
    this.#endpoint = endpoint;
    this.#appends = appends;
    segmentOf(name);
    this.name = name;
  }

  /** Creates the stream, unless it exists with the same options. Returns its state. Throws CONFLICT if it has others, or is closed. */
  create({ contentType, ttlSeconds, expiresAt, from }: CreateStreamOptions = {}): Promise<StreamInfo> {
    const type = contentType ?? (from === undefined ? TEXT : undefined);
    const headers = {
      ...(type !== undefined && { "Content-Type": type }),
      ...(ttlSeconds !== undefined && { "Stream-TTL": String(ttlSeconds) }),
      ...(expiresAt !== undefined && { "Stream-Expires-At": timeOf(expiresAt) }),
    };
    return this.#info("PUT", () => ({ ...headers, ...(from && this.#forkOf(from)) }));
  }

  #forkOf({ name, offset }: NonNullable<CreateStreamOptions["from"]>): Record<string, string> {
    const { pathname } = new URL(this.#endpoint.urlOf(name));
    return { "Stream-Forked-From": pathname, ...(offset !== undefined && { "Stream-Fork-Offset": offset }) };
  }

  /** Type, end and state. Throws NOT_FOUND if there is no such stream, and GONE if a fork has outlived it. */
  head(): Promise<StreamInfo> {
    return this.#info("HEAD");
  }

  async #info(
    method: "PUT" | "HEAD",
    headers: StreamRequest["headers"] = {},
    patience?: Patience,
  ): Promise<StreamInfo> {
    const request: StreamRequest = { method, headers, cache: "no-store" };
    const info = await ask(this.#endpoint, this.name, request, infoOf, patience);
    this.#contentType = info.contentType;
    return info;
  }

  /** Appends one value, once, in the order of the calls. A writer is faster for many. Throws CONFLICT if the stream is closed. */
  async append(value: unknown): Promise<void> {
    if (this.#contentType === null) {
      this.#reading ??= this.head().finally(() => {
        this.#reading = null;
      });
      await this.#reading;
    }
    await untilAborted(this.#endpoint.signals, () => this.#appends.append(this.#writtenOn(), value));
  }

  /** Closes the stream, with a last value if one is given. Closing it again without one changes nothing. */
  async close(finalValue?: unknown): Promise<void> {
    if (finalValue !== undefined) return this.writer().close(finalValue);
    const request = { method: "POST", headers: { "Stream-Closed": "true" } } as const;
    await ask(this.#endpoint, this.name, request, () => {});
  }

  /** Deletes the stream with its content. Throws NOT_FOUND if there is none. */
  async delete(): Promise<void> {
    this.#contentType = null;
    await ask(this.#endpoint, this.name, { method: "DELETE" }, () => {});
  }

  /** A writer, which the service knows from all others. */
  writer(options: StreamWriterOptions = {}): StreamWriter {
    return new StreamWriter(this.#writtenOn(), options, this.#endpoint.signals);
  }

  #writtenOn(): WrittenStream {
    const contentType = () => this.#contentType;
    return {
      endpoint: this.#endpoint,
      name: this.name,
      get contentType() {
        return contentType();
      },
      readType: async (signal) => {
        const patience = { signals: [signal], maxRetries: Number.POSITIVE_INFINITY };
        return (await this.#info("HEAD", {}, patience)).contentType;
      },
      forget: () => {
        this.#contentType = null;
      },
    };
  }

  /**
   * The parts of the stream as they come, until it is closed. Lost connections are restored where they broke. Rejects once the
   * stream or the right to read it is gone, such as with NOT_FOUND, GONE or FORBIDDEN.
   */
  async *read(options: StreamReadOptions = {}): AsyncGenerator<StreamPart<Message>, void, void> {
    const { aborting, unlink } = linked([...this.#endpoint.signals, options.signal]);
    try {
      aborting.signal.throwIfAborted();
      yield* new StreamReader<Message>(this.#endpoint, this.name, options, aborting.signal).parts();
    } finally {
      unlink();
      aborting.abort();
    }
  }

  /** Calls `listener` with each part. Returns a function that ends it. */
  subscribe(
    listener: (part: StreamPart<Message>) => void,
    { onError = report, ...options }: SubscribeOptions = {},
  ): () => void {
    const ending = new AbortController();
    const { signal } = ending;
    const listen = async () => {
      for await (const part of this.read({ ...options, signal })) if (!signal.aborted) listener(part);
    };
    listen().catch((error: unknown) => {
      if (!signal.aborted) onError(error);
    });
    return () => ending.abort();
  }
}
