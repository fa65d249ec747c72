/** A subscriber's queue, told what happens by a clock of its own: order, turns, and nothing forgotten. */
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

describe("a queue", () => {
  it("makes the first attempts of a lane one after the other, and lets other lanes pass", () => {
    const drain = new Scheduler();
    const jobs = [job(1, "a"), job(2, "a"), job(3, "b")];
    for (const each of jobs) drain.add(each);
    expect(seqs(drain.start(0))).toEqual([1, 3]);
    expect(drain.start(0)).toEqual([]);
    expect(drain.dueAt(0)).toBeNull();
    drain.settle(job(1, "a"), null);
    expect(seqs(drain.start(0))).toEqual([2]);
  });

  it("holds up no later delivery for a retry, which is made when its time has come", () => {
    const drain = new Scheduler();
    for (const each of [job(1, "a"), job(2, "a")]) drain.add(each);
    drain.start(0);
    drain.settle(job(1, "a"), 5_000);
    expect(seqs(drain.start(0))).toEqual([2]);
    drain.settle(job(2, "a"), null);
    expect(drain.dueAt(0)).toBe(5_000);
    expect(drain.start(4_999)).toEqual([]);
    expect(drain.start(5_000)).toEqual([job(1, "a", { attempts: 1, dueAt: 5_000 })]);
  });

  it("lets lanes take turns, so that a busy one keeps no other waiting", () => {
    const drain = new Scheduler();
    for (let seq = 1; seq <= 100; seq += 1) drain.add(job(seq, "busy"));
    for (let seq = 101; seq <= 100 + MAX_IN_FLIGHT; seq += 1) drain.add(job(seq, `quiet ${seq}`));
    const [first] = drain.start(0);
    drain.settle(job(1, "busy"), null);
    expect([first?.seq, ...seqs(drain.start(0))]).toEqual([1, 100 + MAX_IN_FLIGHT]);
  });

  it("lets first and further attempts take turns", () => {
    const drain = new Scheduler();
    for (let seq = 1; seq <= 20; seq += 1) drain.add(job(seq, `${seq}`));
    for (let seq = 21; seq <= 40; seq += 1) drain.add(job(seq, `${seq}`, { attempts: 1, dueAt: 1 }));
    expect(seqs(drain.start(1))).toEqual([1, 21, 2, 22, 3, 23]);
  });

  it("has nothing due while as much is under way as may be: an end is what it waits for then", () => {
    const drain = new Scheduler();
    for (let seq = 1; seq <= MAX_IN_FLIGHT + 1; seq += 1) drain.add(job(seq, `${seq}`));
    drain.add(job(99, "retried", { attempts: 1, dueAt: 1 }));
    drain.start(0);
    expect(drain.dueAt(0)).toBeNull();
    drain.settle(job(1, "1"), null);
    expect(drain.dueAt(0)).toBe(0);
  });

  it("starts nothing while it pauses, and then the same attempt first", () => {
    const drain = new Scheduler();
    for (const each of [job(1, "a"), job(2, "a")]) drain.add(each);
    drain.start(0);
    drain.postpone(job(1, "a"), 5_000);
    expect(drain.start(4_999)).toEqual([]);
    expect(drain.dueAt(0)).toBe(5_000);
    expect(seqs(drain.start(5_000))).toEqual([1]);
  });

  it("rests as long as it is told to, one rest after the other, within bounds", () => {
    const drain = new Scheduler();
    for (const each of [job(1, "a"), job(2, "b"), job(3, "c")]) drain.add(each);
    drain.rest(2_000, 1_000, 10_000);
    drain.rest(1_000, 1_500, 10_000);
    expect(drain.start(3_999)).toEqual([]);
    expect(drain.dueAt(1_500)).toBe(4_000);
    drain.rest(60_000, 2_000, 10_000);
    expect(drain.start(11_999)).toEqual([]);
    expect(seqs(drain.start(12_000))).toEqual([1, 2, 3]);
    drain.rest(0, 20_000, 10_000);
    drain.add(job(4, "d"));
    expect(seqs(drain.start(20_000))).toEqual([4]);
  });

  it("knows nothing of a job any more when it was cleared", () => {
    const drain = new Scheduler();
    for (const each of [job(1, "a"), job(2, "a")]) drain.add(each);
    drain.start(0);
    drain.clear();
    drain.settle(job(1, "a"), 5_000);
    expect([drain.size, drain.inFlight, drain.dueAt(9_000), drain.start(9_000)]).toEqual([0, 0, null, []]);
  });
});

/** What can happen to a queue. Picks are taken modulo what there is to pick from. */
type Step =
  | { readonly type: "add"; readonly lane: number }
  | { readonly type: "deliver" | "fail" | "postpone"; readonly pick: number; readonly afterMs: number }
  | { readonly type: "crash" }
  | { readonly type: "advance"; readonly ms: number };

const MAX_ATTEMPTS = 4;

/** A subscriber's object in small: what is stored, a clock, and a queue that a crash takes from it. */
class Simulation {
  #now = 0;
  #scheduler = new Scheduler();
  #lastSeq = 0;
  /** What is stored: pending jobs by seq. */
  readonly #stored = new Map<number, Job>();
  readonly #inFlight = new Map<number, Job>();
  /** The first attempts that have been made, by lane. */
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

  /** From now on all succeeds: nothing may be left, and only the queue's own word says when to look. */
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

it("whatever fails, whenever it crashes: all is delivered, the first attempts of a lane in order", () => {
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
  console.log(`Drain: 500 runs with seed ${seed}`);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: "max" }), (steps) => {
      const simulation = new Simulation();
      for (const each of steps) simulation.run(each);
      simulation.finish();
    }),
    { numRuns: 500, seed },
  );
});
