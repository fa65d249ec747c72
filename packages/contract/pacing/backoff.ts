/** Backoff: how long to wait before a retry. Pure: randomness is passed in. */

interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Exponential backoff in milliseconds after 1 or more failures; `random` (0 to 1) is full jitter. */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffOptions, random = 1): number {
  return random * Math.min(maxMs, firstMs * 2 ** (failures - 1));
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** A `Retry-After` header (seconds or a date) as milliseconds from `now` (epoch ms); null when absent or malformed. */
export function parseRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER);
  const date = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
