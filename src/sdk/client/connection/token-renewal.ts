/** Gives an open connection a new token before the old one expires, so that the room does not close it. */
import type { Runtime } from "../../core/runtime.ts";
import type { Requests } from "./requests.ts";
import type { Tokens } from "./tokens.ts";

/** Timers cannot wait longer than 24 days; and shorter waits follow changes of the device's clock. */
const MAX_WAIT_MS = 3_600_000;
const RETRY_MS = 15_000;

interface RenewalContext {
  readonly tokens: Tokens;
  readonly requests: Requests;
  readonly runtime: Runtime;
}

/** A connection has joined with the current token; `lost` is aborted when it ends. */
export function renewTokens({ tokens, requests, runtime }: RenewalContext, lost: AbortSignal): void {
  const plan = (delayMs: number | null): void => {
    if (lost.aborted || delayMs === null) return;
    const cancelTimer = runtime.after(Math.min(delayMs, MAX_WAIT_MS), () => {
      lost.removeEventListener("abort", cancelTimer);
      const remainingMs = tokens.renewInMs;
      if (remainingMs === 0) void renew();
      else plan(remainingMs);
    });
    lost.addEventListener("abort", cancelTimer);
  };
  const renew = async (): Promise<void> => {
    try {
      const token = await tokens.obtain(lost, true);
      await requests.send("TOKEN_REFRESH", { token }, { resend: false, read: () => {} });
      plan(tokens.renewInMs);
    } catch {
      // Until the old token expires; then the connection is closed, and joining again asks once more.
      plan(RETRY_MS);
    }
  };
  plan(tokens.renewInMs);
}
