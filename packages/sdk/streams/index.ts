/** `atrium/streams`: durable streams of the room, such as the answer of a model while it is generated. */

import { obtain } from "../client/connection/obtain-token.ts";
import type { AtriumClient, ClientTypes } from "../client/index.ts";
import { inspectionOf } from "../client/inspected.ts";
import { getOrAdd } from "../core/emitter.ts";
import { AtriumError, clientFault } from "../core/error.ts";
import { Endpoint } from "../durable-streams/endpoint.ts";
import { RoomStream } from "../durable-streams/stream.ts";
import { Appends } from "../durable-streams/writer.ts";

export { AtriumError, type AtriumErrorCode } from "../core/error.ts";
export type { StreamContent } from "../durable-streams/content.ts";
export type { StreamPart, StreamReadOptions } from "../durable-streams/reader.ts";
export type {
  CreateStreamOptions,
  RoomStream,
  StreamInfo,
  SubscribeOptions,
} from "../durable-streams/stream.ts";
export type { StreamWriter, StreamWriterOptions } from "../durable-streams/writer.ts";

/** A client with any declared stores and any types. */
export type StreamClient = Omit<AtriumClient<Record<never, never>, ClientTypes>, "stores">;

const NOT_JOINED = clientFault(
  "NOT_JOINED",
  "A room with a custom ID has streams once it is joined: call join() first",
);

class ClientEndpoint extends Endpoint {
  readonly #inspection: ReturnType<typeof inspectionOf>;

  constructor(client: StreamClient) {
    super();
    this.#inspection = inspectionOf(client);
  }

  async authorization(signal: AbortSignal): Promise<string> {
    return `Bearer ${await obtain(this.#inspection.tokens, signal)}`;
  }

  urlOf(name: string): string {
    const { connection, tokens } = this.#inspection;
    // Until the join, an identity may know the room by its custom ID only.
    if (tokens.claims === null || tokens.claims.room.length > 1) throw new AtriumError(NOT_JOINED);
    return connection.urlOf("streams", name);
  }

  renew(): boolean {
    const { tokens } = this.#inspection;
    tokens.forget();
    return tokens.isRenewable;
  }

  fetch(url: string, init: RequestInit): Promise<Response> {
    return this.#inspection.runtime.fetch(url, init);
  }

  override random(): number {
    return this.#inspection.runtime.random();
  }
}

const appends = new WeakMap<StreamClient, Appends>();

/**
 * A stream of the client's room, with the client's token. It needs no `join()`, unless the room was entered by its custom ID:
 * then its calls throw NOT_JOINED before. Throws VALIDATION_ERROR for an invalid name.
 */
export function stream<Message = unknown>(client: StreamClient, name: string): RoomStream<Message> {
  const own = getOrAdd(appends, client, () => new Appends());
  return new RoomStream<Message>(new ClientEndpoint(client), own, name);
}
