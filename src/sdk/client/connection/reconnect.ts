/** Decides about reconnecting after the end of a connection, and times the next attempt. */
import { backoffMs } from "../../../platform/flow/backoff.ts";
import { codeOfClose, type Fault, isRetryable } from "../../core/error.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { Closure } from "./room-socket.ts";

const BACKOFF = { firstMs: 1_000, maxMs: 10_000 };
const NORMAL_CLOSURE = 1000;
/** Closes both a connection with a too large frame and one that reads too slowly. */
const TOO_MUCH = 4413;

export type ReconnectDecision = "soon" | "later" | "never";

/** Follows the table of close codes in docs/protocol.md. Other codes stand for a broken connection. */
export function planReconnect({ code, reason }: Closure): ReconnectDecision {
  if (code === NORMAL_CLOSURE) return "never";
  if (code === TOO_MUCH) return reason === "reader too slow" ? "soon" : "never";
  const error = codeOfClose(code);
  if (error === undefined) return "soon";
  return error === "CONFLICT" || isRetryable(error) ? "later" : "never";
}

/** Milliseconds with full jitter, so that the users of a restarted room do not reconnect at the same moment. */
export function reconnectDelayMs(attempt: number, decision: "soon" | "later", random: number): number {
  if (decision === "later") return BACKOFF.maxMs * (0.5 + random / 2);
  return backoffMs(attempt, BACKOFF, random);
}

export const faultOf = ({ code, reason }: Closure): Fault => ({
  code: code === TOO_MUCH ? "VALIDATION_ERROR" : (codeOfClose(code) ?? "DISCONNECTED"),
  module: "Rooms",
  message: reason || `The connection was closed with code ${code}`,
});

export class ReconnectTimer {
  readonly #runtime: Runtime;
  attempt = 0;
  #cancels: (() => void)[] = [];

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  get isWaiting(): boolean {
    return this.#cancels.length > 0;
  }

  reset(): void {
    this.attempt = 0;
  }

  /** Runs `action` after the delay of the next attempt, or as soon as the browser is online again. */
  scheduleNext(decision: "soon" | "later", action: () => void): void {
    this.attempt += 1;
    const delayMs = reconnectDelayMs(this.attempt, decision, this.#runtime.random());
    const run = () => {
      this.cancel();
      action();
    };
    this.#cancels = [this.#runtime.after(delayMs, run), this.#runtime.listen("online", run)];
  }

  cancel(): void {
    for (const cancel of this.#cancels.splice(0)) cancel();
  }
}
