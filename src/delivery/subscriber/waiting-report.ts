/** Reports what waits for a subscriber to the quotas of its organization, in steps, and keeps what waits there altogether. */
import type { Backlog } from "../port/handler.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { QuotaTotal, SubscriberPorts, Waiting, WaitingAltogether } from "./subscriber-ports.ts";

/** A change by so much is reported soon. */
const STEP: Waiting = { events: 100, bytes: 1024 * 1024 };
/** The shortest time between two reports, also after a failure. */
const INTERVAL_MS = 5_000;
/** A smaller change is reported after this time; and less than a step counts only once it has waited for so long. */
const SETTLED_MS = 60_000;
/** While something waits, it is reported again after this time: what others have, and the limits, decide who gives way. */
const REFRESH_MS = 60 * 60_000;
const NOTHING: Waiting = { events: 0, bytes: 0 };
const FACT = "waiting";

/** The latest report; times in epoch milliseconds. */
interface Report {
  readonly at: number;
  /** Null when it is not known what the organization's quotas have of this subscriber. */
  readonly waiting: Waiting | null;
  /** What waited altogether; null before the first report. */
  readonly altogether: WaitingAltogether | null;
}

const NO_REPORT: Report = { at: 0, waiting: NOTHING, altogether: null };

const isLess = ({ events, bytes }: Waiting): boolean => events < STEP.events && bytes < STEP.bytes;

/** What counts for the quotas: what is only on its way does not. */
function countedOf({ deliveries: events, bytes, oldestAt }: Backlog, now: number): Waiting {
  const isYoung = oldestAt === null || now < oldestAt + SETTLED_MS;
  return isYoung && isLess({ events, bytes }) ? NOTHING : { events, bytes };
}

/** Whether the difference is one to report soon: that nothing waits any more always is. */
const isStep = (counted: Waiting, reported: Waiting): boolean =>
  counted.events === 0 ||
  !isLess({
    events: Math.abs(counted.events - reported.events),
    bytes: Math.abs(counted.bytes - reported.bytes),
  });

const shareOf = ({ waiting, altogether }: Report): number =>
  waiting === null || altogether === null ? 0 : quotaShare(waiting, altogether);

/** When to report what waits, if nothing else happens (epoch ms); null for never. Pure. */
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

  /** When to report, if nothing else happens (epoch ms); null for never. */
  dueAt(backlog: Backlog, now: number): number | null {
    const dueAt = reportDueAt(this.#report, backlog, now);
    return dueAt === null ? null : Math.max(now, dueAt, this.#notBefore);
  }

  /** Reports what waits if that is due. Rejects when the database fails: {@link dueAt} then says when to try again. */
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

/** The storage comes from an archive: what the quotas have of this subscriber may be anything. */
export const forgetReport = (store: DeliveryStore): void =>
  store.writeFact(FACT, JSON.stringify({ ...NO_REPORT, waiting: null }));

/**
 * How much of the quotas is used, as far as a subscriber has its part in that: 1 or more when the organization is at a
 * limit, and at least an equal part of the limit waits for this subscriber. At a limit there is always such a one, and
 * one that lags less than others is none. Pure.
 */
export function quotaShare({ events, bytes }: Waiting, altogether: WaitingAltogether): number {
  const share = (own: number, { used, limit }: QuotaTotal) =>
    Math.min(used, own * altogether.subscribers) / Math.max(1, limit);
  return Math.max(share(events, altogether.events), share(bytes, altogether.bytes));
}
