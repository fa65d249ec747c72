/** A subscriber's queue: what to start now, what must wait for what, and when to look again. Pure: it reads no clock. */

/** A delivery that is under way or waits. */
export interface Job {
  readonly seq: number;
  /** First attempts of one lane are made one after the other, in the order of `seq`. */
  readonly lane: string;
  /** Made so far. */
  readonly attempts: number;
  /** Epoch milliseconds: when a further attempt may be made. A first one is due at once. */
  readonly dueAt: number;
}

/** The platform lets one object wait for so many answers at once. */
export const MAX_IN_FLIGHT = 6;

export class Scheduler {
  /** The first attempts that wait, by lane. */
  readonly #lanes = new Map<string, Job[]>();
  /** The lanes whose first job can start, each once; lanes take turns. */
  #ready: string[] = [];
  /** Further attempts that wait, the earliest first. */
  readonly #retries: Job[] = [];
  readonly #inFlight = new Set<number>();
  readonly #busyLanes = new Set<string>();
  #isRetrysTurn = false;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #size = 0;

  /** The jobs that wait or are under way. */
  get size(): number {
    return this.#size;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Adds a job; those of one lane come in the order of `seq`. A lane that is new may have the next turn. */
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

  /** The jobs to start at `now` (epoch ms). Each counts as under way until {@link settle}. */
  start(now: number): Job[] {
    const started: Job[] = [];
    while (now >= this.#pausedUntil && this.#inFlight.size < MAX_IN_FLIGHT) {
      const job = this.#next(now);
      if (job === null) break;
      this.#inFlight.add(job.seq);
      started.push(job);
    }
    return started;
  }

  /** First and further attempts take turns, so that neither keeps the other waiting for good. */
  #next(now: number): Job | null {
    const job = this.#isRetrysTurn
      ? (this.#nextRetry(now) ?? this.#nextFirst())
      : (this.#nextFirst() ?? this.#nextRetry(now));
    if (job !== null) this.#isRetrysTurn = job.attempts === 0;
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

  /** The attempt is over. With `retryAt` (epoch ms) another one follows; it holds up no first attempt. */
  settle(job: Job, retryAt: number | null): void {
    if (!this.#inFlight.delete(job.seq)) return;
    if (job.attempts === 0) {
      this.#busyLanes.delete(job.lane);
      if (this.#lanes.has(job.lane)) this.#ready.push(job.lane);
    }
    if (retryAt === null) this.#size -= 1;
    else this.#addRetry({ ...job, attempts: job.attempts + 1, dueAt: retryAt });
  }

  /** The attempt was not made after all and is due again as it was; nothing is started before `until` (epoch ms). */
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

  /** Starts nothing for so long, beside how long it rests already; until `maxMs` from `now` at the latest. */
  rest(ms: number, now: number, maxMs: number): void {
    this.#pausedUntil = Math.min(Math.max(this.#pausedUntil, now) + ms, now + maxMs);
  }

  /** Forgets all jobs, those under way included. */
  clear(): void {
    this.#lanes.clear();
    this.#ready = [];
    this.#retries.length = 0;
    this.#inFlight.clear();
    this.#busyLanes.clear();
    this.#size = 0;
  }

  /** When there is something to start (epoch ms); null when that waits for what is under way, or nothing waits. */
  dueAt(now: number): number | null {
    if (this.#inFlight.size >= MAX_IN_FLIGHT) return null;
    const earliest = this.#ready.length > 0 ? now : (this.#retries[0]?.dueAt ?? null);
    return earliest === null ? null : Math.max(earliest, this.#pausedUntil);
  }
}
