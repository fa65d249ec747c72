/** Circuit breaker and speed of a webhook's receiver: one that fails costs probes, one that is quick gets more. Pure. */
import type { Pace } from "../delivery/handler.ts";
import { backoffMs } from "../platform/backoff.ts";

/** So many failures in a row open the circuit. */
export const OPENING_FAILURES = 10;
/** The pause before each probe: it grows with each one that fails. */
const PROBES = { firstMs: 5_000, maxMs: 5 * 60_000 };

/** The platform connects one object to this many receivers at once; further requests wait for one of them. */
const CONNECTIONS = 6;
/** A quick receiver gets so many: the next requests are then ready when a connection is free. */
const MAX_IN_FLIGHT = 24;
/** A receiver is quick if it answers in this time: a request that waits for a connection still ends before its limit. */
const QUICK_MS = 1_000;
/** The weight of the latest attempt in the average. */
const LATEST_SHARE = 0.2;

/** How a webhook's receiver has fared lately; kept in the webhook's object. */
export interface Circuit {
  /** Failures in a row, of which those beyond the opening one were probes. */
  readonly failures: number;
  /** While the circuit is open: when the next probe may start (epoch ms). 0 while it is closed. */
  readonly probeAt: number;
}

export const CLOSED: Circuit = { failures: 0, probeAt: 0 };

/** An attempt that is over. Times are epoch milliseconds. */
interface EndedAttempt {
  readonly hasFailed: boolean;
  readonly startedAt: number;
  readonly now: number;
}

/** The circuit after an attempt. What was in flight when it opened is no probe: its failures lengthen no pause. */
export function judgeCircuit(before: Circuit, { hasFailed, startedAt, now }: EndedAttempt): Circuit {
  if (!hasFailed) return CLOSED;
  if (startedAt < before.probeAt) return before;
  const failures = before.failures + 1;
  if (failures < OPENING_FAILURES) return { failures, probeAt: 0 };
  return { failures, probeAt: now + backoffMs(failures - OPENING_FAILURES + 1, PROBES) };
}

/** The average after an attempt that took so long; null before the first one. */
export const averageLatency = (before: number | null, latestMs: number): number =>
  before === null ? latestMs : before + LATEST_SHARE * (latestMs - before);

/** How fast a receiver takes deliveries that answers after `latencyMs` on average (null when that is not known). */
export function paceOf({ probeAt }: Circuit, isProven: boolean, latencyMs: number | null): Pace {
  if (probeAt > 0 || !isProven) return { maxInFlight: 1, pausedUntil: probeAt };
  const isQuick = latencyMs !== null && latencyMs <= QUICK_MS;
  return { maxInFlight: isQuick ? MAX_IN_FLIGHT : CONNECTIONS, pausedUntil: 0 };
}
