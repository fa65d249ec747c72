/** A real client of a room in memory, with a copy of a store that it keeps by its own calls and by `changed`. */
import {
  AtriumClient,
  type OfflineSupport,
  type Store,
  type WriteOptions,
  type Written,
} from "atrium/client";
import { Clock } from "../clock.ts";
import { Mirror } from "../mirror.ts";
import type { ModelRoom } from "./model-room.ts";
import type { ModelSocket } from "./model-socket.ts";

const tokenOf = (userId: string): string => {
  const claims = { accountId: "account", roomId: "room", userId };
  return `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.`;
};

/** The tests' own socket has the parts of a WebSocket that the client uses. */
const asWebSocket = (socket: ModelSocket): WebSocket => socket as unknown as WebSocket;

/** Lets the promises that are due settle. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class ModelClient {
  readonly clock: Clock;
  readonly client: AtriumClient;
  readonly store: Store;
  /** State that an application would show. */
  readonly mirror: Mirror;
  readonly outcomes: Promise<PromiseSettledResult<unknown>>[] = [];
  socket: ModelSocket | null = null;
  #syncs = 0;
  /** Parts of downloads on their way, as they were when they were asked for. */
  readonly #downloads: (() => void)[] = [];

  constructor(room: ModelRoom, userId: string, offline?: OfflineSupport) {
    this.clock = new Clock();
    this.clock.open = () => {
      this.socket = room.open(userId);
      return asWebSocket(this.socket);
    };
    this.clock.fetch = async (url, { signal, method, body }) => {
      if (method === "POST") return room.post(userId, String(body));
      const arrival = (): Promise<void> =>
        new Promise((resolve, reject) => {
          this.#downloads.push(resolve);
          signal?.addEventListener("abort", () => reject(signal.reason));
        });
      const response = room.fetch(url, arrival);
      await arrival();
      return response;
    };
    const options = { serverUrl: "http://localhost", authToken: tokenOf(userId) };
    this.client = new AtriumClient(offline === undefined ? options : { ...options, offline }, this.clock);
    this.store = this.client.store("notes");
    this.mirror = new Mirror(this.store);
  }

  set(key: string, value: unknown, options: WriteOptions = {}): void {
    this.#keep(this.mirror.set(key, value, options));
  }

  update(key: string, value: Record<string, unknown>, options: WriteOptions = {}): void {
    this.#keep(this.mirror.update(key, value, options));
  }

  setAll(entries: readonly (readonly [string, unknown])[]): void {
    this.outcomes.push(Promise.allSettled([this.mirror.setAll(entries)]).then(([outcome]) => outcome));
  }

  delete(key: string, options: WriteOptions = {}): void {
    this.#keep(this.mirror.delete(key, options));
  }

  sync(): void {
    this.#syncs += 1;
    const end = () => {
      this.#syncs -= 1;
    };
    this.store.sync().then(end, end); // the connection may end first
  }

  #keep(write: Promise<Written>): void {
    this.outcomes.push(Promise.allSettled([write]).then(([outcome]) => outcome));
  }

  /** Delivers the next message to the client or, after the others, the next part of a download. */
  deliverDown(): boolean {
    return this.socket?.deliverDown() || this.deliverDownload();
  }

  deliverDownload(): boolean {
    const deliver = this.#downloads.shift();
    deliver?.();
    return deliver !== undefined;
  }

  /** Whether the store is being loaded: its next request or download may not have been made yet. */
  get isLoading(): boolean {
    return this.#syncs > 0 || this.store.state === "stale" || this.#downloads.length > 0;
  }

  /** Delivers everything that is on its way, in both directions, until nothing is. */
  async deliverAll(): Promise<void> {
    do {
      while (this.socket?.deliverUp() || this.deliverDown());
      await settle();
    } while (this.socket?.isOpen && (this.isLoading || !this.socket.isIdle));
  }
}
