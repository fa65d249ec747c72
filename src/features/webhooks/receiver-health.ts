/** What the attempts at a webhook's receiver mean: when to retry, when to probe, and when to disable it. Pure. */

import type { BatchLimits } from "../../delivery/port/handler.ts";
import type { AttemptResult } from "../../delivery/port/webhook-request.ts";
import { DAY_MS, MINUTE_MS } from "../../platform/durations.ts";
import { backoffMs } from "../../platform/flow/backoff.ts";
import type { DisabledReason } from "./table.ts";

/** A webhook whose every attempt has failed for this long is disabled. */
export const MAX_FAILING_MS = 5 * DAY_MS;

/** How long a webhook has done nothing but fail. */
interface Failing {
  /** Epoch milliseconds of the first failure since the last success; null while the webhook succeeds. */
  readonly failingSince: number | null;
  /** The version of the webhook's row that this is about: any change to the row starts anew. */
  readonly version: number;
}

/** What is known after an attempt at `now` (epoch ms) with the row's `version`; `isHopeless` when it failed too long. */
export function judgeFailing(
  before: Failing,
  attempt: { readonly hasFailed: boolean; readonly version: number; readonly now: number },
): Failing & { readonly isHopeless: boolean } {
  const { hasFailed, version, now } = attempt;
  const knownSince = before.version === version ? before.failingSince : null;
  const failingSince = hasFailed ? (knownSince ?? now) : null;
  return {
    failingSince,
    version,
    isHopeless: failingSince !== null && now - failingSince >= MAX_FAILING_MS,
  };
}

/** So many failures of a receiver that has never answered 2xx cost it no pause; after each further one it rests. */
export const FREE_FAILURES = 10;
export const UNPROVEN_REST_MS = 5_000;
/** A webhook is disabled after so many failures if its receiver has never answered 2xx. */
export const MAX_UNPROVEN_FAILURES = 50;

/** Whether the receiver at a URL has shown that it wants our events: until then it gets few of them. */
export interface Proof {
  /** The URL that this is about; null before the first attempt. */
  readonly url: string | null;
  /** The version of the webhook's row in which `failures` were counted: any change of the row gives another chance. */
  readonly version: number;
  /** True once it has answered 2xx. */
  readonly isProven: boolean;
  /** Failures until then. */
  readonly failures: number;
}

export const UNKNOWN: Proof = { url: null, version: 0, isProven: false, failures: 0 };

/** What is known of the receiver of a webhook whose row is at `version`, before another attempt. */
export function proofFor(known: Proof, url: string, version: number): Proof {
  if (known.url !== url) return { ...UNKNOWN, url, version };
  return known.version === version ? known : { ...known, version, failures: 0 };
}

/**
 * What is known after an attempt, and how long the receiver rests; `isRefuted` when it has failed too often without ever
 * answering 2xx.
 */
export function judgeProof(
  before: Proof,
  hasFailed: boolean,
): { readonly proof: Proof; readonly restMs: number; readonly isRefuted: boolean } {
  if (before.isProven || !hasFailed) {
    return { proof: { ...before, isProven: true, failures: 0 }, restMs: 0, isRefuted: false };
  }
  const failures = before.failures + 1;
  return {
    proof: { ...before, failures },
    restMs: failures > FREE_FAILURES ? UNPROVEN_REST_MS : 0,
    isRefuted: failures >= MAX_UNPROVEN_FAILURES,
  };
}

/** So many failures in a row open the circuit. */
export const OPENING_FAILURES = 10;
/** The pause before each probe: it grows with each one that fails. */
const PROBES = { firstMs: 5_000, maxMs: 5 * MINUTE_MS };

/** Protects a receiver that fails, and us from it: while it is open, attempts are probes. */
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

/** All that is known of a webhook's receiver; kept in the webhook's object. */
export interface ReceiverHealth extends Failing {
  /** How its webhook last asked for batches. */
  readonly batch: BatchLimits | null;
  readonly proof: Proof;
  readonly circuit: Circuit;
  /** Why its webhook is to be disabled, as the latest attempt at this version says; null when it is not. */
  readonly disabledReason: DisabledReason | null;
}

/** What follows from an attempt at a receiver. */
interface Judgement {
  readonly health: ReceiverHealth;
  /** How long the receiver rests. */
  readonly restMs: number;
}

/** Judges an attempt at the receiver of a webhook with this URL, whose row was at `version`. Times are epoch ms. */
export function judgeAttempt(
  before: ReceiverHealth,
  { url, updatedAt: version }: { readonly url: string; readonly updatedAt: number },
  { outcome, startedAt, now }: Pick<AttemptResult, "outcome"> & Omit<EndedAttempt, "hasFailed">,
): Judgement {
  const hasFailed = outcome !== "delivered";
  const { isHopeless, ...failing } = judgeFailing(before, { hasFailed, version, now });
  const { proof, restMs, isRefuted } = judgeProof(proofFor(before.proof, url, version), hasFailed);
  const circuit = judgeCircuit(before.circuit, { hasFailed, startedAt, now });
  const disabledReason: DisabledReason | null =
    outcome === "gone" ? "gone" : isHopeless ? "failing" : isRefuted ? "unproven" : null;
  const { batch } = before;
  const health = { ...failing, batch, proof, circuit: proof.isProven ? circuit : CLOSED, disabledReason };
  return { health, restMs };
}

/** As it was stored: `{}` before the first attempt. */
export function parseHealth(json: string): ReceiverHealth {
  const health = JSON.parse(json) as Partial<ReceiverHealth>;
  const { failingSince = null, version = 0, disabledReason = null } = health;
  const { batch = null, proof = UNKNOWN, circuit = CLOSED } = health;
  return { failingSince, version, batch, proof, circuit, disabledReason };
}
