/** The scheduler: chooses the next delivery, round robin over the lanes. Only jobs in flight and the next turns are in memory. */
import type { BatchLimits, Pace } from "./handler.ts";

const REPLAY = "replay";

/**
 * The lane of a room's events in a replay. It is not the room's own: the replay keeps the room's order, and holds up
 * none of the events that happen meanwhile.
 */
export const replayLane = (replayId: string, roomId: string): string => `${REPLAY} ${replayId} ${roomId}`;

export function replayOfLane(lane: string): string | null {
  const [prefix, replayId] = lane.split(" ");
  return prefix === REPLAY && replayId !== undefined ? replayId : null;
}

/** Lanes that go first, because a person asked for their deliveries. Further ones wait for their turns. */
const MAX_PREFERRED = 1_000;

export class Scheduler {
  readonly #waiting: WaitingJobs;
  readonly #inFlight = new Map<number, Job>();
  readonly #busyLanes = new Set<string>();
  /** Jobs that are over but still pending in storage: the number of the last first attempt by lane, and retries. */
  readonly #overFirsts = new Map<string, number>();
  readonly #overRetries = new Set<number>();
  #next: string[] = [];
  readonly #turns: RoundRobin;
  #isRetryNext = false;
  #pace: Pace = { maxInFlight: 0, pausedUntil: 0 };
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #coolsDownUntil = Number.NEGATIVE_INFINITY;
  #batch: BatchLimits | null = null;

  constructor(waiting: WaitingJobs, turns = new RoundRobin(waiting)) {
    this.#waiting = waiting;
    this.#turns = turns;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  isInFlight(seq: number): boolean {
    return this.#inFlight.has(seq);
  }

  /** Lets a lane take the next turn, whatever the pauses and the subscriber's pace. It waits for a cooldown alone. */
  prefer(lane: string): void {
    if (this.#next.length < MAX_PREFERRED) this.#next.push(lane);
  }

  /** Whether so many further jobs would start at once if no other one waits. */
  canStart(now: number, pace: Pace, jobs: number): boolean {
    const isPaused = now < Math.max(this.#resumesAt, pace.pausedUntil);
    return !isPaused && this.#inFlight.size + jobs <= pace.maxInFlight;
  }

  /** The jobs to start at `now` (epoch ms). Each is in flight until {@link settle} or {@link postpone}. */
  start(now: number, pace: Pace): Job[] {
    this.#pace = pace;
    this.#batch = null;
    const started: Job[] = [];
    while (now >= this.#coolsDownUntil && this.#inFlight.size < pace.maxInFlight) {
      const job = this.#takePreferred() ?? (now < this.#resumesAt ? null : this.#nextJob(now));
      if (job === null) break;
      this.#begin(job);
      started.push(job);
    }
    return started;
  }

  /**
   * The jobs to start at `now` in one request, if they are enough or have waited long enough: either first attempts,
   * lane by lane, or retries after as many attempts. One batch is in flight at a time, and no outcome may be missing
   * in storage.
   */
  startBatch(now: number, pace: Pace, batch: BatchLimits): Job[] {
    this.#pace = { ...pace, maxInFlight: 1 };
    this.#batch = batch;
    if (now < this.#coolsDownUntil || this.#inFlight.size > 0) return [];
    const jobs = this.#nextBatch(now, batch);
    const [first] = jobs;
    if (first !== undefined) this.#isRetryNext = first.attempts === 0;
    for (const job of jobs) this.#begin(job);
    return jobs;
  }

  #begin(job: Job): void {
    this.#inFlight.set(job.seq, job);
    if (job.attempts > 0) return;
    this.#turns.end(job.lane);
    this.#busyLanes.add(job.lane);
  }

  #nextBatch(now: number, batch: BatchLimits): Job[] {
    const preferred = this.#takePreferred();
    if (preferred !== null) return [preferred];
    if (now < this.#resumesAt) return [];
    const firsts = (): Job[] => {
      const jobs = this.#firstsFor(batch);
      return jobs.length === 0 || readyAt(jobs, batch) > now ? [] : jobs;
    };
    const retries = (): Job[] => this.#retriesFor(now, batch);
    const [one, other] = this.#isRetryNext ? [retries, firsts] : [firsts, retries];
    const jobs = one();
    return jobs.length > 0 ? jobs : other();
  }

  /** First attempts for one batch, lane by lane; all of one replay or of none. */
  #firstsFor({ maxEvents }: BatchLimits): Job[] {
    const jobs: Job[] = [];
    for (const next of this.#firsts()) {
      const [first = next] = jobs;
      if (replayOfLane(first.lane) !== replayOfLane(next.lane)) break;
      for (let job: Job | null = next; job !== null; job = this.#waiting.firstOf(job.lane, job.seq)) {
        jobs.push(job);
        if (jobs.length === maxEvents) return jobs;
      }
    }
    return jobs;
  }

  #retriesFor(now: number, { maxEvents }: BatchLimits): Job[] {
    const due = this.#waiting.retries(maxEvents).filter(({ dueAt }) => dueAt <= now);
    const [first] = due;
    if (first === undefined) return [];
    const isAlike = ({ attempts, lane }: Job) =>
      attempts === first.attempts && replayOfLane(lane) === replayOfLane(first.lane);
    return due.filter(isAlike).sort((one, other) => one.seq - other.seq);
  }

