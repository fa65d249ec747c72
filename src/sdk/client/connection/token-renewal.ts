/** Gives an open connection a new token before the old one expires, so that the room does not close it. */
import { AtriumError } from "../../core/error.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { Requests } from "./requests.ts";
import type { Tokens } from "./token.ts";

/** Timers wait at most 24 days; shorter waits follow changes of the device's clock. */
const MAX_WAIT_MS = 3_600_000;
const RETRY_MS = 15_000;
/** A token is renewed this long before its end, or a quarter of its time if that is shorter. */
const EARLY_MS = 60_000;

interface RenewalContext {
  readonly tokens: Tokens;
  readonly requests: Requests;
  readonly runtime: Runtime;
}

function renewInMs({ receivedAt, trustedMs, usableUntil }: Tokens, runtime: Runtime): number {
  const earlyMs = Math.min(EARLY_MS, (usableUntil - receivedAt) / 4);
  const dueAt = Math.max(usableUntil - earlyMs, receivedAt + trustedMs);
  return Math.max(dueAt - runtime.date(), 0);
}

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
      // A token of another user, or of a lower role, is not asked for again: this connection cannot have it.
      if (!(error instanceof AtriumError && error.code === "FORBIDDEN")) plan(RETRY_MS);
    }
  };
  plan(renewInMs(tokens, runtime));
}
