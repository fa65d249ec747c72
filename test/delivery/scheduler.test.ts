/** The scheduler, with a clock of the test: order, turns, and no job lost. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pace } from "../../src/delivery/subscriber/handler.ts";
import {
  type Job,
  RoundRobin,
  Scheduler,
  type WaitingJobs,
} from "../../src/delivery/subscriber/scheduler.ts";
import { ofType } from "../support/steps.ts";

const MAX_IN_FLIGHT = 6;
const PACE: Pace = { maxInFlight: MAX_IN_FLIGHT, pausedUntil: 0 };

const job = (seq: number, lane: string, fields: Partial<Job> = {}): Job => ({
  seq,
  lane,
  attempts: 0,
  dueAt: 0,
  ...fields,
});

const seqs = (jobs: readonly Job[]): number[] => jobs.map(({ seq }) => seq);
const byNumber = (a: Job, b: Job): number => a.seq - b.seq;

/** Storage in memory: the jobs that are pending. */
class Pending implements WaitingJobs {
  readonly jobs = new Map<number, Job>();
  onAdded: (lane: string) => void = () => {};

  add(...jobs: readonly Job[]): void {
    for (const each of jobs) {
      this.jobs.set(each.seq, each);
      this.onAdded(each.lane);
    }
  }

  /** Replaces an attempt that is over; null removes it. */
  replace(ended: Job, remaining: Job | null): void {
    if (remaining === null) this.jobs.delete(ended.seq);
    else this.jobs.set(ended.seq, remaining);
  }

  get #firsts(): Job[] {
    return [...this.jobs.values()].filter(({ attempts }) => attempts === 0).sort(byNumber);
  }

  lanesAfter(lane: string, limit: number): string[] {
    const later = this.#firsts.map((each) => each.lane).filter((each) => each > lane);
    return [...new Set(later)].sort().slice(0, limit);
  }

  firstOf(lane: string, afterSeq: number): Job | null {
    return this.#firsts.find((each) => each.lane === lane && each.seq > afterSeq) ?? null;
  }

  retries(limit: number): Job[] {
    const retries = [...this.jobs.values()].filter(({ attempts }) => attempts > 0);
    return retries.sort((a, b) => a.dueAt - b.dueAt || byNumber(a, b)).slice(0, limit);
  }
}

/** A scheduler of these jobs, which writes outcomes to storage at once. */
class SchedulerFixture {
  readonly pending = new Pending();
  readonly scheduler = new Scheduler(this.pending);

  constructor(...jobs: readonly Job[]) {
    this.pending.add(...jobs);
  }

  start(now: number, pace: Pace = PACE): Job[] {
    return this.scheduler.start(now, pace);
  }

  settle(ended: Job, retryAt: number | null): void {
    this.scheduler.settle(ended);
    const retry = retryAt === null ? null : { ...ended, attempts: ended.attempts + 1, dueAt: retryAt };
    this.pending.replace(ended, retry);
    this.scheduler.forgetSettled();
  }
}

const numbered = (
  from: number,
  to: number,
  lane: (seq: number) => string,
  fields: Partial<Job> = {},
): Job[] =>
  Array.from({ length: to - from + 1 }, (_, index) => job(from + index, lane(from + index), fields));

