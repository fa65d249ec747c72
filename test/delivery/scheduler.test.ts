/** The scheduler, with a clock of the test: order, turns, and no job lost. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Job, MAX_IN_FLIGHT, Scheduler } from "../../src/delivery/subscriber/scheduler.ts";

const job = (seq: number, lane: string, fields: Partial<Job> = {}): Job => ({
  seq,
  lane,
  attempts: 0,
  dueAt: 0,
  ...fields,
});

const seqs = (jobs: readonly Job[]): number[] => jobs.map(({ seq }) => seq);

describe("the scheduler", () => {
  it("starts the first attempts of a lane one at a time, and other lanes meanwhile", () => {
    const scheduler = new Scheduler();
    const jobs = [job(1, "a"), job(2, "a"), job(3, "b")];
    for (const each of jobs) scheduler.add(each);
    expect(seqs(scheduler.start(0))).toEqual([1, 3]);
    expect(scheduler.start(0)).toEqual([]);
    expect(scheduler.dueAt(0)).toBeNull();
    scheduler.settle(job(1, "a"), null);
    expect(seqs(scheduler.start(0))).toEqual([2]);
  });

  it("delays no later delivery for a retry, which starts when it is due", () => {
    const scheduler = new Scheduler();
    for (const each of [job(1, "a"), job(2, "a")]) scheduler.add(each);
    scheduler.start(0);
    scheduler.settle(job(1, "a"), 5_000);
    expect(seqs(scheduler.start(0))).toEqual([2]);
    scheduler.settle(job(2, "a"), null);
    expect(scheduler.dueAt(0)).toBe(5_000);
    expect(scheduler.start(4_999)).toEqual([]);
    expect(scheduler.start(5_000)).toEqual([job(1, "a", { attempts: 1, dueAt: 5_000 })]);
  });

  it("lets lanes take turns, so a busy one does not starve the others", () => {
    const scheduler = new Scheduler();
    for (let seq = 1; seq <= 100; seq += 1) scheduler.add(job(seq, "busy"));
    for (let seq = 101; seq <= 100 + MAX_IN_FLIGHT; seq += 1) scheduler.add(job(seq, `quiet ${seq}`));
    const [first] = scheduler.start(0);
    scheduler.settle(job(1, "busy"), null);
    expect([first?.seq, ...seqs(scheduler.start(0))]).toEqual([1, 100 + MAX_IN_FLIGHT]);
  });

  it("lets first attempts and retries take turns", () => {
    const scheduler = new Scheduler();
    for (let seq = 1; seq <= 20; seq += 1) scheduler.add(job(seq, `${seq}`));
    for (let seq = 21; seq <= 40; seq += 1) scheduler.add(job(seq, `${seq}`, { attempts: 1, dueAt: 1 }));
    expect(seqs(scheduler.start(1))).toEqual([1, 21, 2, 22, 3, 23]);
  });

  it("has nothing due while the maximum is in flight, and then when a job is over", () => {
    const scheduler = new Scheduler();
    for (let seq = 1; seq <= MAX_IN_FLIGHT + 1; seq += 1) scheduler.add(job(seq, `${seq}`));
    scheduler.add(job(99, "retried", { attempts: 1, dueAt: 1 }));
    scheduler.start(0);
    expect(scheduler.dueAt(0)).toBeNull();
    scheduler.settle(job(1, "1"), null);
    expect(scheduler.dueAt(0)).toBe(0);
  });

  it("starts nothing while it pauses, and the postponed attempt first afterwards", () => {
    const scheduler = new Scheduler();
    for (const each of [job(1, "a"), job(2, "a")]) scheduler.add(each);
    scheduler.start(0);
    scheduler.postpone(job(1, "a"), 5_000);
    expect(scheduler.start(4_999)).toEqual([]);
    expect(scheduler.dueAt(0)).toBe(5_000);
    expect(seqs(scheduler.start(5_000))).toEqual([1]);
  });

  it("adds up rests, within bounds", () => {
    const scheduler = new Scheduler();
    for (const each of [job(1, "a"), job(2, "b"), job(3, "c")]) scheduler.add(each);
    scheduler.rest(2_000, 1_000, 10_000);
    scheduler.rest(1_000, 1_500, 10_000);
    expect(scheduler.start(3_999)).toEqual([]);
    expect(scheduler.dueAt(1_500)).toBe(4_000);
    scheduler.rest(60_000, 2_000, 10_000);
    expect(scheduler.start(11_999)).toEqual([]);
    expect(seqs(scheduler.start(12_000))).toEqual([1, 2, 3]);
    scheduler.rest(0, 20_000, 10_000);
    scheduler.add(job(4, "d"));
    expect(seqs(scheduler.start(20_000))).toEqual([4]);
  });

  it("drops all jobs when it is cleared", () => {
    const scheduler = new Scheduler();
    for (const each of [job(1, "a"), job(2, "a")]) scheduler.add(each);
    scheduler.start(0);
    scheduler.clear();
    scheduler.settle(job(1, "a"), 5_000);
    expect([scheduler.size, scheduler.inFlight, scheduler.dueAt(9_000), scheduler.start(9_000)]).toEqual([
      0,
      0,
      null,
      [],
    ]);
  });
});

/** What can happen to the scheduler. A pick is taken modulo the number of jobs in flight. */
type Step =
  | { readonly type: "add"; readonly lane: number }
  | { readonly type: "deliver" | "fail" | "postpone"; readonly pick: number; readonly afterMs: number }
  | { readonly type: "crash" }
  | { readonly type: "advance"; readonly ms: number };

