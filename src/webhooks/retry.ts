/** When a delivery is tried again, and when a webhook has failed for so long that it is switched off. */
import type { AttemptResult } from "./attempt.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** How long before each attempt, counted from the one before; the first is made at once. */
export const RETRY_DELAYS_MS = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;

/** Delays are spread by this share to either side, so that what failed together does not come back together. */
export const JITTER = 0.2;
/** A receiver may ask for a later attempt, though not for a later one than this. */
export const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;
/** A webhook whose every attempt has failed for this long is switched off. */
export const MAX_FAILING_MS = 5 * 24 * HOUR_MS;

export interface Attempted {
  /** How many attempts were made, this one included. */
  readonly attempts: number;
  readonly result: Pick<AttemptResult, "outcome" | "retryAfterMs">;
  /** Epoch milliseconds at the attempt's end. */
  readonly now: number;
  /** Of [0, 1). */
  readonly random: () => number;
}

/** When to try again, in epoch milliseconds; null when it arrived, may never be tried again, or was tried enough. */
export function planRetry({ attempts, result, now, random }: Attempted): { readonly at: number } | null {
  const delay = RETRY_DELAYS_MS[attempts];
  if (result.outcome !== "failed" || delay === undefined) return null;
  const spread = delay * (1 + JITTER * (2 * random() - 1));
  const asked = Math.min(result.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
  return { at: now + Math.round(Math.max(spread, asked)) };
}

/** True when a webhook has done nothing but fail since `failingSince` (epoch ms; null while it does not), for too long. */
export const hasFailedTooLong = (failingSince: number | null, now: number): boolean =>
  failingSince !== null && now - failingSince >= MAX_FAILING_MS;
