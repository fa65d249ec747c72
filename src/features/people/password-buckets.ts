/** Token buckets of wrong passwords: wrong ones must not take the thread from everyone else. */
import { KeyedLimits, reserve, TokenBucket } from "@atrium/contract/pacing/token-bucket.ts";

/** Rates of wrong passwords, of some 100 ms each: per client, per isolate, and a share for known browsers. */
const WRONG_OF_CLIENT = { perSecond: 0.1, burst: 5 };
const WRONG_OF_ALL = { perSecond: 1, burst: 20 };
const WRONG_OF_KNOWN = { perSecond: 0.25, burst: 5 };
/** A check that would wait longer is refused. */
const MAX_WAIT_MS = 5_000;
const MAX_CLIENTS = 10_000;

/** Makes the buckets of one isolate; the result reserves the check of a client's password. */
export function passwordBuckets() {
  const clients = new KeyedLimits((now) => new TokenBucket(WRONG_OF_CLIENT, now), MAX_CLIENTS);
  const all = new TokenBucket(WRONG_OF_ALL, 0);
  const known = new TokenBucket(WRONG_OF_KNOWN, 0);
  return (client: string, now: number, isKnown: boolean) => {
    const hasShare = isKnown && known.affordableIn(now) < all.affordableIn(now);
    const buckets = [clients.of(client, now), hasShare ? known : all];
    const waitMs = reserve(buckets, MAX_WAIT_MS, now);
    const isRefused = waitMs > MAX_WAIT_MS;
    return {
      /** Milliseconds until the check may start, or, when it is refused, until asking again is of use. */
      waitMs: isRefused ? waitMs - MAX_WAIT_MS : waitMs,
      isRefused,
      refund: (later: number) => {
        for (const bucket of buckets) bucket.spend(-1, later);
      },
    };
  };
}
