/** A client at work: connection, which can be cut on trial, stores, and unconfirmed writes. */
import type { ChangeReason, Store, StoreChange } from "../client/index.ts";
import { inspectionOf } from "../client/inspected.ts";
import type { Inspection } from "../client/inspection.ts";
import type { Runtime } from "../core/runtime.ts";
import { type InspectedClient, Traffic } from "./traffic.ts";

const PING_INTERVAL_MS = 2_000;

const CUT = { code: 1006, reason: "Cut in DevTools" };
const openers = new WeakMap<Runtime, Runtime["open"]>();

/** The connection of a client: state, latency, counts, and a switch that cuts it. */
export class ConnectionMonitor {
  readonly client: InspectedClient;
  readonly #inspection: Inspection;
  readonly #pinging: ReturnType<typeof setInterval>;
  #latencyMs: number | null = null;
  #received = 0;
  #counted: WebSocket | null = null;
  #stopCounting = () => {};
  #cancelPing = () => {};
  #traffic: Traffic | null = null;

  /** Pings the service every 2 s until {@link stop} is called. Throws for a client of another copy of the SDK. */
  constructor(client: InspectedClient) {
    this.client = client;
    this.#inspection = inspectionOf(client);
    this.#pinging = setInterval(() => this.#ping(), PING_INTERVAL_MS);
    this.#ping();
  }

  stop(): void {
    clearInterval(this.#pinging);
    this.#cancelPing();
    this.#stopCounting();
    this.#traffic?.stop();
  }

  /** The messages of the connection, recorded since this was first read. */
  get traffic(): Traffic {
    this.#traffic ??= new Traffic(this.client);
    return this.#traffic;
  }

  /** The time of the latest round trip to the service; null until there was one over this connection. */
  get latencyMs(): number | null {
    return this.#inspection.connection.webSocket === null ? null : this.#latencyMs;
  }

  /** The number of messages from the service since the monitor exists, without answers to its pings. */
  get messagesReceived(): number {
    return this.#received;
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

  /** The service answers this text without waking the room. */
  #ping(): void {
    this.#cancelPing();
    const socket = this.#inspection.connection.webSocket;
    if (socket?.readyState !== WebSocket.OPEN) return;
    if (socket !== this.#counted) this.#count(socket);
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

  #count(socket: WebSocket): void {
    this.#stopCounting();
    const count = ({ data }: MessageEvent) => {
      if (data !== "pong") this.#received += 1;
    };
    socket.addEventListener("message", count);
    this.#counted = socket;
    this.#stopCounting = () => socket.removeEventListener("message", count);
  }
}

export interface RecentChange extends Pick<StoreChange<unknown>, "key" | "action" | "value"> {
  /** `own`: a call of the application itself. */
  readonly reason: ChangeReason | "own";
  readonly number: number;
  readonly at: Date;
  /** The name of the user whose write it is, or the id of one who was deleted; null for your back end. */
  readonly by: string | null;
}

export interface StoreView {
  readonly name: string;
  readonly entries: Readonly<Record<string, unknown>>;
  /** The latest first. */
  readonly changes: readonly RecentChange[];
}

/** An unanswered write: the same object while later calls become part of it. */
type Write = Store["unconfirmed"][number];

/** Calls `written` for the application's own calls: unconfirmed writes that `isReported` does not recognize. */
function watchOwnWrites(
  store: Store,
  isReported: (change: StoreChange<unknown>) => boolean,
  written: (write: Write) => void,
): () => void {
  const known = new WeakMap<Write, unknown>();
  let isDue = false;
  const learn = (write: Write) => known.set(write, write.value);
  const find = () => {
    isDue = false;
    for (const write of store.unconfirmed) {
      if (known.has(write) && known.get(write) === write.value) continue;
      learn(write);
      written(write);
    }
  };
  for (const write of store.unconfirmed) learn(write);
  const stops = [
    store.on("changed", (change) => {
      if (isReported(change))
        for (const write of store.unconfirmed) if (write.key === change.key) learn(write);
    }),
    store.on("updated", () => {
      // A gesture can write hundreds of entries in one turn.
      if (!isDue) queueMicrotask(find);
      isDue = true;
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

const KEPT_CHANGES = 20;

/** All that the panel shows of a client. */
export class Monitor extends ConnectionMonitor {
  readonly #inspection: Inspection;
  readonly #changes = new Map<string, RecentChange[]>();
  readonly #stops: (() => void)[] = [];
  #latest = 0;

  constructor(client: InspectedClient) {
    super(client);
    this.#inspection = inspectionOf(client);
    this.traffic.messages();
    // The service sends no presence to a client that reads none.
    this.#stops.push(client.presence.sync("*", () => {}));
  }

  override stop(): void {
    super.stop();
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** The stores that the client has opened, by name. */
  stores(): StoreView[] {
    return [...this.#inspection.stores.opened].map(([name, store]) => {
      const known = this.#changes.get(name);
      if (known === undefined) this.#watch(name, store);
      return { name, entries: store.getAll(), changes: known ?? [] };
    });
  }

  unconfirmedWrites() {
    return [...this.#inspection.stores.opened].flatMap(([store, { unconfirmed }]) =>
      unconfirmed.map(({ action, key, value }) => ({ store, action, key, value })),
    );
  }

  #watch(name: string, store: Store): void {
    this.#changes.set(name, []);
    const isByUser = ({ userId, reason }: StoreChange<unknown>) =>
      userId === this.client.userId && reason !== "reverted";
    this.#stops.push(
      store.on("changed", ({ userId, ...change }) => {
        const by = userId && (this.client.users.get({ userId })?.name ?? userId);
        this.#add(name, { ...change, by });
      }),
      watchOwnWrites(store, isByUser, ({ key, action }) => {
        this.#add(name, { key, action, value: store.get(key), by: "you", reason: "own" });
      }),
    );
  }

  #add(name: string, change: Omit<RecentChange, "number" | "at">): void {
    this.#latest += 1;
    const latest = { ...change, number: this.#latest, at: new Date() };
    this.#changes.set(name, [latest, ...(this.#changes.get(name) ?? [])].slice(0, KEPT_CHANGES));
  }
}
