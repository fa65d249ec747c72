/** The connection of a client: its latency, its messages, and a cut for trial. */
import type { AtriumClient } from "../client/index.ts";
import { type Inspection, inspectionOf } from "../client/inspection.ts";
import type { Runtime } from "../core/runtime.ts";

/** A client with any declared stores. */
export type InspectedClient = Omit<AtriumClient, "stores">;

const PING_INTERVAL_MS = 2_000;

const CUT = { code: 1006, reason: "Cut in DevTools" };
/** The original `open` of cut clients. */
const openers = new WeakMap<Runtime, Runtime["open"]>();

export class ConnectionMonitor {
  readonly client: InspectedClient;
  readonly #inspection: Inspection;
  readonly #pinging: ReturnType<typeof setInterval>;
  #latencyMs: number | null = null;
  #received = 0;
  #counted: WebSocket | null = null;
  #stopCounting = () => {};
  #cancelPing = () => {};

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
