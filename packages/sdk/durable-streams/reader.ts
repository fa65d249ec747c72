/** Reads a stream: the present content by catch-up requests, then server-sent events, or long-polling where they do not arrive. */
import { linked } from "../core/aborting.ts";
import { AtriumError, clientFault } from "../core/error.ts";
import { ContentDecoder, type ContentKind, kindOf, type StreamContent } from "./content.ts";
import { type Attempt, attempt, type Endpoint, type StreamRequest, timed, waitAfter } from "./endpoint.ts";
import { type Chunk, readEvents } from "./events.ts";

export interface StreamReadOptions {
  /** The `offset` of an earlier part: the content behind it. `now` for new content only; the whole stream by default. */
  readonly offset?: string | undefined;
  /** False to end at the present content; true by default: the read ends when the stream is closed. */
  readonly live?: boolean | undefined;
  /** Ends the read, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A piece of the stream. */
export interface StreamPart<Message = unknown> extends StreamContent<Message> {
  /** The place behind the part, for a read that continues there. */
  readonly offset: string;
  /** Whether the part ends with the stream's present content. */
  readonly isUpToDate: boolean;
  /** Whether the stream is closed, and this is its last part. */
  readonly isClosed: boolean;
}

const START = "-1";
/** Proxies that hold events back are found by it: the service sends one at once. */
const FIRST_EVENT_MS = 10_000;
/** The service ends live reads after about a minute. */
const SILENCE_MS = 90_000;
/** Connections without any event, after which the read turns to long-polling. */
const MAX_SILENT = 2;

export class StreamReader<Message> {
  readonly #endpoint: Endpoint;
  readonly #name: string;
  readonly #isLive: boolean;
  readonly #signal: AbortSignal;
  readonly #decoder = new ContentDecoder<Message>();
  #kind: ContentKind = "bytes";
  #offset: string;
  #cursor: string | null = null;
  #headers: Headers | null = null;
  #hasCaughtUp = false;
  /** Connections in a row that have sent no event. */
  #silent = 0;

  constructor(endpoint: Endpoint, name: string, options: StreamReadOptions, signal: AbortSignal) {
    this.#endpoint = endpoint;
    this.#name = name;
    this.#offset = options.offset ?? START;
    this.#isLive = options.live ?? true;
    this.#signal = signal;
  }

  /** Repeats what fails from the latest offset, until the stream is closed or refused. */
  async *parts(): AsyncGenerator<StreamPart<Message>, void, void> {
    /** Whether a part has said that the read is up to date. */
    let isAnnounced = false;
    for (let failures = 0; ; failures += 1) {
      if (failures > 0) await waitAfter(this.#endpoint, failures, this.#headers, this.#signal);
      try {
        for await (const chunk of this.#chunks()) {
          failures = -1;
          const { isUpToDate, isClosed } = chunk;
          const isLast = isClosed || (isUpToDate && !this.#isLive);
          this.#offset = chunk.offset;
          this.#cursor = chunk.cursor;
          this.#hasCaughtUp ||= isUpToDate;
          const content = this.#decoder.decode(this.#kind, chunk.data, isLast);
          const isNews = isLast || (isUpToDate && !isAnnounced);
          if (content === null || (isEmpty(content) && !isNews)) continue;
          isAnnounced ||= isUpToDate;
          yield { ...content, ...{ offset: chunk.offset, isUpToDate, isClosed } };
          if (isLast) return;
        }
      } catch (error) {
        this.#signal.throwIfAborted();
        if (!(error instanceof AtriumError && error.retryable)) throw error;
        failures = Math.max(failures, 0);
      }
    }
  }

  /** A text that ends within a character goes on in bytes: events have whole characters only. */
  #chunks(): AsyncGenerator<Chunk, void, void> {
    if (!this.#hasCaughtUp) return this.#request({}, "no-cache");
    if (this.#silent < MAX_SILENT && !this.#decoder.isHolding) return this.#events();
    const cursor = this.#cursor === null ? {} : { cursor: this.#cursor };
    return this.#request({ ...cursor, live: "long-poll" }, "no-store");
  }

  async *#request(query: StreamRequest["query"], cache: RequestCache): AsyncGenerator<Chunk, void, void> {
    const request = this.#get(query, cache);
    const timeoutMs = cache === "no-store" ? SILENCE_MS : undefined;
    yield this.#resultOf(
      await timed(
        this.#signal,
        (ends) =>
          attempt(this.#endpoint, this.#name, request, ends, async (response) => {
            const { headers, status } = response;
            if (status !== 204) this.#kind = kindOf(headers.get("Content-Type"));
            return {
              data: [new Uint8Array(await response.arrayBuffer())],
              offset: headers.get("Stream-Next-Offset") ?? this.#offset,
              cursor: headers.get("Stream-Cursor"),
              isUpToDate: isSet(headers, "Stream-Up-To-Date") || isSet(headers, "Stream-Closed"),
              isClosed: isSet(headers, "Stream-Closed"),
            };
          }),
        timeoutMs,
      ),
    );
  }

  async *#events(): AsyncGenerator<Chunk, void, void> {
    const { aborting, unlink } = linked([this.#signal]);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const expectWithin = (delayMs: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (!hasAnswered) this.#silent += 1; // a proxy may hold back the headers as well
        aborting.abort();
      }, delayMs);
    };
    let hasAnswered = false;
    try {
      expectWithin(FIRST_EVENT_MS);
      const request = this.#get({ live: "sse" }, "no-store");
      const { body, headers } = this.#resultOf(
        await attempt(this.#endpoint, this.#name, request, aborting.signal, (response) => response),
      );
      hasAnswered = true;
      this.#silent += 1;
      if (body === null || !headers.get("Content-Type")?.startsWith("text/event-stream")) return;
      const isBase64 = headers.get("Stream-SSE-Data-Encoding") === "base64";
      for await (const chunk of readEvents(body, isBase64, () => expectWithin(SILENCE_MS))) {
        this.#silent = 0;
        yield chunk;
      }
    } catch (cause) {
      if (cause instanceof AtriumError) throw cause;
      throw new AtriumError(clientFault("DISCONNECTED", "The live read was cut"), undefined, { cause });
    } finally {
      clearTimeout(timer);
      unlink();
      aborting.abort();
    }
  }

  #get(query: StreamRequest["query"], cache: RequestCache): StreamRequest {
    return { method: "GET", query: { ...query, offset: this.#offset }, cache };
  }

  #resultOf<Result>(tried: Attempt<Result>): Result {
    this.#headers = tried.error === null ? null : tried.headers;
    if (tried.error !== null) throw tried.error;
    return tried.result;
  }
}

const isSet = (headers: Headers, name: string): boolean => headers.get(name)?.toLowerCase() === "true";

const isEmpty = ({ text, messages, bytes }: StreamContent): boolean =>
  text.length + messages.length + bytes.length === 0;
