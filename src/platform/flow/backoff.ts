/** Exponential backoff, for everything that retries. Pure: randomness is passed in. */

export interface BackoffOptions {
  /** The delay after the first failure, in milliseconds. */
  readonly firstMs: number;
  /** No delay is longer, in milliseconds. */
  readonly maxMs: number;
}

/**
 * The delay after `failures` failures in a row (1 or more), in milliseconds: doubled each time, up to `maxMs`.
 * `random` (0 to 1) scales it, so that clients that failed together do not retry together
 * ("full jitter": https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffOptions, random = 1): number {
  return random * Math.min(maxMs, firstMs * 2 ** (failures - 1));
}
