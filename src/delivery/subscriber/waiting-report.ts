/** Reports a subscriber's backlog to the quotas of its organization, in steps, and keeps the sums of all subscribers. */
import type { Backlog } from "../port/handler.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { QuotaTotal, SubscriberPorts, Waiting, WaitingAltogether } from "./subscriber-ports.ts";

/** A change by so much is reported soon. */
const STEP: Waiting = { events: 100, bytes: 1024 * 1024 };
/** The shortest time between two reports, also after a failure. */
const INTERVAL_MS = 5_000;
/** A smaller change is reported after this time, and a backlog below a step counts from this age on. */
const SETTLED_MS = 60_000;
/** A backlog is reported again after this time: the limits and the other backlogs decide which one gives way. */
const REFRESH_MS = 60 * 60_000;
const NOTHING: Waiting = { events: 0, bytes: 0 };
const FACT = "waiting";

/** The latest report; times in epoch milliseconds. */
interface Report {
  readonly at: number;
  /** Null when the part of this subscriber in the quotas is not known. */
  readonly waiting: Waiting | null;
  /** The sums of all subscribers; null before the first report. */
  readonly altogether: WaitingAltogether | null;
}

const NO_REPORT: Report = { at: 0, waiting: NOTHING, altogether: null };

const isLess = ({ events, bytes }: Waiting): boolean => events < STEP.events && bytes < STEP.bytes;

/** The backlog that counts for the quotas: deliveries that are only on their way do not. */
function countedOf({ deliveries: events, bytes, oldestAt }: Backlog, now: number): Waiting {
  const isYoung = oldestAt === null || now < oldestAt + SETTLED_MS;
  return isYoung && isLess({ events, bytes }) ? NOTHING : { events, bytes };
}

/** True for a difference to report soon; an empty backlog always is one. */
const isStep = (counted: Waiting, reported: Waiting): boolean =>
  counted.events === 0 ||
  !isLess({
    events: Math.abs(counted.events - reported.events),
    bytes: Math.abs(counted.bytes - reported.bytes),
  });

const shareOf = ({ waiting, altogether }: Report): number =>
  waiting === null || altogether === null ? 0 : quotaShare(waiting, altogether);

/** The time of the next report, if nothing else happens (epoch ms); null for never. Pure. */
export function reportDueAt(report: Report, backlog: Backlog, now: number): number | null {
  const counted = countedOf(backlog, now);
  const { at, waiting } = report;
  if (waiting === null) return at + INTERVAL_MS;
  if (counted.events !== waiting.events || counted.bytes !== waiting.bytes)
    return at + (isStep(counted, waiting) ? INTERVAL_MS : SETTLED_MS);
  if (counted.events > 0) return at + REFRESH_MS;
  return backlog.oldestAt === null ? null : backlog.oldestAt + SETTLED_MS;
}

export class WaitingReport {
  readonly #store: DeliveryStore;
  readonly #ports: Pick<SubscriberPorts, "reportWaiting">;
  #known: Report | null = null;
  /** No report begins before: one is on its way, or has failed (epoch ms). */
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(store: DeliveryStore, ports: Pick<SubscriberPorts, "reportWaiting">) {
    this.#store = store;
    this.#ports = ports;
  }

  /** The time of the next report, if nothing else happens (epoch ms); null for never. */
  dueAt(backlog: Backlog, now: number): number | null {
    const dueAt = reportDueAt(this.#report, backlog, now);
    return dueAt === null ? null : Math.max(now, dueAt, this.#notBefore);
  }

  /** Reports the backlog if that is due. Rejects when the database fails: {@link dueAt} then says when to try again. */
  async step(backlog: Backlog, now: number): Promise<void> {
    const key = this.#store.readKey();
    const dueAt = this.dueAt(backlog, now);
    if (key === null || dueAt === null || now < dueAt) return;
    this.#notBefore = now + INTERVAL_MS;
    const waiting = countedOf(backlog, now);
    const altogether = await this.#ports.reportWaiting(key, waiting);
    if (this.#store.readKey() === null) return; // the subscriber was deleted meanwhile
    this.#known = { at: now, waiting, altogether };
    this.#store.writeFact(FACT, JSON.stringify(this.#known));
  }

  /** The share of the organization's quotas that was reached by the latest report, 1 or more when this subscriber is to give way. */
  get share(): number {
    return shareOf(this.#report);
  }

  get #report(): Report {
    const json = this.#known === null ? this.#store.readFact(FACT) : null;
    this.#known ??= json === null ? NO_REPORT : (JSON.parse(json) as Report);
    return this.#known;
  }
}

/** The storage comes from an archive: the part of this subscriber in the quotas is not known. */
export const forgetReport = (store: DeliveryStore): void =>
  store.writeFact(FACT, JSON.stringify({ ...NO_REPORT, waiting: null }));

/**
 * The used share of the quotas, as far as a subscriber has its part in that. It is 1 or more when the organization is at
 * a limit, and this subscriber has at least an equal part of it. At a limit there is always such a subscriber. Pure.
 */
export function quotaShare({ events, bytes }: Waiting, altogether: WaitingAltogether): number {
  const share = (own: number, { used, limit }: QuotaTotal) =>
    Math.min(used, own * altogether.subscribers) / Math.max(1, limit);
  return Math.max(share(events, altogether.events), share(bytes, altogether.bytes));
}
