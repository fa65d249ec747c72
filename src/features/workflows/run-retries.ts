/** When a failed run is made again. Pure. */

/** The pause before each retry, in milliseconds. */
const RETRY_DELAYS_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000] as const;

/** The most retries that a workflow may have. */
export const MAX_RETRIES = RETRY_DELAYS_MS.length;

/** When the run after this many that failed is made (epoch ms); null when no further one is. */
export function planRetry(failedRuns: number, retries: number, now: number): number | null {
  const delayMs = failedRuns <= retries ? RETRY_DELAYS_MS[failedRuns - 1] : undefined;
  return delayMs === undefined ? null : now + delayMs;
}
