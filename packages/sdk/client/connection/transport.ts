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
  #isDropped = false;
  /** When the latest frame arrived, by the clock that never goes back. */
  receivedAt = -Infinity;

  /** Throws the browser's error for addresses that a page may not connect to. */
  constructor(url: string, runtime: Runtime, listener: TransportListener, protocols?: string[]) {
    this.socket = runtime.open(url, protocols);
    // Signals would end the listeners, but Node forgets that when it frees memory.
    this.socket.addEventListener("open", () => this.#isDropped || listener.opened());
    this.socket.addEventListener("message", ({ data }) => {
      if (this.#isDropped) return;
      this.receivedAt = runtime.now();
      if (typeof data !== "string" || data === "pong") return;
      for (const message of parseFrame(data)) this.#isDropped || listener.received(message);
    });
    this.socket.addEventListener(
      "close",
      ({ code, reason }) => this.#isDropped || listener.closed({ code, reason }),
    );
  }

  /** Sends a frame if the socket is open. A send on a closing socket would be logged as an error. */
  send(frame: string): void {
    if (this.socket.readyState === OPEN) this.socket.send(frame);
  }

  /** Closes the socket, and hears nothing of it any more. */
  drop(code: number): void {
    this.#isDropped = true;
    this.socket.close(code);
  }
}
