/** How many attempts a webhook's receiver may have in flight, and which object makes each of them. Pure. */
import type { Pace } from "../../delivery/port/handler.ts";
import type { AttemptResult } from "../../delivery/port/webhook-request.ts";
import type { Circuit } from "./receiver-health.ts";

/** Cloudflare lets so many requests of one object wait for the headers of their responses; others queue. */
const CONNECTIONS = 6;
/** The webhook's own object keeps one of them for the database. */
const OWN_CONNECTIONS = CONNECTIONS - 1;
/** A receiver gets so many at first, and after failures: they need no other object. */
export const MIN_IN_FLIGHT = OWN_CONNECTIONS;
/** At most: from the webhook's own object and 15 senders. */
export const MAX_IN_FLIGHT = OWN_CONNECTIONS + 15 * CONNECTIONS;
/** A receiver that needs longer has enough to do. */
const QUICK_MS = 1_000;
/** The weight of the latest attempt in the average. */
const LATEST_SHARE = 0.2;

/** What the latest attempts say of a receiver's capacity; it is in memory only. */
export interface Capacity {
  /** How many attempts may be in flight. */
  readonly inFlight: number;
  /** The average duration; null before the first attempt. */
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

/** How fast the receiver takes deliveries. One that has not proven that it wants them gets them one at a time. */
export const paceOf = ({ probeAt }: Circuit, isProven: boolean, { inFlight }: Capacity): Pace =>
  probeAt > 0 || !isProven
    ? { maxInFlight: 1, pausedUntil: probeAt }
    : { maxInFlight: inFlight, pausedUntil: 0 };

/** Which object makes each request: 0 for the webhook's own one, otherwise the number of a sender. */
export class Connections {
  /** How many requests each has in flight. */
  readonly #used: number[] = [];

  /** Takes a connection of the first object that has one left. */
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
