/** How many attempts a webhook's receiver may have in flight, and which object makes each of them. */
import { describe, expect, it } from "vitest";
import type { AttemptResult } from "../../src/delivery/subscriber/handler.ts";
import {
  type Capacity,
  CLOSED,
  Connections,
  capacityAfter,
  MAX_IN_FLIGHT,
  MIN_IN_FLIGHT,
  paceOf,
  UNTRIED,
} from "../../src/features/webhooks/receiver-health.ts";

const DELIVERED: AttemptResult = {
  outcome: "delivered",
  statusCode: 200,
  errorClass: null,
  error: null,
  answer: "ok",
  durationMs: 20,
  requestHeaders: null,
  responseHeaders: null,
  retryAfterMs: null,
};
const TIMED_OUT: AttemptResult = { ...DELIVERED, outcome: "failed", statusCode: null, errorClass: "timeout" };
const answered = (statusCode: number): AttemptResult => ({
  ...DELIVERED,
  ...{ outcome: "failed", statusCode, errorClass: "status" },
});

const afterAttempts = (results: readonly AttemptResult[], before: Capacity = UNTRIED): Capacity =>
  results.reduce(capacityAfter, before);
const FULL = afterAttempts(Array<AttemptResult>(MAX_IN_FLIGHT).fill(DELIVERED));

describe("the attempts in flight", () => {
  it("are one for a receiver that has not proven itself, and few for one that has not shown how quick it is", () => {
    expect(paceOf(CLOSED, false, FULL)).toEqual({ maxInFlight: 1, pausedUntil: 0 });
    expect(paceOf(CLOSED, true, UNTRIED)).toEqual({ maxInFlight: MIN_IN_FLIGHT, pausedUntil: 0 });
  });

  it("become one more with each success, up to a bound", () => {
    expect(afterAttempts([DELIVERED, DELIVERED]).inFlight).toBe(MIN_IN_FLIGHT + 2);
    expect(FULL.inFlight).toBe(MAX_IN_FLIGHT);
    expect(afterAttempts([DELIVERED], FULL).inFlight).toBe(MAX_IN_FLIGHT);
  });

  it.each([
    ["no answer", TIMED_OUT],
    ["429", answered(429)],
    ["503", answered(503)],
  ])("are halved by %s", (_, result) => {
    expect(afterAttempts([result], FULL).inFlight).toBe(Math.floor(MAX_IN_FLIGHT / 2));
    expect(afterAttempts(Array<AttemptResult>(9).fill(result), FULL).inFlight).toBe(MIN_IN_FLIGHT);
  });

  it("stay as many when the receiver refuses an event", () => {
    expect(afterAttempts([answered(400), answered(404)], FULL).inFlight).toBe(MAX_IN_FLIGHT);
  });

  it("are few while the receiver needs more than a second on average", () => {
    expect(afterAttempts([{ ...DELIVERED, durationMs: 10_000 }], FULL).inFlight).toBe(MIN_IN_FLIGHT);
    expect(afterAttempts([{ ...DELIVERED, durationMs: 1_500 }], FULL).inFlight).toBe(MAX_IN_FLIGHT);
  });
});

describe("connections", () => {
  it("are the webhook's own first, one less than its object may have, then six of each sender", () => {
    const connections = new Connections();
    const senders = Array.from({ length: 18 }, () => connections.take());
    expect(senders).toEqual([...Array(5).fill(0), ...Array(6).fill(1), ...Array(6).fill(2), 3]);
  });

  it("that are given back are used again, those of the first objects before others", () => {
    const connections = new Connections();
    for (let count = 0; count < 12; count += 1) connections.take();
    for (const sender of [2, 0, 1]) connections.giveBack(sender);
    expect([connections.take(), connections.take(), connections.take()]).toEqual([0, 1, 2]);
  });
});
