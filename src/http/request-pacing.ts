/** Spreads the requests of a credential that sends many at once, while its isolate also serves others. */
import { TokenBucket } from "../platform/flow/token-bucket.ts";
import { TtlCache } from "../platform/ttl-cache.ts";

/** What one credential may send at once, and then steadily: as much as the rate limits allow in the long run. */
const REQUESTS_OF_CREDENTIAL = { perSecond: 100, burst: 100 };
/** A budget is full again by then. */
const FORGET_MS = 10_000;
/** The isolate counts as shared for so long after it has served two credentials in turns. */
const SHARED_MS = 1_000;
/** A request whose turn comes later than this is refused instead. */
const MAX_WAIT_MS = 5_000;

/** Memory of one isolate: its thread is what requests wait for. */
export class RequestPacing {
  readonly #budgets = new TtlCache<TokenBucket>({ ttlMs: FORGET_MS, maxEntries: 10_000 });
  #latest = "";
  #sharedUntil = Number.NEGATIVE_INFINITY;

  /** Counts a request at `now` (epoch ms). For how many milliseconds it waits; null when that would be too long. */
  waitMs(credential: string, now: number): number | null {
    if (this.#latest !== "" && this.#latest !== credential) this.#sharedUntil = now + SHARED_MS;
    this.#latest = credential;
    const budget = this.#budgets.get(credential, now) ?? new TokenBucket(REQUESTS_OF_CREDENTIAL, now);
    this.#budgets.set(credential, budget, now);
    const isShared = now < this.#sharedUntil;
    const waitMs = isShared ? budget.affordableIn(now) : 0;
    if (waitMs > MAX_WAIT_MS) return null;
    // One that has the isolate for itself owes nothing when others come.
    budget.spend(isShared ? 1 : Math.min(1, budget.left(now)), now);
    return waitMs;
  }
}
