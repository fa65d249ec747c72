/** Decides which deliveries to start now, and when to look again. Pure: it reads no clock and starts nothing itself. */

/** A delivery that is pending: waiting or in flight. */
export type Job = {
  readonly seq: number;
  /** The ordering key: first attempts of one lane run one at a time, in the order of `seq`. */
  readonly lane: string;
  /** How many were made so far. */
  readonly attempts: number;
  /** When a retry may start (epoch ms); a first attempt is due at once. */
  readonly dueAt: number;
};

/** The platform lets one object wait for the responses of this many requests at once. */
export const MAX_IN_FLIGHT = 6;

export class Scheduler {
  /** Waiting first attempts, by lane. */
  readonly #lanes = new Map<string, Job[]>();
  /** The lanes whose next job may start, each once; lanes take turns. */
  #ready: string[] = [];
  /** Waiting retries, the earliest first. */
  readonly #retries: Job[] = [];
  readonly #inFlight = new Set<number>();
  readonly #busyLanes = new Set<string>();
  /** As of the latest {@link start}. */
  #maxInFlight = MAX_IN_FLIGHT;
  #isRetryNext = false;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #size = 0;

  /** How many jobs wait or are in flight. */
  get size(): number {
    return this.#size;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Adds a job; callers add those of one lane in the order of `seq`. A new lane may take the next turn. */
  add(job: Job, turn: "next" | "last" = "last"): void {
    this.#size += 1;
    if (job.attempts > 0) this.#addRetry(job);
    else this.#addFirst(job, turn);
  }

  #addFirst(job: Job, turn: "next" | "last"): void {
    const waiting = this.#lanes.get(job.lane);
    if (waiting !== undefined) {
      waiting.push(job);
      return;
    }
    this.#lanes.set(job.lane, [job]);
    if (this.#busyLanes.has(job.lane)) return;
    if (turn === "next") this.#ready.unshift(job.lane);
    else this.#ready.push(job.lane);
  }

  #addRetry(job: Job): void {
    const at = this.#retries.findLastIndex(({ dueAt }) => dueAt <= job.dueAt);
    this.#retries.splice(at + 1, 0, job);
  }

  /** The jobs to start at `now` (epoch ms), while fewer than `maxInFlight` are in flight. Each is in flight until {@link settle} or {@link postpone}. */
  start(now: number, maxInFlight: number = MAX_IN_FLIGHT): Job[] {
    this.#maxInFlight = Math.min(maxInFlight, MAX_IN_FLIGHT);
    const started: Job[] = [];
    while (now >= this.#pausedUntil && this.#inFlight.size < this.#maxInFlight) {
      const job = this.#next(now);
      if (job === null) break;
      this.#inFlight.add(job.seq);
      started.push(job);
    }
    return started;
  }

  /** First attempts and retries take turns, so neither starves the other. */
  #next(now: number): Job | null {
    const job = this.#isRetryNext
      ? (this.#nextRetry(now) ?? this.#nextFirst())
      : (this.#nextFirst() ?? this.#nextRetry(now));
    if (job !== null) this.#isRetryNext = job.attempts === 0;
    return job;
  }

  #nextRetry(now: number): Job | null {
    const earliest = this.#retries[0];
    if (earliest === undefined || earliest.dueAt > now) return null;
    this.#retries.shift();
    return earliest;
  }

  #nextFirst(): Job | null {
    const lane = this.#ready.shift();
    const waiting = lane === undefined ? undefined : this.#lanes.get(lane);
    const job = waiting?.shift();
    if (job === undefined) return null;
    if (waiting?.length === 0) this.#lanes.delete(job.lane);
    this.#busyLanes.add(job.lane);
    return job;
  }

  /** The attempt is over. With `retryAt` (epoch ms) a retry follows, which delays no first attempt. */
  settle(job: Job, retryAt: number | null): void {
    if (!this.#inFlight.delete(job.seq)) return;
    if (job.attempts === 0) {
      this.#busyLanes.delete(job.lane);
      if (this.#lanes.has(job.lane)) this.#ready.push(job.lane);
    }
    if (retryAt === null) this.#size -= 1;
    else this.#addRetry({ ...job, attempts: job.attempts + 1, dueAt: retryAt });
  }

  /** The attempt was not made after all, and is due again. No job starts before `until` (epoch ms). */
  postpone(job: Job, until: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, until);
    if (!this.#inFlight.delete(job.seq)) return;
    if (job.attempts > 0) {
      this.#addRetry(job);
      return;
    }
    this.#busyLanes.delete(job.lane);
    this.#lanes.set(job.lane, [job, ...(this.#lanes.get(job.lane) ?? [])]);
    this.#ready.push(job.lane);
  }

  /** Starts no job for `ms` more than it already rests, but at most until `maxMs` after `now` (epoch ms). */
  rest(ms: number, now: number, maxMs: number): void {
    this.#pausedUntil = Math.min(Math.max(this.#pausedUntil, now) + ms, now + maxMs);
  }

  /** Drops all jobs, in flight or not. */
  clear(): void {
    this.#lanes.clear();
    this.#ready = [];
    this.#retries.length = 0;
    this.#inFlight.clear();
    this.#busyLanes.clear();
    this.#size = 0;
  }

  /** When a job may start (epoch ms); null when none waits, or none can start before one in flight is over. */
  dueAt(now: number): number | null {
    if (this.#inFlight.size >= this.#maxInFlight) return null;
    const earliest = this.#ready.length > 0 ? now : (this.#retries[0]?.dueAt ?? null);
    return earliest === null ? null : Math.max(earliest, this.#pausedUntil);
  }
}