describe("the scheduler", () => {
  it("lets lanes take turns, so a busy one does not starve the others", () => {
    const busy = numbered(1, 100, () => "a busy one");
    const fixture = new SchedulerFixture(
      ...busy,
      ...numbered(101, 100 + MAX_IN_FLIGHT, (seq) => `quiet ${seq}`),
    );
    const [first] = fixture.start(0);
    fixture.settle(job(1, "a busy one"), null);
    expect([first?.seq, ...seqs(fixture.start(0))]).toEqual([1, 100 + MAX_IN_FLIGHT]);
  });

  it.each([2, 7, 500])("lets many lanes take turns while it remembers those of %d", (maxTurns) => {
    const pending = new Pending();
    const scheduler = new Scheduler(pending, new RoundRobin(pending, maxTurns));
    const lanes = 20;
    pending.add(...numbered(1, 10 * lanes, (seq) => `lane ${seq % lanes}`));
    const counts = new Map<string, number>();
    const inFlight: Job[] = [];
    for (let turn = 0; turn < 5 * lanes; turn += 1) {
      inFlight.push(...scheduler.start(0, PACE));
      const ended = inFlight.shift();
      if (ended === undefined) throw new Error("Nothing has started");
      counts.set(ended.lane, (counts.get(ended.lane) ?? 0) + 1);
      scheduler.settle(ended);
      pending.jobs.delete(ended.seq);
      scheduler.forgetSettled();
    }
    expect(counts.size).toBe(lanes);
    expect(Math.min(...counts.values())).toBeGreaterThanOrEqual(4);
    expect(Math.max(...counts.values())).toBeLessThanOrEqual(6);
  });

  it("lets first attempts and retries take turns", () => {
    const retries = numbered(21, 40, String, { attempts: 1, dueAt: 1 });
    const fixture = new SchedulerFixture(...numbered(1, 9, String), ...retries);
    expect(seqs(fixture.start(1))).toEqual([1, 21, 2, 22, 3, 23]);
  });

  it("has nothing due while the maximum is in flight, and then when a job is over", () => {
    const fixture = new SchedulerFixture(
      ...numbered(1, MAX_IN_FLIGHT, String),
      job(99, "retried", { attempts: 1, dueAt: 7 }),
    );
    fixture.start(0);
    expect(fixture.scheduler.dueAt(0)).toBeNull();
    fixture.settle(job(1, "1"), null);
    expect(fixture.scheduler.dueAt(0)).toBe(7);
  });

  it("starts nothing while it pauses, and the postponed attempt first afterwards", () => {
    const fixture = new SchedulerFixture(job(1, "a"), job(2, "a"));
    fixture.start(0);
    fixture.scheduler.postpone(job(1, "a"), 5_000);
    expect(fixture.start(4_999)).toEqual([]);
    expect(fixture.scheduler.dueAt(0)).toBe(5_000);
    expect(seqs(fixture.start(5_000))).toEqual([1]);
  });

  it("starts nothing before its pace allows it, and again at once when it is resumed", () => {
    const fixture = new SchedulerFixture(job(1, "a"), job(2, "b"));
    expect(fixture.start(0, { maxInFlight: 1, pausedUntil: 3_000 })).toEqual([]);
    expect(fixture.scheduler.dueAt(0)).toBe(3_000);
    fixture.scheduler.prefer("b");
    expect(seqs(fixture.start(0, { maxInFlight: 1, pausedUntil: 3_000 }))).toEqual([2]);
    fixture.settle(job(2, "b"), null);
    fixture.scheduler.pause(9_000);
    expect(fixture.start(3_000)).toEqual([]);
    fixture.scheduler.resume();
    expect(seqs(fixture.start(3_000))).toEqual([1]);
  });

  it("starts what was asked for by hand while it pauses, but not before the cooldown is over", () => {
    const fixture = new SchedulerFixture(job(1, "a"), job(2, "b"));
    fixture.scheduler.pause(9_000);
    fixture.scheduler.coolDown(1_000, 0, 10_000);
    fixture.scheduler.prefer("b");
    expect(fixture.start(999)).toEqual([]);
    expect(fixture.scheduler.dueAt(999)).toBe(1_000);
    expect(seqs(fixture.start(1_000))).toEqual([2]);
    fixture.settle(job(2, "b"), null);
    expect(fixture.scheduler.dueAt(1_000)).toBe(9_000);
  });

  it("adds up cooldowns, within bounds", () => {
    const fixture = new SchedulerFixture(job(1, "a"), job(2, "b"), job(3, "c"));
    const { scheduler } = fixture;
    scheduler.coolDown(2_000, 1_000, 10_000);
    scheduler.coolDown(1_000, 1_500, 10_000);
    expect(fixture.start(3_999)).toEqual([]);
    expect(scheduler.dueAt(1_500)).toBe(4_000);
    scheduler.coolDown(60_000, 2_000, 10_000);
    expect(fixture.start(11_999)).toEqual([]);
    expect(seqs(fixture.start(12_000))).toEqual([1, 2, 3]);
    scheduler.coolDown(0, 20_000, 10_000);
    fixture.pending.add(job(4, "d"));
    expect(seqs(fixture.start(20_000))).toEqual([4]);
  });

  it("forgets all jobs when it is cleared", () => {
    const fixture = new SchedulerFixture(job(1, "a"), job(2, "a"));
    fixture.start(0);
    fixture.scheduler.clear();
    fixture.pending.jobs.clear();
    const { scheduler } = fixture;
    expect([scheduler.inFlight, scheduler.dueAt(9_000), fixture.start(9_000)]).toEqual([0, null, []]);
  });
});

/** Steps of the scheduler. A pick is taken modulo the number of jobs in flight. */
type Step =
  | { readonly type: "add"; readonly lane: number; readonly lanes: number }
  | { readonly type: "deliver" | "fail" | "postpone"; readonly pick: number; readonly afterMs: number }
  | { readonly type: "crash" | "record" | "lose" | "bring forward" }
  | { readonly type: "advance"; readonly ms: number };

const MAX_ATTEMPTS = 4;

