/** A real client of a room in memory, with a copy of a store that it keeps by its own calls and by `changed`. */
import { AtriumClient, type Store, type StoreChange, type Written } from "../../../src/sdk/client/index.ts";
import { isRecord } from "../../../src/sdk/core/json.ts";
import { Clock } from "../clock.ts";
import type { ModelRoom } from "./model-room.ts";
import type { ModelSocket } from "./model-socket.ts";

const tokenOf = (userId: string): string => {
  const claims = { accountId: "account", roomId: "room", userId };
  return `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.`;
};

/** The tests' own socket has what the client uses of a WebSocket. */
const asWebSocket = (socket: ModelSocket): WebSocket => socket as unknown as WebSocket;

/** Lets the promises that are due settle. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class ModelClient {
  readonly clock: Clock;
  readonly client: AtriumClient;
  readonly store: Store;
  /** What an application would show. */
  readonly mirror = new Map<string, unknown>();
  readonly changes: StoreChange<unknown>[] = [];
  readonly outcomes: Promise<PromiseSettledResult<unknown>>[] = [];
  socket: ModelSocket | null = null;

  constructor(room: ModelRoom, userId: string) {
    this.clock = new Clock();
    this.clock.open = () => {
      this.socket = room.open(userId);
      return asWebSocket(this.socket);
    };
    this.client = new AtriumClient({ serverUrl: "http://localhost", authToken: tokenOf(userId) }, this.clock);
    this.store = this.client.store("notes");
    this.store.on("changed", (change) => this.#apply(change));
  }

  #apply(change: StoreChange<unknown>): void {
    const { key, previous, value } = change;
    const isTrue = isSame(previous, this.mirror.get(key)) && !isSame(value, previous);
    if (!isTrue) throw new Error(`Not what has changed: ${JSON.stringify(change)}`);
    this.changes.push(change);
    this.#show(key, value);
  }

  #show(key: string, value: unknown): void {
    if (value === undefined) this.mirror.delete(key);
    else this.mirror.set(key, value);
  }

  set(key: string, value: unknown, options = {}): void {
    this.#keep(this.store.set(key, value, options));
    this.#show(key, value);
  }

  update(key: string, value: Record<string, unknown>, options = {}): void {
    this.#keep(this.store.update(key, value, options));
    const shown = this.mirror.get(key);
    if (shown === undefined || isRecord(shown)) this.#show(key, { ...shown, ...value });
  }

  delete(key: string, options = {}): void {
    this.#keep(this.store.delete(key, options));
    this.#show(key, undefined);
  }

  sync(): void {
    this.store.sync().catch(() => {}); // the connection may end first
  }

  #keep(write: Promise<Written>): void {
    this.outcomes.push(Promise.allSettled([write]).then(([outcome]) => outcome));
  }

  /** Whether the mirror has exactly what the store shows. */
  get isMirrored(): boolean {
    return isSame(sorted(Object.fromEntries(this.mirror)), sorted(this.store.getAll()));
  }

  /** Delivers everything that is on its way, in both directions, until nothing is. */
  async deliverAll(): Promise<void> {
    do {
      while (this.socket?.deliverUp() || this.socket?.deliverDown());
      await settle();
    } while (this.socket?.isOpen && !this.socket.isIdle);
  }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export const sorted = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