  get #resumesAt(): number {
    return Math.max(this.#coolsDownUntil, this.#pausedUntil, this.#pace.pausedUntil);
  }

  /** First attempts and retries take turns, so neither starves the other. */
  #nextJob(now: number): Job | null {
    const job = this.#isRetryNext
      ? (this.#dueRetry(now) ?? this.#nextFirst())
      : (this.#nextFirst() ?? this.#dueRetry(now));
    if (job !== null) this.#isRetryNext = job.attempts === 0;
    return job;
  }

  #dueRetry(now: number): Job | null {
    const retry = this.#earliestRetry();
    return retry !== null && retry.dueAt <= now ? retry : null;
  }

  #earliestRetry(): Job | null {
    const hidden = this.#inFlight.size - this.#busyLanes.size + this.#overRetries.size;
    const isFree = ({ seq }: Job) => !this.#inFlight.has(seq) && !this.#overRetries.has(seq);
    return this.#waiting.retries(hidden + 1).find(isFree) ?? null;
  }

  #takePreferred(): Job | null {
    for (let lane = this.#next.shift(); lane !== undefined; lane = this.#next.shift()) {
      const job = this.#firstOf(lane);
      if (job !== null) return job;
    }
    return null;
  }

  #nextFirst(): Job | null {
    return this.#firsts().next().value ?? null;
  }

  /** The first attempts that may start, one of each lane, in the order of turns. A lane without one loses its turn. */
  *#firsts(): Generator<Job, undefined> {
    for (const lane of this.#turns.inOrder(this.#busyLanes.size + this.#overFirsts.size)) {
      const job = this.#firstOf(lane);
      if (job === null) this.#turns.end(lane);
      else yield job;
    }
  }

  #firstOf(lane: string): Job | null {
    return this.#busyLanes.has(lane) ? null : this.#waiting.firstOf(lane, this.#overFirsts.get(lane) ?? 0);
  }

  /** The attempt is over, and its outcome will be in storage at {@link forgetSettled}. */
  settle(job: Job): void {
    if (!this.#inFlight.delete(job.seq)) return;
    if (job.attempts > 0) this.#overRetries.add(job.seq);
    else {
      this.#overFirsts.set(job.lane, job.seq);
      this.#free(job);
    }
  }

  /** All outcomes of settled jobs are in storage, or lost: those attempts are then due again. */
  forgetSettled(): void {
    for (const lane of this.#overFirsts.keys()) this.#turns.give(lane);
    this.#overFirsts.clear();
    this.#overRetries.clear();
  }

  /** The attempt was not made after all, and is due again. No job starts before `until` (epoch ms). */
  postpone(job: Job, until: number): void {
    this.pause(until);
    if (this.#inFlight.delete(job.seq) && job.attempts === 0) this.#free(job);
  }

  #free({ lane }: Job): void {
    this.#busyLanes.delete(lane);
    this.#turns.give(lane);
  }

  release(job: Job): void {
    this.postpone(job, Number.NEGATIVE_INFINITY);
  }

  pause(until: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, until);
  }

  /** Starts no job for `ms` beyond its present cooldown, but at most until `maxMs` after `now` (epoch ms). */
  coolDown(ms: number, now: number, maxMs: number): void {
    this.#coolsDownUntil = Math.min(Math.max(this.#coolsDownUntil, now) + ms, now + maxMs);
  }

  resume(): void {
    this.#pausedUntil = Number.NEGATIVE_INFINITY;
    this.#coolsDownUntil = Number.NEGATIVE_INFINITY;
  }

  clear(): void {
    this.#inFlight.clear();
    this.#busyLanes.clear();
    this.#next = [];
    this.forgetSettled();
    this.#turns.clear();
  }

  /**
   * When a job may start (epoch ms), after {@link start} at `now`; null when none waits, or none can start before one
   * in flight is over.
   */
  dueAt(now: number): number | null {
    if (this.#inFlight.size > 0 && this.#inFlight.size >= this.#pace.maxInFlight) return null;
    if (this.#next.length > 0) return Math.max(now, this.#coolsDownUntil);
    const mayFirstsWait = now < this.#resumesAt || this.#inFlight.size === 0;
    const firstAt = mayFirstsWait ? this.#firstDueAt(now) : null;
    const retryAt = firstAt === now ? null : (this.#earliestRetry()?.dueAt ?? null);
    const times = [firstAt, retryAt].filter((time) => time !== null);
    return times.length === 0 ? null : Math.max(Math.min(...times), this.#resumesAt);
  }

  #firstDueAt(now: number): number | null {
    if (this.#batch === null) return this.#nextFirst() === null ? null : now;
    const jobs = this.#firstsFor(this.#batch);
    return jobs.length === 0 ? null : Math.max(now, readyAt(jobs, this.#batch));
  }
}

const readyAt = (jobs: readonly Job[], { maxEvents, maxWaitMs }: BatchLimits): number =>
  jobs.length >= maxEvents
    ? Number.NEGATIVE_INFINITY
    : Math.min(...jobs.map(({ dueAt }) => dueAt)) + maxWaitMs;

export type Job = {
  readonly seq: number;
  /** The ordering key: first attempts of one lane run one at a time, in the order of `seq`. */
  readonly lane: string;
  readonly attempts: number;
  /** When a retry may start (epoch ms); a first attempt is due at once, from when it was enqueued. */
  readonly dueAt: number;
};

/** The deliveries in storage that are pending. Each query reads a bounded number of rows. */
export interface WaitingJobs {
  /** Called with the lane of each delivery that is added. Its transaction may still be rolled back. */
  onAdded: (lane: string) => void;
  /** The next lanes behind this one, by name, in which a first attempt is pending: at most this many. */
  lanesAfter(lane: string, limit: number): string[];
  firstOf(lane: string, afterSeq: number): Job | null;
  retries(limit: number): Job[];
}

/** Lanes in memory, in the order of their turns. Further lanes take turns in the order of their names. */
const MAX_TURNS = 500;

/** Lanes with waiting first attempts take turns, one attempt each, however many of them wait. */
export class RoundRobin {
  readonly #waiting: WaitingJobs;
  readonly #max: number;
  readonly #lanes = new Set<string>();
  /**
   * When these turns are over, lanes behind this one are read from storage. Null when all were read: each lane
   * with pending first attempts then has a turn, is in flight, or is over and not recorded.
   */
  #unreadAfter: string | null = "";

  constructor(waiting: WaitingJobs, max = MAX_TURNS) {
    this.#waiting = waiting;
    this.#max = max;
    waiting.onAdded = (lane) => this.give(lane);
  }

  /**
   * Called when the lane may have a first attempt that can start. While lanes are still to be read, this one is
   * among them.
   */
  give(lane: string): void {
    if (this.#unreadAfter !== null) return;
    this.#lanes.add(lane);
    if (this.#lanes.size > this.#max) this.#unreadAfter = "";
  }

  end(lane: string): void {
    this.#lanes.delete(lane);
  }

  clear(): void {
    this.#lanes.clear();
    this.#unreadAfter = "";
  }

  /** The lanes in the order of their turns, each once. Of those in storage, at most `hidden` have nothing that can start. */
  *inOrder(hidden: number): Generator<string> {
    const met = new Set<string>();
    do {
      for (const lane of this.#lanes) {
        if (met.has(lane)) continue;
        met.add(lane);
        yield lane;
      }
    } while (this.#read(hidden));
  }

  /** Gives turns to further lanes in storage; false when all were read. It asks for more than are hidden or known. */
  #read(hidden: number): boolean {
    if (this.#unreadAfter === null) return false;
    const limit = this.#max + hidden + this.#lanes.size;
    const lanes = this.#waiting.lanesAfter(this.#unreadAfter, limit);
    for (const lane of lanes) this.#lanes.add(lane);
    if (lanes.length === limit) this.#unreadAfter = lanes.at(-1) ?? null;
    else this.#unreadAfter = this.#unreadAfter === "" ? null : "";
    return true;
  }
}