const MAX_ATTEMPTS = 4;

/** A subscriber's object in miniature: storage, a clock, and a scheduler that a crash discards. */
class Simulation {
  #now = 0;
  #scheduler = new Scheduler();
  #lastSeq = 0;
  /** What is stored: pending jobs by seq. */
  readonly #stored = new Map<number, Job>();
  readonly #inFlight = new Map<number, Job>();
  /** The first attempts made so far, by lane. */
  readonly #tried = new Map<string, number[]>();

  run(step: Step): void {
    this.#take(step);
    this.#pump();
    this.#check();
  }

  #take(step: Step): void {
    switch (step.type) {
      case "add": {
        this.#lastSeq += 1;
        const added = job(this.#lastSeq, `lane ${step.lane}`, { dueAt: this.#now });
        this.#stored.set(added.seq, added);
        this.#scheduler.add(added);
        return;
      }
      case "crash":
        this.#scheduler = new Scheduler();
        this.#inFlight.clear();
        for (const stored of [...this.#stored.values()].sort((a, b) => a.seq - b.seq))
          this.#scheduler.add(stored);
        return;
      case "advance":
        this.#now += step.ms;
        return;
      default:
        this.#end(step);
    }
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
    const retryAt = type === "deliver" || attempts === MAX_ATTEMPTS ? null : this.#now + afterMs;
    if (ended.attempts === 0) {
      this.#tried.set(ended.lane, [...(this.#tried.get(ended.lane) ?? []), ended.seq]);
    }
    if (retryAt === null) this.#stored.delete(ended.seq);
    else this.#stored.set(ended.seq, { ...ended, attempts, dueAt: retryAt });
    this.#scheduler.settle(ended, retryAt);
  }

  #pump(): void {
    for (const started of this.#scheduler.start(this.#now)) {
      expect(started).toEqual(this.#stored.get(started.seq));
      expect(this.#inFlight.has(started.seq)).toBe(false);
      expect(started.dueAt).toBeLessThanOrEqual(this.#now);
      this.#inFlight.set(started.seq, started);
    }
  }

  #check(): void {
    expect(this.#scheduler.size).toBe(this.#stored.size);
    expect(this.#scheduler.inFlight).toBe(this.#inFlight.size);
    expect(this.#inFlight.size).toBeLessThanOrEqual(MAX_IN_FLIGHT);
    const lanes = [...this.#inFlight.values()]
      .filter(({ attempts }) => attempts === 0)
      .map(({ lane }) => lane);
    expect(new Set(lanes).size).toBe(lanes.length);
    for (const tried of this.#tried.values()) expect(tried).toEqual([...tried].sort((a, b) => a - b));
  }

  /** From now on everything succeeds: nothing may be left, and only `dueAt` says when to look. */
  finish(): void {
    for (let turn = 0; this.#stored.size > 0; turn += 1) {
      expect(turn).toBeLessThan(1_000);
      if (this.#inFlight.size > 0) this.run({ type: "deliver", pick: 0, afterMs: 0 });
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
  const pick = fc.nat(9);
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: fc.constant("add" as const), lane: fc.nat(7) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        type: fc.constantFrom("deliver", "fail", "fail", "postpone"),
        pick,
        afterMs: fc.nat(500),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ type: "crash" as const }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant("advance" as const), ms: fc.nat(300) }) },
  );
  const seed = (Math.random() * 2 ** 31) | 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: "max" }), (steps) => {
      const simulation = new Simulation();
      for (const each of steps) simulation.run(each);
      simulation.finish();
    }),
    { numRuns: 500, seed },
  );
});
