/** A WebSocket that is heard until it is dropped. */
import type { Runtime } from "../../core/runtime.ts";
import { type Message, parseFrame } from "./frames.ts";
import type { Closure } from "./machine.ts";

const OPEN = 1;

export interface TransportListener {
  opened(): void;
  received(message: Message): void;
  closed(closure: Closure): void;
}

export class Transport {
  readonly socket: WebSocket;
  readonly #listening = new AbortController();
  /** When the latest frame arrived, by the clock that never goes back. */
  receivedAt = -Infinity;

  /** Throws the browser's error for addresses that a page may not connect to. */
  constructor(url: string, runtime: Runtime, listener: TransportListener, protocols?: string[]) {
    this.socket = runtime.open(url, protocols);
    const listening = { signal: this.#listening.signal };
    this.socket.addEventListener("open", () => listener.opened(), listening);
    this.socket.addEventListener(
      "message",
      ({ data }) => {
        this.receivedAt = runtime.now();
        if (typeof data !== "string" || data === "pong") return;
        for (const message of parseFrame(data)) {
          if (this.#listening.signal.aborted) return;
          listener.received(message);
        }
      },
      listening,
    );
    this.socket.addEventListener("close", ({ code, reason }) => listener.closed({ code, reason }), listening);
  }

  /** Sends a frame if the socket is open. A send on a closing socket would be logged as an error. */
  send(frame: string): void {
    if (this.socket.readyState === OPEN) this.socket.send(frame);
  }

  /** Closes the socket, and hears nothing of it any more. */
  drop(code: number): void {
    this.#listening.abort();
    this.socket.close(code);
  }
}