/** A subscriber's object in miniature: storage, a clock, and a scheduler whose unrecorded state a crash discards. */
class SchedulerSimulation {
  #now = 0;
  readonly #pending = new Pending();
  readonly #maxTurns: number;
  #scheduler: Scheduler;
  #lastSeq = 0;
  readonly #inFlight = new Map<number, Job>();
  /** Outcomes that are not in storage yet: the job as it is then pending, null for none. */
  readonly #unrecorded = new Map<number, Job | null>();
  /** The first attempts that are recorded, by lane. */
  readonly #tried = new Map<string, number[]>();
  /** Lanes that lost outcomes: their repetitions are out of order. */
  readonly #repeating = new Set<string>();

  constructor(maxTurns: number) {
    this.#maxTurns = maxTurns;
    this.#scheduler = this.#newScheduler();
  }

  #newScheduler(): Scheduler {
    return new Scheduler(this.#pending, new RoundRobin(this.#pending, this.#maxTurns));
  }

  run(step: Step): void {
    this.#take(step);
    this.#pump();
    this.#check();
  }

  #take(step: Step): void {
    switch (step.type) {
      case "add":
        for (let lane = step.lane; lane < step.lane + step.lanes; lane += 1) {
          this.#lastSeq += 1;
          this.#pending.add(job(this.#lastSeq, `lane ${lane}`, { dueAt: this.#now }));
        }
        return;
      case "lose":
        for (const seq of this.#unrecorded.keys())
          this.#repeating.add(this.#pending.jobs.get(seq)?.lane ?? "");
        this.#unrecorded.clear();
        this.#scheduler.forgetSettled();
        return;
      case "bring forward":
        for (const each of this.#pending.jobs.values())
          if (each.attempts > 0)
            this.#pending.replace(each, { ...each, dueAt: Math.min(each.dueAt, this.#now) });
        return;
      case "crash":
        this.#scheduler = this.#newScheduler();
        this.#inFlight.clear();
        this.#unrecorded.clear();
        return;
      case "record":
        this.#record();
        return;
      case "advance":
        this.#now += step.ms;
        return;
      default:
        this.#end(step);
    }
  }

  #record(): void {
    for (const [seq, remaining] of this.#unrecorded) {
      const ended = this.#pending.jobs.get(seq);
      if (ended?.attempts === 0) this.#tried.set(ended.lane, [...(this.#tried.get(ended.lane) ?? []), seq]);
      if (ended !== undefined) this.#pending.replace(ended, remaining);
    }
    this.#unrecorded.clear();
    this.#scheduler.forgetSettled();
  }

  #end({ type, pick, afterMs }: Extract<Step, { pick: number }>): void {
    const ended = [...this.#inFlight.values()][pick % Math.max(1, this.#inFlight.size)];
    if (ended === undefined) return;
    this.#inFlight.delete(ended.seq);
    if (type === "postpone") {
      this.#scheduler.postpone(ended, this.#now + afterMs);
      return;
    }
    const attempts = ended.attempts + 1;
    const isOver = type === "deliver" || attempts === MAX_ATTEMPTS;
    this.#unrecorded.set(ended.seq, isOver ? null : { ...ended, attempts, dueAt: this.#now + afterMs });
    this.#scheduler.settle(ended);
  }

