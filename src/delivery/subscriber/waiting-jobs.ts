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
  /** The first lane behind this one, by name, in which a first attempt is pending; null behind the last. */
  laneAfter(lane: string): string | null;
  /** The lane's earliest first attempt behind this number; null when there is none. */
  firstOf(lane: string, afterSeq: number): Job | null;
  /** The retries that are due first, at most this many. */
  retries(limit: number): Job[];
}
