/** When failed deliveries are retried, and when a webhook is hopeless. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
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
/** In a row, before the attempts at a receiver become probes. */
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
    return judgeAttempt(health, webhook, { outcome, startedAt: now, now }).health;
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
    const refuted = healthAfter(failures(MAX_UNPROVEN_FAILURES));
    expect(refuted.disabledReason).toBe("unproven");
    const changed = { ...WEBHOOK, updatedAt: 2 };
    expect(healthAfter(failures(1), { from: refuted, webhook: changed }).disabledReason).toBeNull();
  });

  it("is probed after pauses that grow to five minutes, and not later for what was in flight before", () => {
    let health = healthAfter(["delivered", ...failures(OPENING_FAILURES - 1)]);
    expect(health.circuit.probeAt).toBe(0);
    const pauses: number[] = [];
    for (let now = 0; pauses.length < 8; now = health.circuit.probeAt) {
      health = healthAfter(failures(1), { from: health });
      pauses.push(health.circuit.probeAt - now);
    }
    expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
    const { circuit } = judgeAttempt(health, WEBHOOK, { outcome: "failed", startedAt: 0, now: 9 }).health;
    expect(circuit).toEqual(health.circuit);
    const closed = healthAfter(["delivered", ...failures(OPENING_FAILURES - 1)], { from: health });
    expect(paceOf(closed.circuit, true, UNTRIED)).toMatchObject({ pausedUntil: 0 });
  });
});
