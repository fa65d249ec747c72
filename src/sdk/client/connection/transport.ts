/** One WebSocket from its opening to its end: frames in and out, signs of life, and one report of how it ended. */

import type { Runtime } from "../../core/runtime.ts";
import { type Message, parseFrame } from "./frames.ts";

/** The service drops those who are silent for 75 s. */
const PING_INTERVAL_MS = 25_000;
/** After a ping, and for opening: a connection over which nothing comes for so long is dead. */
const PATIENCE_MS = 15_000;
/** What browsers, too, report for a connection that was not closed but broke. */
const BROKEN = 1006;

export interface Closure {
  readonly code: number;
  readonly reason: string;
}

export interface TransportListener {
  opened(): void;
  received(messages: readonly Message[]): void;
  /** Called once at most, and after {@link Transport.drop} no more. */
  ended(ending: Closure): void;
}

export class Transport {
  readonly #surroundings: Runtime;
  readonly #socket: WebSocket;
  readonly #listener: TransportListener;
  readonly #listening = new AbortController();
  #cancel: () => void;
  #isHeard = false;
  #isOpen = false;

  constructor(url: string, surroundings: Runtime, listener: TransportListener) {
    this.#surroundings = surroundings;
    this.#listener = listener;
    this.#socket = surroundings.open(url);
    const { signal } = this.#listening;
    this.#socket.addEventListener("open", () => this.#open(), { signal });
    this.#socket.addEventListener("message", ({ data }) => this.#receive(data), { signal });
    this.#socket.addEventListener("close", ({ code, reason }) => this.#end({ code, reason }), { signal });
    this.#cancel = surroundings.after(PATIENCE_MS, () =>
      this.#end({ code: BROKEN, reason: "The connection could not be opened in time" }),
    );
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  #open(): void {
    this.#isOpen = true;
    this.#rest();
    this.#listener.opened();
  }

  #receive(data: unknown): void {
    this.#isHeard = true;
    if (typeof data === "string" && data !== "pong") this.#listener.received(parseFrame(data));
  }

  /** Until the next ping. */
  #rest(): void {
    this.#cancel();
    this.#cancel = this.#surroundings.after(PING_INTERVAL_MS, () => this.#ping());
  }

  #ping(): void {
    this.#isHeard = false;
    this.send("ping");
    this.#cancel = this.#surroundings.after(PATIENCE_MS, () => {
      if (this.#isHeard) this.#rest();
      else this.#end({ code: BROKEN, reason: "The connection went silent" });
    });
  }

  /** On a socket that is closing the frame goes nowhere; its end is reported by itself. */
  send(frame: string): void {
    if (this.#isOpen) this.#socket.send(frame);
  }

  #end(ending: Closure): void {
    this.drop();
    this.#listener.ended(ending);
  }

  /** Closes without a report; whatever still comes is not listened to. */
  drop(): void {
    this.#isOpen = false;
    this.#cancel();
    this.#listening.abort();
    this.#socket.close(1000);
  }
}
