/** When failed deliveries are retried, and when a webhook is hopeless. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Job, Scheduler, type WaitingJobs } from "../../src/delivery/subscriber/scheduler.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../src/features/webhooks/attempt.ts";
import {
  capacityAfter,
  judgeAttempt,
  MAX_UNPROVEN_FAILURES,
  paceOf,
  parseHealth,
  planRetry,
  RETRY_DELAYS_MS,
  type ReceiverHealth,
  UNTRIED,
} from "../../src/features/webhooks/receiver-health.ts";

const HOUR_MS = 3_600_000;
/** Failures in a row before attempts become probes. */
const OPENING_FAILURES = 10;
const failure = { outcome: "failed", retryAfterMs: null } as const;
const middle = () => 0.5;
const WEBHOOK = { url: "https://hooks.example.com", updatedAt: 1 };

describe("a delivery that fails", () => {
  it("is attempted after 0 s, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, and then no more", () => {
    const delays = RETRY_DELAYS_MS.map(
      (_, index) => planRetry({ attempts: index + 1, result: failure, now: 0, random: middle })?.at ?? null,
    );
    const [hours, minutes] = [(count: number) => count * HOUR_MS, (count: number) => count * 60_000];
    const expected = [5000, minutes(5), minutes(30), ...[2, 5, 10, 14, 20, 24].map(hours)];
    expect(delays).toEqual([...expected, null]);
    expect(RETRY_DELAYS_MS[0]).toBe(0);
    expect(planRetry({ attempts: 11, result: failure, now: 0, random: middle })).toBeNull();
  });

  it("varies by a fifth in both directions, and waits as long as the receiver asks, up to a day", () => {
    const asked = fc.option(fc.oneof(fc.nat(3 * 24 * HOUR_MS), fc.constant(Number.MAX_SAFE_INTEGER)));
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.nat(),
        chance,
        asked,
        (attempts, now, random, retryAfterMs) => {
          const result = { outcome: "failed", retryAfterMs } as const;
          const wait = (planRetry({ attempts, result, now, random: () => random })?.at ?? 0) - now;
          const base = RETRY_DELAYS_MS[attempts] ?? 0;
          const [shortest, longest] = [base * 0.8, base * 1.2];
          const wished = Math.min(retryAfterMs ?? 0, 24 * HOUR_MS);
          expect(Number.isInteger(wait)).toBe(true);
          expect(wait).toBeGreaterThanOrEqual(Math.max(Math.floor(shortest), wished));
          expect(wait).toBeLessThanOrEqual(Math.max(Math.ceil(longest), wished));
        },
      ),
    );
  });

  it("uses the whole range of jitter", () => {
    const at = (random: number) =>
      planRetry({ attempts: 1, result: failure, now: 1000, random: () => random })?.at;
    expect([at(0), at(0.5), at(0.999_999)]).toEqual([5000, 6000, 7000]);
  });
});

it.each(["delivered", "gone"] as const)("a delivery that is %s is not retried", (outcome) => {
  const result = { outcome, retryAfterMs: 1000 };
  expect(planRetry({ attempts: 1, result, now: 0, random: middle })).toBeNull();
});

/** The health of a receiver after attempts at these times (epoch ms), each of which took no time. */
function healthAfter(
  outcomes: readonly ("failed" | "delivered")[],
  { at = () => 0, webhook = WEBHOOK, from = parseHealth("{}") }: HealthOptions = {},
): ReceiverHealth {
  return outcomes.reduce((health, outcome, index) => {
    const now = Math.max(at(index), health.circuit.probeAt);
    return judgeAttempt(health, webhook, { outcome, startedAt: now, now });
  }, from);
}

interface HealthOptions {
  readonly at?: (index: number) => number;
  readonly webhook?: typeof WEBHOOK;
  readonly from?: ReceiverHealth;
}

const failures = (count: number) => Array<"failed">(count).fill("failed");

