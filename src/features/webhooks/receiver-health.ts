/** The health of a webhook's receiver: retries, probes, its pace, and when to disable the webhook. Pure. */

import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "@atrium/contract/time.ts";
import type { AttemptResult, BatchLimits, Pace } from "../../delivery/subscriber/handler.ts";
import type { DisabledReason } from "./table.ts";

/** A webhook that has succeeded is disabled when every attempt has failed for this long. */
const MAX_FAILING_MS = 5 * DAY_MS;
/** Bounds for a receiver that has never accepted an event, both to be reached, so that it may start a day late. */
export const MAX_UNPROVEN_FAILURES = 100;
const MAX_UNPROVEN_MS = DAY_MS;

/** The time for which a webhook has only failed. */
interface Failing {
  /** Epoch milliseconds of the first failure since the last success; null while the webhook succeeds. */
  readonly failingSince: number | null;
  /** The version of the webhook's row that this is about: any change to the row starts anew. */
  readonly version: number;
}

/** Whether the receiver at a URL has shown that it wants our events; it gets few of them before. */
interface Proof {
  readonly url: string | null;
  /** The version of the webhook's row in which `failures` were counted: any change of the row gives another chance. */
  readonly version: number;
  readonly isProven: boolean;
  readonly failures: number;
}

const UNKNOWN: Proof = { url: null, version: 0, isProven: false, failures: 0 };

/** The receiver's health before another attempt, for the webhook's row at `version`. */
function proofFor(known: Proof, url: string, version: number): Proof {
  if (known.url !== url) return { ...UNKNOWN, url, version };
  return known.version === version ? known : { ...known, version, failures: 0 };
}

const proofAfter = (before: Proof, hasFailed: boolean): Proof =>
  before.isProven || !hasFailed
    ? { ...before, isProven: true, failures: 0 }
    : { ...before, failures: before.failures + 1 };

/** The reason to disable the webhook after failures for this time; null for none. */
function reasonOf({ isProven, failures }: Proof, failingMs: number): DisabledReason | null {
  if (isProven) return failingMs >= MAX_FAILING_MS ? "failing" : null;
  return failures >= MAX_UNPROVEN_FAILURES && failingMs >= MAX_UNPROVEN_MS ? "unproven" : null;
}

/** The failures in a row that open the circuit. */
const OPENING_FAILURES = 10;
/** Pause before each probe, which grows with each failed one. */
const PROBES = { firstMs: 5_000, maxMs: 5 * MINUTE_MS };

/** A circuit breaker: while it is open, attempts are probes. */
interface Circuit {
  /** Failures in a row, of which those beyond the opening one were probes. */
  readonly failures: number;
  /** Earliest start of the next probe while the circuit is open (epoch ms); 0 while it is closed. */
  readonly probeAt: number;
}

export const CLOSED: Circuit = { failures: 0, probeAt: 0 };

interface EndedAttempt {
  readonly hasFailed: boolean;
  readonly startedAt: number;
  readonly now: number;
}

/**
 * The circuit after an attempt. An attempt in flight when it opens is no probe, so its failure lengthens no
 * pause.
 */
function judgeCircuit(before: Circuit, { hasFailed, startedAt, now }: EndedAttempt): Circuit {
  if (!hasFailed) return CLOSED;
  if (startedAt < before.probeAt) return before;
  const failures = before.failures + 1;
  if (failures < OPENING_FAILURES) return { failures, probeAt: 0 };
  return { failures, probeAt: now + backoffMs(failures - OPENING_FAILURES + 1, PROBES) };
}

export interface ReceiverHealth extends Failing {
  readonly batch: BatchLimits | null;
  readonly proof: Proof;
  readonly circuit: Circuit;
  /** Why its webhook is to be disabled, as the latest attempt at this version says; null when it is not. */
  readonly disabledReason: DisabledReason | null;
}

/** Judges an attempt at the receiver of a webhook with this URL, whose row was at `version`. Times are epoch ms. */
export function judgeAttempt(
  before: ReceiverHealth,
  { url, updatedAt: version }: { readonly url: string; readonly updatedAt: number },
  { outcome, startedAt, now }: Pick<AttemptResult, "outcome"> & Omit<EndedAttempt, "hasFailed">,
): ReceiverHealth {
  const hasFailed = outcome !== "delivered";
  const knownSince = before.version === version ? before.failingSince : null;
  const failingSince = hasFailed ? (knownSince ?? now) : null;
  const proof = proofAfter(proofFor(before.proof, url, version), hasFailed);
  const circuit = judgeCircuit(before.circuit, { hasFailed, startedAt, now });
  const disabledReason = outcome === "gone" ? "gone" : reasonOf(proof, now - (failingSince ?? now));
  return { failingSince, version, batch: before.batch, proof, circuit, disabledReason };
}

