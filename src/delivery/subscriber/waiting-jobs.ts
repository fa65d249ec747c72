/** The deliveries that wait for their attempts, as the scheduler sees them. */

/** A delivery that is pending: waiting or in flight. */
export type Job = {
  readonly seq: number;
  /** The ordering key: first attempts of one lane run one at a time, in the order of `seq`. */
  readonly lane: string;
  /** How many were made so far. */
  readonly attempts: number;
  /** When a retry may start (epoch ms); a first attempt is due at once, from when it was enqueued. */
  readonly dueAt: number;
};

/** The deliveries in storage that are pending. Each question reads a bounded number of rows. */
export interface WaitingJobs {
  /** Called with the lane of each delivery that is added. Its transaction may still be rolled back. */
  onAdded: (lane: string) => void;
  /** The next lanes behind this one, by name, in which a first attempt is pending: at most this many. */
  lanesAfter(lane: string, limit: number): string[];
  /** The lane's earliest first attempt behind this number; null when there is none. */
  firstOf(lane: string, afterSeq: number): Job | null;
  /** The retries that are due first, at most this many. */
  retries(limit: number): Job[];
}
