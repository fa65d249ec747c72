/** Streams, as the methods of a room's object take and return them. Times are epoch milliseconds, positions are bytes. */
import { AppError, type ErrorCode } from "@atrium/contract/errors.ts";
import type { Writer } from "./documents.ts";

/** A refusal, with the headers of the protocol that tell a client how to go on. */
export class StreamRefused extends AppError {
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    const retryAfter = headers["Retry-After"];
    super("Rooms", code, message, retryAfter === undefined ? undefined : Number(retryAfter));
    this.headers = headers;
  }
}

/** A {@link StreamRefused} on the way to the caller: errors lose their class there. */
export interface StreamRefusal extends Pick<StreamRefused, "code" | "message" | "headers"> {
  readonly isRefused: true;
}

/** The stream's end and configuration, as every answer shows it. */
export interface StreamState {
  readonly contentType: string;
  /** The offset after the last byte. */
  readonly next: string;
  readonly isClosed: boolean;
  /** Null without one. */
  readonly ttlSeconds: number | null;
  readonly expiresAt: number | null;
}

interface ForkPlace {
  readonly name: string;
  /** Null for the source's end. */
  readonly offset: string | null;
  /** Bytes after the offset or, of JSON, messages. */
  readonly beyond: number;
}

export interface StreamCreation {
  /** Null for the source's, or for bytes. */
  readonly contentType: string | null;
  readonly ttlSeconds: number | null;
  readonly expiresAt: number | null;
  readonly closes: boolean;
  readonly fork: ForkPlace | null;
  readonly data: Uint8Array;
  /** The user who writes; null for the organization. */
  readonly userId: string | null;
  readonly writer?: Writer | undefined;
}

export interface Created {
  readonly isNew: boolean;
  readonly state: StreamState;
}

/** The place of an append among those of its producer. */
export interface ProducerTurn {
  readonly id: string;
  readonly epoch: number;
  readonly seq: number;
}

export interface StreamAppend {
  /** Null without a header. */
  readonly contentType: string | null;
  readonly data: Uint8Array;
  readonly closes: boolean;
  readonly producer: ProducerTurn | null;
  /** The `Stream-Seq`; null for none. */
  readonly order: string | null;
  readonly userId: string | null;
  readonly writer?: Writer | undefined;
}

export interface Appended {
  /** False if an earlier request has appended or closed the same. */
  readonly isNew: boolean;
  readonly state: StreamState;
  /** The producer's latest turn; null without a producer. */
  readonly producer: ProducerTurn | null;
}

/** A part of a stream. */
export interface StreamPart extends StreamState {
  /** Names the stream for good: another one of the same name has another one. */
  readonly id: number;
  readonly data: Uint8Array;
  /** The offset of the first byte. */
  readonly from: string;
  /** Whether `next` is the stream's end. */
  readonly isUpToDate: boolean;
}

/** A request for a part. */
export interface StreamRead {
  readonly name: string;
  /** An offset, `-1` for the beginning or `now` for the end. */
  readonly from: string;
  /** The user who reads, whose rights may have ended since; absent for the organization. */
  readonly writer?: Writer | undefined;
}

/** A live read as events. */
export interface EventsRead extends StreamRead {
  readonly accountId: string;
  /** The cursor of the response before; null for none. */
  readonly cursor: string | null;
}

export interface ListedStream extends StreamState {
  readonly name: string;
  readonly createdAt: number;
  /** In storage, without what a fork reads of its source. */
  readonly bytes: number;
}

export interface StreamPage {
  readonly streams: readonly ListedStream[];
  /** The name to go on after; null at the end. */
  readonly next: string | null;
}

/** Messages of JSON each end with this character, which no JSON contains. */
export const MESSAGE_END = 0x1e;

export const isJson = (contentType: string): boolean => mediaTypeOf(contentType) === "application/json";

export const mediaTypeOf = (contentType: string): string =>
  (contentType.split(";")[0] ?? "").trim().toLowerCase();
