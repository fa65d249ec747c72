/** When to retry after a failed attempt. Pure. */
import type { AttemptResult } from "../../delivery/port/webhook-request.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../platform/durations.ts";

/** The delay before each attempt, counted from the one before; the first is made at once. */
export const RETRY_DELAYS_MS = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];
/** Delays vary by this share in both directions, so that deliveries that failed together are not retried together. */
export const JITTER = 0.2;
/** A receiver may delay the next attempt by `Retry-After`, but no longer than this. */
export const MAX_RETRY_AFTER_MS = DAY_MS;

interface AttemptSummary {
  /** How many attempts were made, this one included. */
  readonly attempts: number;
  readonly result: Pick<AttemptResult, "outcome" | "retryAfterMs">;
  /** The end of the attempt, in epoch milliseconds. */
  readonly now: number;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
}

/** When to retry, in epoch milliseconds; null when the event was delivered, refused for good, or retried often enough. */
export function planRetry({ attempts, result, now, random }: AttemptSummary): { readonly at: number } | null {
  const delay = RETRY_DELAYS_MS[attempts];
  if (result.outcome !== "failed" || delay === undefined) return null;
  const withJitter = delay * (1 + JITTER * (2 * random() - 1));
  const requested = Math.min(result.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
  return { at: now + Math.round(Math.max(withJitter, requested)) };
}
