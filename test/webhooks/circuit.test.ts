/** When the circuit of a webhook's receiver opens and closes. */
import { describe, expect, it } from "vitest";
import {
  type Circuit,
  CLOSED,
  judgeCircuit,
  OPENING_FAILURES,
  paceOf,
  UNTRIED,
} from "../../src/features/webhooks/receiver-health.ts";

const MINUTE_MS = 60_000;

/** The circuit after failures whose attempts took no time; each probe starts when it may. */
function afterFailures(count: number, from: Circuit = CLOSED): Circuit {
  let circuit = from;
  for (let failure = 0; failure < count; failure += 1) {
    const now = circuit.probeAt;
    circuit = judgeCircuit(circuit, { hasFailed: true, startedAt: now, now });
  }
  return circuit;
}

describe("a receiver's circuit", () => {
  it("opens with the tenth failure in a row, and pauses longer after each probe that fails, up to five minutes", () => {
    expect(paceOf(afterFailures(OPENING_FAILURES - 1), true, UNTRIED).pausedUntil).toBe(0);
    const pauses: number[] = [];
    for (
      let circuit = afterFailures(OPENING_FAILURES);
      pauses.length < 8;
      circuit = afterFailures(1, circuit)
    ) {
      expect(paceOf(circuit, true, UNTRIED)).toEqual({ maxInFlight: 1, pausedUntil: circuit.probeAt });
      pauses.push(circuit.probeAt - pauses.reduce((sum, pause) => sum + pause, 0));
    }
    expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 5 * MINUTE_MS, 5 * MINUTE_MS]);
  });

  it("closes with the first success, and counts anew", () => {
    const open = afterFailures(OPENING_FAILURES + 3);
    const closed = judgeCircuit(open, { hasFailed: false, startedAt: open.probeAt, now: open.probeAt + 20 });
    expect(closed).toEqual(CLOSED);
    expect(paceOf(afterFailures(OPENING_FAILURES - 1, closed), true, UNTRIED).maxInFlight).toBeGreaterThan(1);
  });

  it("does not pause longer for what was in flight when it opened", () => {
    const open = afterFailures(OPENING_FAILURES);
    expect(judgeCircuit(open, { hasFailed: true, startedAt: 0, now: 4_000 })).toEqual(open);
  });
});