describe("a receiver", () => {
  it("is hopeless after five days of failures alone; a success or a change of its row starts anew", () => {
    const at = (index: number) => (index === 0 ? 7 : 7 + 120 * HOUR_MS);
    const proven = healthAfter(["delivered"]);
    const early = healthAfter(failures(2), { at: (index) => Math.min(at(index), at(1) - 1), from: proven });
    expect([early.disabledReason, early.failingSince]).toEqual([null, 7]);
    const late = healthAfter(failures(2), { at, from: proven });
    expect(late.disabledReason).toBe("failing");
    const now = { at: () => at(1), from: late };
    expect(healthAfter(["delivered"], now)).toMatchObject({ failingSince: null, disabledReason: null });
    const changed = healthAfter(failures(1), { ...now, webhook: { ...WEBHOOK, updatedAt: 2 } });
    expect(changed).toMatchObject({ failingSince: at(1), disabledReason: null });
  });

  it("has proven itself with its first 2xx for as long as the URL stays; a change is another chance", () => {
    const { proof } = healthAfter([...failures(3), "delivered", ...failures(100)]);
    expect(proof.isProven).toBe(true);
    const proven = healthAfter(["delivered"]);
    const elsewhere = { ...WEBHOOK, url: `${WEBHOOK.url}/other` };
    expect(healthAfter(failures(1), { from: proven, webhook: elsewhere }).proof.isProven).toBe(false);
    const at = (index: number) => index * HOUR_MS;
    const refuted = healthAfter(failures(MAX_UNPROVEN_FAILURES), { at });
    expect(refuted.disabledReason).toBe("unproven");
    const changed = { ...WEBHOOK, updatedAt: 2 };
    expect(healthAfter(failures(1), { from: refuted, webhook: changed }).disabledReason).toBeNull();
  });

  it("that has never answered 2xx is hopeless after 100 failures and a day, whichever is later", () => {
    const disabledAt = (intervalMs: number) => {
      let health = parseHealth("{}");
      for (let count = 1; count < 1_000; count += 1) {
        const now = (count - 1) * intervalMs;
        health = judgeAttempt(health, WEBHOOK, { outcome: "failed", startedAt: now, now });
        if (health.disabledReason !== null) return [health.disabledReason, count, now / HOUR_MS];
      }
      return null;
    };
    expect(disabledAt(HOUR_MS / 12)).toEqual(["unproven", 289, 24]);
    expect(disabledAt(24 * HOUR_MS)).toEqual(["unproven", 100, 99 * 24]);
    expect(disabledAt(1_000)).toBeNull();
  });

  it("is probed after pauses that grow to five minutes, proven or not, and not later for what was in flight before", () => {
    const unproven = healthAfter(failures(OPENING_FAILURES));
    expect(paceOf(unproven.circuit, false, UNTRIED)).toEqual({ maxInFlight: 1, pausedUntil: 5_000 });
    let health = healthAfter(["delivered", ...failures(OPENING_FAILURES - 1)]);
    expect(health.circuit.probeAt).toBe(0);
    const pauses: number[] = [];
    for (let now = 0; pauses.length < 8; now = health.circuit.probeAt) {
      health = healthAfter(failures(1), { from: health });
      pauses.push(health.circuit.probeAt - now);
    }
    expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
    const { circuit } = judgeAttempt(health, WEBHOOK, { outcome: "failed", startedAt: 0, now: 9 });
    expect(circuit).toEqual(health.circuit);
    const closed = healthAfter(["delivered", ...failures(OPENING_FAILURES - 1)], { from: health });
    expect(paceOf(closed.circuit, true, UNTRIED)).toMatchObject({ pausedUntil: 0 });
  });
});

// A receiver that hangs for an hour, with a clock of the test: it costs probes, and the backlog then drains at its speed.

const ROOMS = 100;
const EVENT_EVERY_MS = 1_000;
/** Requests that the receiver handles at a time, each for {@link ANSWER_MS}; others wait for their turns. */
const WORKERS = 30;
const ANSWER_MS = 20;

/** Waiting jobs by lane: first attempts in order, and retries. */
class Waiting implements WaitingJobs {
  readonly firsts = new Map<string, Job[]>();
  readonly retried = new Map<number, Job>();
  onAdded: (lane: string) => void = () => {};

  lanesAfter(lane: string, limit: number): string[] {
    const later = [...this.firsts.keys()].filter((each) => each > lane);
    return later.sort().slice(0, limit);
  }

  add(job: Job): void {
    this.firsts.set(job.lane, [...(this.firsts.get(job.lane) ?? []), job]);
    this.onAdded(job.lane);
  }

  firstOf(lane: string, afterSeq: number): Job | null {
    return this.firsts.get(lane)?.find(({ seq }) => seq > afterSeq) ?? null;
  }

  retries(limit: number): Job[] {
    return [...this.retried.values()].sort((one, other) => one.dueAt - other.dueAt).slice(0, limit);
  }

