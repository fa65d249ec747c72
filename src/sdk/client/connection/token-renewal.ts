/** Gives an open connection a new token before the old one expires, so that the room does not close it. */
import type { Runtime } from "../../core/runtime.ts";
import type { Requests } from "./requests.ts";
import type { Tokens } from "./tokens.ts";

/** Timers cannot wait longer than 24 days; and shorter waits follow changes of the device's clock. */
const MAX_WAIT_MS = 3_600_000;
const RETRY_MS = 15_000;

export class TokenRenewal {
  readonly #tokens: Tokens;
  readonly #requests: Requests;
  readonly #runtime: Runtime;
  #current = new AbortController();
  #cancelTimer = () => {};

  constructor(tokens: Tokens, requests: Requests, runtime: Runtime) {
    this.#tokens = tokens;
    this.#requests = requests;
    this.#runtime = runtime;
  }

  /** A connection has joined with the current token. */
  start(): void {
    this.stop();
    this.#current = new AbortController();
    this.#plan(this.#current.signal, this.#tokens.renewInMs);
  }

  stop(): void {
    this.#current.abort();
    this.#cancelTimer();
  }

  #plan(signal: AbortSignal, delayMs: number | null): void {
    if (signal.aborted || delayMs === null) return;
    this.#cancelTimer = this.#runtime.after(Math.min(delayMs, MAX_WAIT_MS), () => {
      const remainingMs = this.#tokens.renewInMs;
      if (remainingMs === 0) void this.#renew(signal);
      else this.#plan(signal, remainingMs);
    });
  }

  async #renew(signal: AbortSignal): Promise<void> {
    try {
      const token = await this.#tokens.obtain(signal, true);
      await this.#requests.send("TOKEN_REFRESH", { token }, { resend: false, read: () => {} });
      this.#plan(signal, this.#tokens.renewInMs);
    } catch {
      // Until the old token expires; then the connection is closed, and joining again asks once more.
      this.#plan(signal, RETRY_MS);
    }
  }
}
