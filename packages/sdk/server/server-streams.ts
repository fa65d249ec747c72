/** Streams with a credential of a back end, loaded when they are needed. */

import type { Signals } from "../core/aborting.ts";
import { segmentOf, serviceAddress } from "../core/address.ts";
import { getOrAdd } from "../core/emitter.ts";
import { credential, type RestOptions } from "../core/rest.ts";
import { Endpoint } from "../durable-streams/endpoint.ts";
import { RoomStream } from "../durable-streams/stream.ts";
import { Appends } from "../durable-streams/writer.ts";

export class ServerEndpoint extends Endpoint {
  /** The address of the room. */
  protected readonly room: string;
  readonly #authorization: string | null;
  readonly #fetch: typeof fetch;
  override readonly signals: Signals;

  constructor(options: RestOptions, roomId: string, authorization: string | null, signals: Signals) {
    super();
    const path = ["v1", "accounts", credential("accountId", options.accountId), "rooms", roomId]
      .map(segmentOf)
      .join("/");
    this.room = `http${serviceAddress(options.serverUrl)}/${path}`;
    this.#authorization = authorization;
    this.#fetch = options.fetch ?? fetch;
    this.signals = signals;
  }

  async authorization(): Promise<string | null> {
    return this.#authorization;
  }

  urlOf(name: string): string {
    return `${this.room}/streams/${segmentOf(name)}`;
  }

  renew(): boolean {
    return false;
  }

  /** Workers refuse modes of a browser's cache, which back ends do not have. */
  fetch(url: string, { cache: _, ...init }: RequestInit): Promise<Response> {
    return this.#fetch.call(undefined, url, init);
  }
}

const appends = new WeakMap<RestOptions, Appends>();

/** A stream of any room. Throws VALIDATION_ERROR for an invalid ID or name. */
export function serverStream<Message>(
  options: RestOptions,
  authorization: string | null,
  signals: Signals,
  [roomId, name]: readonly [roomId: string, name: string],
): RoomStream<Message> {
  const endpoint = new ServerEndpoint(options, roomId, authorization, signals);
  const own = getOrAdd(appends, options, () => new Appends());
  return new RoomStream<Message>(endpoint, own, name);
}
