/** Watches a subscriber's backlog by bytes, age and quotas: warns early, suspends at the limit, and drops nothing. */

import { parseStored } from "@atrium/contract/stored.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type {
  Backlog,
  BacklogLimits,
  BacklogSize,
  DeliveryHandler,
  OrganizationBacklog,
  QuotaTotal,
  SubscriberPorts,
} from "./handler.ts";

/** The time for a subscriber that is enabled again to work off its backlog. */
const GRACE_MS = 24 * 60 * 60 * 1000;
/** Delay before a failed suspension or warning is repeated. */
const RETRY_MS = 5_000;
/** Shares of the limit: a backlog above the first is warned about, and one below the second has recovered. */
const WARNING_SHARE = 0.1;
const CALM_SHARE = 0.05;

type Level = "calm" | "high" | "full";

/** The share of the limit that is reached: 1 or more above it. */
function backlogShare({ bytes, oldestAt }: Backlog, limits: BacklogLimits, now: number): number {
  const ageMs = oldestAt === null ? 0 : now - oldestAt;
  return Math.max(bytes / limits.maxBytes, ageMs / limits.maxAgeMs);
}

export class BacklogGuard {
  readonly #store: DeliveryStore;
  readonly #limits: BacklogLimits;
  readonly #waiting: QuotaReporter;
  /** Time of the next retry, of running or failed work (epoch ms); null if there is none. */
  #retryAt: number | null = null;

  constructor(store: DeliveryStore, ports: Pick<SubscriberPorts, "limits" | "reportBacklogSize">) {
    this.#store = store;
    this.#limits = ports.limits;
    this.#waiting = new QuotaReporter(store, ports);
  }

  #backlog(): Backlog {
    return { ...this.#store.total("pending"), oldestAt: this.#store.oldestAt("pending") };
  }

  /**
   * Reports the backlog to the organization's quotas, and warns or suspends when it has grown. Rejects when that
   * fails: {@link dueAt} then says when to try again.
   */
  async check(handler: DeliveryHandler, now: number): Promise<void> {
    await this.#waiting.step(this.#backlog(), now);
    const backlog = this.#backlog();
    const level = this.#levelOf(backlog, now);
    if (level === this.#level || (this.#retryAt !== null && now < this.#retryAt)) return;
    this.#retryAt = now + RETRY_MS;
    if (level === "full") await handler.suspend();
    await handler.reportBacklog(
      level === "calm" ? null : { ...backlog, eventId: this.#eventIdFor(level), now },
    );
    this.#retryAt = null;
    if (level === "full") this.forgive(now);
    this.#store.writeFact("level", level);
    this.#store.writeFact("warning", null);
  }

  get #level(): Level {
    const level = this.#store.readFact("level");
    return level === "high" || level === "full" ? level : "calm";
  }

  #levelOf(backlog: Backlog, now: number): Level {
    const share = Math.max(backlogShare(backlog, this.#limits, now), this.#waiting.share);
    if (share >= 1 && now >= this.#graceUntil) return "full";
    if (share < CALM_SHARE) return "calm";
    return this.#level === "calm" && share >= WARNING_SHARE ? "high" : this.#level;
  }

  /** The ID of the event that reports the level; the same until it has arrived everywhere. */
  #eventIdFor(level: Level): string {
    const known = this.#store.readFact("warning");
    const [knownLevel, knownId] = known?.split(" ") ?? [];
    if (knownLevel === level && knownId !== undefined) return knownId;
    const eventId = crypto.randomUUID();
    this.#store.writeFact("warning", `${level} ${eventId}`);
    return eventId;
  }

  /** Gives the subscriber {@link GRACE_MS} from `now` (epoch ms) to work off its backlog. */
  forgive(now: number): void {
    this.#store.writeFact("grace", String(now + GRACE_MS));
    if (this.#level === "full") this.#store.writeFact("level", "high");
  }

  get #graceUntil(): number {
    return Number(this.#store.readFact("grace") ?? 0);
  }

  /** Times of the next checks, if nothing else happens (epoch ms); null for a check that cannot matter. */
  dueAt(now: number): (number | null)[] {
    const backlog = this.#backlog();
    return [this.#waiting.dueAt(backlog, now), this.#levelDueAt(backlog, now)];
  }

  #levelDueAt(backlog: Backlog, now: number): number | null {
    if (this.#levelOf(backlog, now) !== this.#level) return Math.max(now, this.#retryAt ?? 0);
    if (backlog.oldestAt === null) return null;
    const { maxAgeMs } = this.#limits;
    if (this.#level === "calm") return backlog.oldestAt + WARNING_SHARE * maxAgeMs;
    return this.#level === "full" ? null : Math.max(backlog.oldestAt + maxAgeMs, this.#graceUntil);
  }
}

/** A change of this size is reported soon. */
const STEP: BacklogSize = { events: 100, bytes: 1024 * 1024 };
const INTERVAL_MS = 5_000;
/** A smaller change is reported after this time, and a backlog below a step counts from this age on. */
const SETTLED_MS = 60_000;
/** A backlog is reported again after this time: the limits and the other backlogs decide which one gives way. */
const REFRESH_MS = 60 * 60_000;
const NOTHING: BacklogSize = { events: 0, bytes: 0 };
const FACT = "waiting";

/** The latest report; times in epoch milliseconds. */
interface Report {
  readonly at: number;
  readonly waiting: BacklogSize | null;
  /** The sums of all subscribers; null before the first report. */
  readonly altogether: OrganizationBacklog | null;
}

const NO_REPORT: Report = { at: 0, waiting: NOTHING, altogether: null };

const isLess = ({ events, bytes }: BacklogSize): boolean => events < STEP.events && bytes < STEP.bytes;

/** The backlog that counts for the quotas: deliveries that are only on their way do not. */
function countedOf({ deliveries: events, bytes, oldestAt }: Backlog, now: number): BacklogSize {
  const isYoung = oldestAt === null || now < oldestAt + SETTLED_MS;
  return isYoung && isLess({ events, bytes }) ? NOTHING : { events, bytes };
}

/** True for a difference to report soon; an empty backlog always is one. */
const isStep = (counted: BacklogSize, reported: BacklogSize): boolean =>
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

class QuotaReporter {
  readonly #store: DeliveryStore;
  readonly #ports: Pick<SubscriberPorts, "reportBacklogSize">;
  #known: Report | null = null;
  /** No report begins before: one is on its way, or has failed (epoch ms). */
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(store: DeliveryStore, ports: Pick<SubscriberPorts, "reportBacklogSize">) {
    this.#store = store;
    this.#ports = ports;
  }

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
    const altogether = await this.#ports.reportBacklogSize(key, waiting);
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
    this.#known ??= json === null ? NO_REPORT : parseStored<Report>(json, NO_REPORT);
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
export function quotaShare({ events, bytes }: BacklogSize, altogether: OrganizationBacklog): number {
  const share = (own: number, { used, limit }: QuotaTotal) =>
    Math.min(used, own * altogether.subscribers) / Math.max(1, limit);
  return Math.max(share(events, altogether.events), share(bytes, altogether.bytes));
}
