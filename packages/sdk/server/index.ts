/** `atrium/server`: everything that belongs to an organization, for back ends. */
import { credential, Rest, type RestOptions } from "../core/rest.ts";
import type { RoomStream } from "../durable-streams/stream.ts";
import { Inbox, Operations } from "./generated.ts";
import type { ChangesOptions, RoomChange } from "./room-changes.ts";

export { AtriumError, type AtriumErrorCode } from "../core/error.ts";
export type { FileFilter, Progress } from "../core/rest.ts";
export type { StreamContent } from "../durable-streams/content.ts";
export type { StreamPart, StreamReadOptions } from "../durable-streams/reader.ts";
export type {
  CreateStreamOptions,
  RoomStream,
  StreamInfo,
  SubscribeOptions,
} from "../durable-streams/stream.ts";
export type { StreamWriter, StreamWriterOptions } from "../durable-streams/writer.ts";
export type * from "../wire/requests.ts";
export type * from "../wire/resources.ts";
export type * from "./generated.ts";
export type { Filter, Page, PageShown, Scroll, ScrollShown } from "./pages.ts";
export type { ChangePlace, ChangesOptions, RoomChange } from "./room-changes.ts";
export { verifyWebhook, verifyWebhookBatch, type WebhookHeaders } from "./verify-webhook.ts";
export type {
  BatchResponse,
  ContentOptions,
  EventFilter,
  PreviewOptions,
  ReadOptions,
  ServerUpload,
  StoreBatch,
  StoreOperation,
  TextOptions,
  WriteOptions,
} from "./written.ts";

export interface AtriumServerOptions extends RestOptions {
  /** Gives access to the whole organization: keep it on your servers. Null on the service's own pages. */
  readonly apiKey?: string | null | undefined;
  /** In place of a key, the token of a user or an identity, such as an agent: it opens what they may. */
  readonly authToken?: string | undefined;
}

/**
 * Each method throws an `AtriumError` if refused. Temporary failures are retried, with one effect. {@link withSignal} ends
 * calls early.
 */
export class AtriumServer extends Operations {
  readonly #options: AtriumServerOptions;
  readonly #signals: readonly AbortSignal[];

  /** Throws VALIDATION_ERROR for an invalid address, account ID or key. `signals` are those of {@link withSignal}. */
  constructor(options: AtriumServerOptions, signals: readonly AbortSignal[] = []) {
    const given: AtriumServerOptions = Object(options);
    super(new Rest({ ...given, authorization: authorizationOf(given) }, signals));
    this.#options = given;
    this.#signals = signals;
  }

  /**
   * The same organization, with calls that end once the signal is aborted: they are rejected with its reason,
   * and neither wait nor try again. A sent request may take effect.
   */
  withSignal(signal: AbortSignal): AtriumServer {
    return new AtriumServer(this.#options, [...this.#signals, signal]);
  }

  /** The inbox of an identity, by its ID. */
  inbox(identityId: string): Inbox {
    return new Inbox(this.rest, identityId);
  }

  /** A durable stream of a room. Throws VALIDATION_ERROR for an invalid ID or name. */
  async stream<Message = unknown>(roomId: string, name: string): Promise<RoomStream<Message>> {
    const { serverStream } = await import("./server-streams.ts");
    return serverStream(this.#options, authorizationOf(this.#options), this.#signals, [roomId, name]);
  }

  /** The lasting changes of a room as they happen, without a gap. Rejects once the right or the room has ended. */
  async *changes(roomId: string, options: ChangesOptions = {}): AsyncGenerator<RoomChange, void, void> {
    const { roomChanges } = await import("./room-changes.ts");
    yield* roomChanges(this.#options, authorizationOf(this.#options), this.#signals, [roomId, options]);
  }
}

/** Throws VALIDATION_ERROR for a malformed credential, and for none. */
function authorizationOf({ accountId, apiKey, authToken }: AtriumServerOptions): string | null {
  if (authToken !== undefined) return `Bearer ${credential("authToken", authToken)}`;
  if (apiKey === null) return null;
  const key = credential("apiKey", apiKey);
  return `Bearer ${btoa(`${credential("accountId", accountId)}:${key}`)}`;
}