/** Parses stored health; `{}` before the first attempt. */
export function parseHealth(json: string): ReceiverHealth {
  const health = JSON.parse(json) as Partial<ReceiverHealth>;
  const { failingSince = null, version = 0, disabledReason = null } = health;
  const { batch = null, proof = UNKNOWN, circuit = CLOSED } = health;
  return { failingSince, version, batch, proof, circuit, disabledReason };
}

/** The column that says how many events one request may have; null for one each. */
export const parseBatch = (json: string | null): BatchLimits | null =>
  json === null ? null : (JSON.parse(json) as BatchLimits);

/** The delay before each attempt, counted from the one before; the first is made at once. */
export const RETRY_DELAYS_MS = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];
/** Delays vary by this share in both directions, so that deliveries that failed together are not retried together. */
const JITTER = 0.2;
/** A receiver may delay the next attempt by `Retry-After`, but no longer than this. */
const MAX_RETRY_AFTER_MS = DAY_MS;

interface AttemptSummary {
  readonly attempts: number;
  readonly result: Pick<AttemptResult, "outcome" | "retryAfterMs">;
  readonly now: number;
  readonly random: () => number;
}

/** When to retry, in epoch milliseconds; null when the event was delivered, refused for good, or retried often enough. */
export function planRetry({ attempts, result, now, random }: AttemptSummary): { readonly at: number } | null {
  const delay = RETRY_DELAYS_MS[attempts];
  if (result.outcome !== "failed" || delay === undefined) return null;
  const withJitter = delay * (1 + JITTER * (2 * random() - 1));
  const requested = Math.min(result.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
  return { at: now + Math.round(Math.max(withJitter, requested)) };
}

/** Requests of one object that Cloudflare lets wait for the headers of their responses; others queue. */
const CONNECTIONS = 6;
/** The webhook's own object keeps one of them for the database. */
const OWN_CONNECTIONS = CONNECTIONS - 1;
/** Requests in flight at first, and after failures: they need no other object. */
const MIN_IN_FLIGHT = OWN_CONNECTIONS;
/** Most requests in flight: of the webhook's own object and 15 senders. */
export const MAX_IN_FLIGHT = OWN_CONNECTIONS + 15 * CONNECTIONS;
/** A receiver that needs longer has enough to do. */
const QUICK_MS = 1_000;
/** The weight of the latest attempt in the average. */
const LATEST_SHARE = 0.2;

/** A receiver's capacity, by its latest attempts; in memory only. */
interface Capacity {
  readonly inFlight: number;
  readonly latencyMs: number | null;
}

export const UNTRIED: Capacity = { inFlight: MIN_IN_FLIGHT, latencyMs: null };

/** A receiver that answers quickly gets one more with each success, and half as many when it is overloaded. */
export function capacityAfter(before: Capacity, result: AttemptResult): Capacity {
  const { durationMs } = result;
  const latencyMs =
    before.latencyMs === null
      ? durationMs
      : before.latencyMs + LATEST_SHARE * (durationMs - before.latencyMs);
  return { inFlight: inFlightAfter(before.inFlight, result, latencyMs), latencyMs };
}

function inFlightAfter(before: number, result: AttemptResult, latencyMs: number): number {
  if (latencyMs > QUICK_MS) return MIN_IN_FLIGHT;
  if (isOverloaded(result)) return Math.max(MIN_IN_FLIGHT, Math.floor(before / 2));
  return result.outcome === "delivered" ? Math.min(before + 1, MAX_IN_FLIGHT) : before;
}

/** Other statuses refuse the event, whatever else is in flight. */
const isOverloaded = ({ outcome, statusCode }: AttemptResult): boolean =>
  outcome === "failed" && (statusCode === null || statusCode === 429 || statusCode >= 500);

/** The receiver's rate. An unproven receiver gets one delivery at a time. */
export const paceOf = ({ probeAt }: Circuit, isProven: boolean, { inFlight }: Capacity): Pace =>
  probeAt > 0 || !isProven
    ? { maxInFlight: 1, pausedUntil: probeAt }
    : { maxInFlight: inFlight, pausedUntil: 0 };

/** The object that makes each request: 0 for the webhook's own one, otherwise a sender's number. */
export class SenderSlots {
  readonly #used: number[] = [];

  take(): number {
    const isFree = (used: number, sender: number) => used < (sender === 0 ? OWN_CONNECTIONS : CONNECTIONS);
    const free = this.#used.findIndex(isFree);
    const sender = free === -1 ? this.#used.length : free;
    this.#used[sender] = (this.#used[sender] ?? 0) + 1;
    return sender;
  }

  giveBack(sender: number): void {
    this.#used[sender] = (this.#used[sender] ?? 1) - 1;
  }
}
