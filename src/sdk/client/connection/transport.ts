/** One WebSocket: sends and receives frames, pings, and reports once how it ended. */
import type { Runtime } from "../../core/runtime.ts";
import { type Message, parseFrame } from "./frames.ts";

/**
 * The interval of pings; a connection without any message in between is lost. The service closes connections
 * that are silent for 75 s, and browsers run the timers of a hidden page once a minute.
 */
const PING_INTERVAL_MS = 20_000;
const TIMEOUT_MS = 15_000;
/** The close code of browsers for a lost connection. */
export const ABNORMAL_CLOSURE = 1006;
/** The client closes a socket that it replaces with this code: its user has not left. */
export const REPLACED = 4000;

/** `WebSocket.OPEN` */
const OPEN = 1;

export interface Closure {
  readonly code: number;
  readonly reason: string;
}

export interface TransportListener {
  opened(): void;
  received(messages: readonly Message[]): void;
  closed(closure: Closure): void;
}

export class Transport {
  readonly #runtime: Runtime;
  readonly socket: WebSocket;
  readonly #listener: TransportListener;
  readonly #listening = new AbortController();
  #cancelTimer: () => void = () => {};
  /** Whether the socket has opened, or received anything, since the latest ping. */
  #isAlive = false;
  isOpen = false;

  constructor(url: string, runtime: Runtime, listener: TransportListener) {
    this.#runtime = runtime;
    this.#listener = listener;
    this.socket = runtime.open(url);
    const { signal } = this.#listening;
    this.socket.addEventListener("open", () => this.#open(), { signal });
    this.socket.addEventListener("message", ({ data }) => this.#receive(data), { signal });
    this.socket.addEventListener("close", (event) => this.#close(event), { signal });
    this.#pingAfter(TIMEOUT_MS);
  }

  #open(): void {
    this.isOpen = true;
    this.#isAlive = true;
    this.#cancelTimer();
    this.#pingAfter(PING_INTERVAL_MS);
    this.#listener.opened();
  }

  #receive(data: unknown): void {
    this.#isAlive = true;
    if (typeof data === "string" && data !== "pong") this.#listener.received(parseFrame(data));
  }

  #pingAfter(ms: number): void {
    this.#cancelTimer = this.#runtime.after(ms, () => {
      if (!this.#isAlive) return this.#close({ code: ABNORMAL_CLOSURE, reason: "The connection timed out" });
      this.#isAlive = false;
      this.send("ping");
      this.#pingAfter(PING_INTERVAL_MS);
    });
  }

  /** Sends a frame if the socket is open. A send on a closing socket would be logged as an error. */
  send(frame: string): void {
    if (this.isOpen && this.socket.readyState === OPEN) this.socket.send(frame);
  }

  #close({ code, reason }: Closure): void {
    this.drop(REPLACED);
    this.#listener.closed({ code, reason });
  }

  /** Closes the socket without a report, and ignores further messages. */
  drop(code: number): void {
    this.isOpen = false;
    this.#cancelTimer();
    this.#listening.abort();
    this.socket.close(code);
  }
}
