/** Sums up the reports of counters, and divides the organization's limit among them. Pure. */

/** The time between two reports of a counter, in milliseconds. */
export const WINDOW_MS = 5_000;
const WINDOW_SECONDS = WINDOW_MS / 1000;
/** A counter without a report for this long counts as absent. */
const PRESENT_MS = 2 * WINDOW_MS;

/** An isolate's counts of one window. */
export interface RateReport {
  /** The isolate's name for itself and the kind of caller. */
  readonly counter: string;
  readonly admitted: number;
  readonly refused: number;
}

/** Limits of a counter until its next report, all in requests a second. */
export interface RateShare {
  readonly perSecond: number;
  /** The sum that all other counters let through. */
  readonly others: number;
  readonly limit: number;
}

export interface RequestRates {
  report(accountId: string, report: RateReport): Promise<RateShare>;
}

interface Rate {
  readonly admitted: number;
  /** With those that were refused. */
  readonly wanted: number;
  /** Epoch milliseconds. */
  readonly until: number;
}

/** Max-min fair share of `limit` beside others that want these amounts: a flood leaves each other one an equal part. */
function fairShare(limit: number, wanted: readonly number[]): number {
  let left = limit;
  let sharing = wanted.length + 1;
  for (const amount of wanted.toSorted((a, b) => a - b)) {
    if (amount * sharing >= left) break;
    left -= amount;
    sharing -= 1;
  }
  return left / sharing;
}

export class OrganizationRate {
  readonly #rates = new Map<string, Rate>();

  /** Adds what was counted in a window that ends at `now` (epoch ms). */
  add({ counter, admitted, refused }: RateReport, now: number): void {
    this.#rates.set(counter, {
      admitted: admitted / WINDOW_SECONDS,
      wanted: (admitted + refused) / WINDOW_SECONDS,
      until: now + PRESENT_MS,
    });
  }

  /** The counter's share of the organization's `limit`, in requests a second. */
  shareOf(counter: string, limit: number, now: number): RateShare {
    const others = [...this.#present(now)].filter(([name]) => name !== counter).map(([, rate]) => rate);
    return {
      perSecond: fairShare(
        limit,
        others.map(({ wanted }) => wanted),
      ),
      others: others.reduce((sum, { admitted }) => sum + admitted, 0),
      limit,
    };
  }

  /** Whole requests a second that all counters let through, or also refused (`wanted`). */
  total(of: "admitted" | "wanted", now: number): number {
    return Math.round([...this.#present(now).values()].reduce((sum, rate) => sum + rate[of], 0));
  }

  #present(now: number): ReadonlyMap<string, Rate> {
    for (const [name, { until }] of this.#rates) if (until <= now) this.#rates.delete(name);
    return this.#rates;
  }
}
