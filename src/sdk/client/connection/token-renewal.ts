/** Gives an open connection a new token before the old one expires, so that the room does not close it. */
import { AtriumError } from "../../core/error.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { Requests } from "./requests.ts";
import type { Tokens } from "./token.ts";

/** Timers cannot wait longer than 24 days; and shorter waits follow changes of the device's clock. */
const MAX_WAIT_MS = 3_600_000;
const RETRY_MS = 15_000;
/** How long before the end of a token the next one is asked for: this, or a quarter of its time if that is shorter. */
const EARLY_MS = 60_000;

interface RenewalContext {
  readonly tokens: Tokens;
  readonly requests: Requests;
  readonly runtime: Runtime;
}

/** How long the token can be used before it should be renewed. */
function renewInMs({ receivedAt, trustedMs, usableUntil }: Tokens, runtime: Runtime): number {
  const earlyMs = Math.min(EARLY_MS, (usableUntil - receivedAt) / 4);
  const dueAt = Math.max(usableUntil - earlyMs, receivedAt + trustedMs);
  return Math.max(dueAt - runtime.date(), 0);
}

/** A connection has joined with the current token; `lost` is aborted when it ends. */
export function renewTokens({ tokens, requests, runtime }: RenewalContext, lost: AbortSignal): void {
  const plan = (delayMs: number): void => {
    if (lost.aborted) return;
    const cancelTimer = runtime.after(Math.min(delayMs, MAX_WAIT_MS), () => {
      lost.removeEventListener("abort", cancelTimer);
      const remainingMs = renewInMs(tokens, runtime);
      if (remainingMs === 0) void renew();
      else plan(remainingMs);
    });
    lost.addEventListener("abort", cancelTimer);
  };
  const renew = async (): Promise<void> => {
    try {
      const token = await tokens.obtain(lost, true);
      await requests.send("TOKEN_REFRESH", { token }, { resend: false, read: () => {} });
      plan(renewInMs(tokens, runtime));
    } catch (error) {
      // Until the old token expires; then the connection is closed, and joining again asks once more. A token of another
      // user, or of a lower role, is not asked for again: this connection cannot have it.
      if (!(error instanceof AtriumError && error.code === "FORBIDDEN")) plan(RETRY_MS);
    }
  };
  plan(renewInMs(tokens, runtime));
}
