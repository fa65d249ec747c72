/** The port to the objects that know the rate of an organization's requests in the whole world: one for each organization. */

/** An isolate's counts of one window. */
export interface RateReport {
  /** The isolate's name for itself and the kind of caller. */
  readonly counter: string;
  /** Requests that were let through. */
  readonly admitted: number;
  readonly refused: number;
}

/** Limits of a counter until its next report, all in requests a second. */
export interface RateShare {
  readonly perSecond: number;
  /** The sum that all other counters let through. */
  readonly others: number;
  /** The organization's limit. */
  readonly limit: number;
}

export interface RequestRates {
  /** Rejects when the object cannot be reached. */
  report(accountId: string, report: RateReport): Promise<RateShare>;
}

/** The time between two reports of a counter, in milliseconds. */
export const WINDOW_MS = 5_000;
