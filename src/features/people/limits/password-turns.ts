/** When passwords are checked: each check takes some 100 ms of the one thread that answers everyone's requests. */
import { TokenBucket } from "../../../platform/flow/token-bucket.ts";
import { TtlCache } from "../../../platform/ttl-cache.ts";

/**
 * Wrong passwords of one client, of all clients of an isolate, and how many more of browsers that their person has signed
 * in with: strangers on many networks cannot use those up. Right ones cost nothing.
 */
const WRONG_OF_CLIENT = { perSecond: 0.1, burst: 5 };
const WRONG_OF_ALL = { perSecond: 1, burst: 20 };
const WRONG_OF_KNOWN = { perSecond: 0.25, burst: 5 };
/** A check whose turn comes later than this is refused instead. */
const MAX_WAIT_MS = 5_000;
/** A client's budget is full again by then. */
const FORGET_MS = 60_000;

/** A turn that was taken: when it comes, and how to give it back. */
interface Turn {
  /** Milliseconds until then. */
  readonly waitMs: number;
  /** The password was right. */
  refund(now: number): void;
}

export class PasswordTurns {
  readonly #clients = new TtlCache<TokenBucket>({ ttlMs: FORGET_MS, maxEntries: 10_000 });
  #all: TokenBucket | null = null;
  #known: TokenBucket | null = null;

  /** The next turn of a client; when it is too far ahead, for how long asking again is of no use. `now` is epoch ms. */
  take(client: string, now: number, isKnown: boolean): Turn | { readonly refusedForMs: number } {
    this.#all ??= new TokenBucket(WRONG_OF_ALL, now);
    this.#known ??= new TokenBucket(WRONG_OF_KNOWN, now);
    const hasShare = isKnown && this.#known.affordableIn(now) < this.#all.affordableIn(now);
    const ofClient = this.#clients.get(client, now) ?? new TokenBucket(WRONG_OF_CLIENT, now);
    const budgets = [ofClient, hasShare ? this.#known : this.#all];
    const waitMs = Math.max(...budgets.map((budget) => budget.affordableIn(now)));
    if (waitMs > MAX_WAIT_MS) return { refusedForMs: waitMs - MAX_WAIT_MS };
    this.#clients.set(client, ofClient, now);
    for (const budget of budgets) budget.spend(1, now);
    return {
      waitMs,
      refund: (later) => {
        for (const budget of budgets) budget.spend(-1, later);
      },
    };
  }
}