  remove({ seq, lane, attempts }: Job): void {
    if (attempts > 0) this.retried.delete(seq);
    const left = this.firsts.get(lane)?.filter((each) => each.seq !== seq) ?? [];
    if (left.length > 0) this.firsts.set(lane, left);
    else this.firsts.delete(lane);
  }
}

it("is probed now and then, and what waited then arrives as fast as it answers, each room in order", () => {
  const waiting = new Waiting();
  const scheduler = new Scheduler(waiting);
  let health: ReceiverHealth = parseHealth("{}");
  let capacity = UNTRIED;
  const freeAt = Array<number>(WORKERS).fill(0);
  let inFlight: { job: Job; startedAt: number; endsAt: number }[] = [];
  const order = new Map<string, number[]>();
  let [now, seq, attemptsWhileHanging, delivered, drainBeganAt] = [0, 0, 0, 0, 0];

  const start = () => {
    const pace = paceOf(health.circuit, health.proof.isProven, capacity);
    for (const job of scheduler.start(now, pace)) {
      const isHanging = now < HOUR_MS && job.seq > 1;
      if (isHanging) attemptsWhileHanging += 1;
      if (job.attempts === 0) order.set(job.lane, [...(order.get(job.lane) ?? []), job.seq]);
      inFlight.push({ job, startedAt: now, endsAt: isHanging ? now + ATTEMPT_TIMEOUT_MS : answer() });
    }
  };
  const answer = (): number => {
    const worker = freeAt.indexOf(Math.min(...freeAt));
    const at = Math.max(now, freeAt[worker] ?? 0) + ANSWER_MS;
    freeAt[worker] = at;
    return at;
  };
  const end = ({ job, startedAt }: (typeof inFlight)[number]) => {
    const hasFailed = now - startedAt === ATTEMPT_TIMEOUT_MS;
    const outcome = hasFailed ? "failed" : "delivered";
    health = judgeAttempt(health, WEBHOOK, { outcome, startedAt, now });
    capacity = capacityAfter(capacity, {
      ...{ outcome, statusCode: hasFailed ? null : 200, errorClass: hasFailed ? "timeout" : null },
      ...{ error: null, answer: null, requestHeaders: null, responseHeaders: null, retryAfterMs: null },
      durationMs: now - startedAt,
    });
    const attempts = job.attempts + 1;
    const retry = planRetry({
      ...{ attempts, now, random: () => 0.5 },
      result: { outcome, retryAfterMs: null },
    });
    waiting.remove(job);
    if (retry === null) delivered += 1;
    else waiting.retried.set(job.seq, { ...job, attempts, dueAt: retry.at });
    if (!hasFailed && now > HOUR_MS && drainBeganAt === 0) drainBeganAt = now;
    scheduler.settle(job);
    scheduler.forgetSettled();
  };
  const enqueue = () => {
    seq += 1;
    waiting.add({ seq, lane: `room ${seq % ROOMS}`, attempts: 0, dueAt: now });
  };

  const events = HOUR_MS / EVENT_EVERY_MS;
  while (waiting.firsts.size > 0 || seq < events) {
    const times = [
      ...(seq < events ? [seq * EVENT_EVERY_MS] : []),
      ...inFlight.map(({ endsAt }) => endsAt),
      scheduler.dueAt(now) ?? Number.POSITIVE_INFINITY,
    ];
    now = Math.max(now, Math.min(...times));
    const ended = inFlight.filter(({ endsAt }) => endsAt <= now);
    inFlight = inFlight.filter(({ endsAt }) => endsAt > now);
    for (const each of ended) end(each);
    if (seq < events && seq * EVENT_EVERY_MS <= now) enqueue();
    start();
  }

  // The attempts that open the circuit, and probes after pauses that grow to five minutes.
  expect(attemptsWhileHanging).toBeLessThan(OPENING_FAILURES + 30);
  expect(drainBeganAt - HOUR_MS).toBeLessThan(6 * 60 * 1000);
  // The first probe that succeeds lets the backlog follow, as fast as the receiver works it off.
  expect(now - drainBeganAt).toBeLessThan((1.1 * events * ANSWER_MS) / WORKERS);
  expect(delivered).toBeGreaterThan(events - 40);
  for (const seqs of order.values()) expect(seqs).toEqual([...seqs].sort((one, other) => one - other));
});
