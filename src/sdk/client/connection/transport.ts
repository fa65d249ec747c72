/** One WebSocket: sends and receives frames, pings, and reports once how it ended. */
import type { Runtime } from "../../core/runtime.ts";
import { type Message, parseFrame } from "./frames.ts";

/** The service closes connections that are silent for 75 s. */
const PING_INTERVAL_MS = 25_000;
/** How long opening can take, and how long after a ping nothing can arrive, before the connection counts as lost. */
const TIMEOUT_MS = 15_000;
/** The close code that browsers report for a connection that was lost rather than closed. */
export const ABNORMAL_CLOSURE = 1006;

export interface Closure {
  readonly code: number;
  readonly reason: string;
}

export interface TransportListener {
  opened(): void;
  received(messages: readonly Message[]): void;
  /** Called at most once, and not after {@link Transport.drop}. */
  closed(closure: Closure): void;
}

export class Transport {
  readonly #runtime: Runtime;
  readonly #socket: WebSocket;
  readonly #listener: TransportListener;
  readonly #listening = new AbortController();
  #cancelTimer: () => void;
  #receivedSincePing = false;
  #isOpen = false;

  constructor(url: string, runtime: Runtime, listener: TransportListener) {
    this.#runtime = runtime;
    this.#listener = listener;
    this.#socket = runtime.open(url);
    const { signal } = this.#listening;
    this.#socket.addEventListener("open", () => this.#open(), { signal });
    this.#socket.addEventListener("message", ({ data }) => this.#receive(data), { signal });
    this.#socket.addEventListener("close", ({ code, reason }) => this.#close({ code, reason }), { signal });
    this.#cancelTimer = runtime.after(TIMEOUT_MS, () => this.#lose());
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get socket(): WebSocket {
    return this.#socket;
  }

  #open(): void {
    this.#isOpen = true;
    this.#schedulePing();
    this.#listener.opened();
  }

  #receive(data: unknown): void {
    this.#receivedSincePing = true;
    if (typeof data === "string" && data !== "pong") this.#listener.received(parseFrame(data));
  }

  #schedulePing(): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#runtime.after(PING_INTERVAL_MS, () => this.#ping());
  }

  #ping(): void {
    this.#receivedSincePing = false;
    this.send("ping");
    this.#cancelTimer = this.#runtime.after(TIMEOUT_MS, () => {
      if (this.#receivedSincePing) this.#schedulePing();
      else this.#lose();
    });
  }

  /** Sends a frame if the socket is open. On one that is closing, the frame is lost and the close is reported. */
  send(frame: string): void {
    if (this.#isOpen) this.#socket.send(frame);
  }

  #lose(): void {
    this.#close({ code: ABNORMAL_CLOSURE, reason: "The connection timed out" });
  }

  #close(closure: Closure): void {
    this.drop();
    this.#listener.closed(closure);
  }

  /** Closes the socket without a report, and ignores whatever still arrives. */
  drop(): void {
    this.#isOpen = false;
    this.#cancelTimer();
    this.#listening.abort();
    this.#socket.close(1000);
  }
}
