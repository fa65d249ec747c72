/** What the panel shows of one client: read from it when it is shown, and its changes and latency as they happen. */

import { inspections } from "../client/client.ts";
import type { StoreChange } from "../client/index.ts";
import type { Inspection } from "../client/inspection.ts";
import type { Runtime } from "../core/runtime.ts";
import type { InspectedClient, RecentChange, StoreView, UnconfirmedWrite } from "./views.ts";

/** How many of a store's latest changes are kept. */
const KEPT_CHANGES = 20;
const PING_INTERVAL_MS = 2_000;

/** The close event of a connection that was lost. */
const CUT = { code: 1006, reason: "Cut in DevTools" };
/** What opened the sockets of the clients whose connection is cut. */
const openers = new WeakMap<Runtime, Runtime["open"]>();

export class Monitor {
  readonly client: InspectedClient;
  readonly #inspection: Inspection;
  readonly #changes = new Map<string, RecentChange[]>();
  readonly #stops: (() => void)[] = [];
  #latest = 0;
  #latencyMs: number | null = null;
  #cancelPing = () => {};

  constructor(client: InspectedClient) {
    this.client = client;
    this.#inspection = inspectionOf(client);
    // Otherwise the service sends no presence to a client that reads none.
    this.#stops.push(client.presence.sync("*", () => {}));
    const pinging = setInterval(() => this.#ping(), PING_INTERVAL_MS);
    this.#stops.push(() => clearInterval(pinging));
    this.#ping();
  }

  stop(): void {
    this.#cancelPing();
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** The time of the latest round trip to the service; null until there was one over this connection. */
  get latencyMs(): number | null {
    return this.#inspection.connection.webSocket === null ? null : this.#latencyMs;
  }

  /** Whether {@link cut} was called, and not {@link restore} since. */
  get isCut(): boolean {
    return openers.has(this.#inspection.runtime);
  }

  /** Loses the connection as by a broken network, until {@link restore} is called. */
  cut(): void {
    const { runtime, connection } = this.#inspection;
    if (!this.isCut) openers.set(runtime, runtime.open);
    runtime.open = () => {
      throw new Error(CUT.reason);
    };
    connection.webSocket?.dispatchEvent(new CloseEvent("close", CUT));
    this.#latencyMs = null;
  }

  /** Lets attempts to reconnect succeed again, and has the next one made at once. */
  restore(): void {
    const { runtime } = this.#inspection;
    runtime.open = openers.get(runtime) ?? runtime.open;
    openers.delete(runtime);
    dispatchEvent(new Event("online"));
  }

  /** The stores that the client has opened, by name. */
  stores(): StoreView[] {
    return [...this.#inspection.stores.opened].map(([name, store]) => {
      const known = this.#changes.get(name);
      if (known === undefined) {
        this.#changes.set(name, []);
        this.#stops.push(store.on("changed", (change) => this.#changed(name, change)));
      }
      return { name, entries: store.getAll(), changes: known ?? [] };
    });
  }

  /** The writes that the service has not confirmed. */
  unconfirmedWrites(): readonly UnconfirmedWrite[] {
    return [...this.#inspection.stores.opened].flatMap(([store, { unconfirmed }]) =>
      unconfirmed.map(({ action, key, value }) => ({ store, action, key, value })),
    );
  }

  #changed(name: string, change: StoreChange<unknown>): void {
    this.#latest += 1;
    const before = this.#changes.get(name) ?? [];
    const { userId } = change;
    const by = userId && (this.client.users.get({ userId })?.name ?? userId);
    const latest = { ...change, number: this.#latest, at: new Date(), by };
    this.#changes.set(name, [latest, ...before].slice(0, KEPT_CHANGES));
  }

  /** The service answers this text without waking the room. */
  #ping(): void {
    this.#cancelPing();
    const socket = this.#inspection.connection.webSocket;
    if (socket?.readyState !== WebSocket.OPEN) return;
    const answered = new AbortController();
    const sentAt = performance.now();
    this.#cancelPing = () => answered.abort();
    const receive = ({ data }: MessageEvent) => {
      if (data !== "pong") return;
      answered.abort();
      this.#latencyMs = performance.now() - sentAt;
    };
    socket.addEventListener("message", receive, { signal: answered.signal });
    socket.send("ping");
  }
}

/** The parts of a client. Throws for an object that is not a client of the same copy of the SDK. */
function inspectionOf(client: object): Inspection {
  const inspection = inspections.get(client);
  if (inspection === undefined) throw new Error("client must be an AtriumClient of the same copy of atrium");
  return inspection;
}