  #pump(): void {
    for (const started of this.#scheduler.start(this.#now, PACE)) {
      expect(started).toEqual(this.#pending.jobs.get(started.seq));
      expect(this.#inFlight.has(started.seq) || this.#unrecorded.has(started.seq)).toBe(false);
      expect(started.dueAt).toBeLessThanOrEqual(this.#now);
      this.#inFlight.set(started.seq, started);
    }
  }

  #check(): void {
    expect(this.#scheduler.inFlight).toBe(this.#inFlight.size);
    expect(this.#inFlight.size).toBeLessThanOrEqual(MAX_IN_FLIGHT);
    const lanes = [...this.#inFlight.values()]
      .filter(({ attempts }) => attempts === 0)
      .map(({ lane }) => lane);
    expect(new Set(lanes).size).toBe(lanes.length);
    for (const [lane, tried] of this.#tried)
      if (!this.#repeating.has(lane)) expect(tried).toEqual([...tried].sort((a, b) => a - b));
  }

  /** Lets everything succeed: nothing may be left, and only `dueAt` says when to look. */
  finish(): void {
    for (let turn = 0; this.#pending.jobs.size > 0; turn += 1) {
      expect(turn).toBeLessThan(1_000);
      if (this.#inFlight.size > 0) this.run({ type: "deliver", pick: 0, afterMs: 0 });
      else if (this.#unrecorded.size > 0) this.run({ type: "record" });
      else {
        const dueAt = this.#scheduler.dueAt(this.#now);
        expect(dueAt).not.toBeNull();
        this.run({ type: "advance", ms: Math.max(0, (dueAt ?? 0) - this.#now) });
      }
    }
    expect(this.#scheduler.dueAt(this.#now)).toBeNull();
  }
}

it("everything is delivered through failures and crashes, and the first attempts of each lane in order", () => {
  const ending = { pick: fc.nat(9), afterMs: fc.nat(500) };
  const step: fc.Arbitrary<Step> = fc.oneof(
    ofType(4, ["add"], { lane: fc.nat(7), lanes: fc.integer({ min: 1, max: 4 }) }),
    ofType(4, ["deliver", "fail", "fail", "postpone"], ending),
    ofType(1, ["crash"]),
    ofType(2, ["record"]),
    ofType(1, ["lose", "bring forward"]),
    ofType(2, ["advance"], { ms: fc.nat(300) }),
  );
  const seed = (Math.random() * 2 ** 31) | 0;
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 80, size: "max" }),
      fc.integer({ min: 1, max: 12 }),
      (steps, maxTurns) => {
        const simulation = new SchedulerSimulation(maxTurns);
        for (const each of steps) simulation.run(each);
        simulation.finish();
      },
    ),
    { numRuns: 500, seed },
  );
});

describe("batches", () => {
  const BATCH = { maxEvents: 3, maxWaitMs: 1_000 };
  const startBatch = (fixture: SchedulerFixture, now: number) =>
    seqs(fixture.scheduler.startBatch(now, PACE, BATCH));
  const end = (fixture: SchedulerFixture, ...ended: readonly Job[]) => {
    for (const each of ended) {
      fixture.scheduler.settle(each);
      fixture.pending.jobs.delete(each.seq);
    }
    fixture.scheduler.forgetSettled();
  };

  it("a full batch starts at once, another one when its first event has waited long enough", () => {
    const jobs = [1, 2, 3, 4].map((seq) => job(seq, "a", { dueAt: seq }));
    const fixture = new SchedulerFixture(...jobs);
    expect(startBatch(fixture, 10)).toEqual([1, 2, 3]);
    expect([startBatch(fixture, 5_000), fixture.scheduler.dueAt(5_000)]).toEqual([[], null]);
    end(fixture, ...jobs.slice(0, 3));
    expect([startBatch(fixture, 1_003), fixture.scheduler.dueAt(1_003)]).toEqual([[], 1_004]);
    expect(startBatch(fixture, 1_004)).toEqual([4]);
  });

  it("a batch has the events of each lane in their order, and the next lane has the next turn", () => {
    const jobs = [job(1, "b"), job(2, "a"), job(3, "b"), job(4, "a"), job(5, "c")];
    const fixture = new SchedulerFixture(...jobs);
    expect(startBatch(fixture, 0)).toEqual([2, 4, 1]);
    end(fixture, job(2, "a"), job(4, "a"), job(1, "b"));
    fixture.pending.add(job(6, "a"), job(7, "a"));
    expect(startBatch(fixture, 0)).toEqual([5, 6, 7]);
  });

  it("has events of one replay only, or of none", () => {
    const fixture = new SchedulerFixture(
      job(1, "a"),
      job(2, "replay x a"),
      job(3, "replay x b"),
      job(4, "replay y a"),
    );
    expect(startBatch(fixture, 1_000)).toEqual([1]);
    end(fixture, job(1, "a"));
    expect(startBatch(fixture, 1_000)).toEqual([2, 3]);
  });

  it("retries that are due after as many attempts are sent together, and take turns with first attempts", () => {
    const retry = (seq: number, attempts: number) => job(seq, "a", { attempts, dueAt: 50 });
    const fixture = new SchedulerFixture(
      job(9, "a"),
      retry(3, 1),
      retry(2, 1),
      job(1, "a", { attempts: 2, dueAt: 60 }),
    );
    expect(startBatch(fixture, 49)).toEqual([]);
    expect(startBatch(fixture, 1_000)).toEqual([9]);
    end(fixture, job(9, "a"));
    expect(startBatch(fixture, 1_000)).toEqual([2, 3]);
    end(fixture, retry(2, 1), retry(3, 1));
    expect(startBatch(fixture, 1_000)).toEqual([1]);
  });

  it("what was asked for by hand goes alone, and what was released is next", () => {
    const fixture = new SchedulerFixture(job(1, "a"), job(2, "a"), job(3, "manual"));
    fixture.scheduler.prefer("manual");
    expect(startBatch(fixture, 0)).toEqual([3]);
    end(fixture, job(3, "manual"));
    expect(startBatch(fixture, 1_000)).toEqual([1, 2]);
    fixture.scheduler.release(job(2, "a"));
    end(fixture, job(1, "a"));
    expect(startBatch(fixture, 1_000)).toEqual([2]);
  });
});
