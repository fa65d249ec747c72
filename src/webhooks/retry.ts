/** When a failed delivery is retried, and when a webhook has failed for so long that it is disabled. Pure. */
import type { AttemptResult } from "./attempt.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The delay before each attempt, counted from the one before; the first is made at once. */
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

/** Delays vary by this share in both directions, so that deliveries that failed together are not retried together. */
export const JITTER = 0.2;
/** A receiver may delay the next attempt by `Retry-After`, but no longer than this. */
export const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;
/** A webhook whose every attempt has failed for this long is disabled. */
export const MAX_FAILING_MS = 5 * 24 * HOUR_MS;

export interface AttemptSummary {
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

/** How long a webhook has done nothing but fail; kept in its object. */
export interface Health {
  /** Epoch milliseconds of the first failure since the last success; null while the webhook succeeds. */
  readonly failingSince: number | null;
  /** The version of the webhook's row that this is about: any change to the row starts anew. */
  readonly version: number;
}

/** The health after an attempt at `now` (epoch ms) with the row's `version`; `isHopeless` when it failed too long. */
export function judgeHealth(
  before: Health,
  attempt: { readonly hasFailed: boolean; readonly version: number; readonly now: number },
): Health & { readonly isHopeless: boolean } {
  const { hasFailed, version, now } = attempt;
  const knownSince = before.version === version ? before.failingSince : null;
  const failingSince = hasFailed ? (knownSince ?? now) : null;
  return {
    failingSince,
    version,
    isHopeless: failingSince !== null && now - failingSince >= MAX_FAILING_MS,
  };
}
