/** Watches a subscriber's backlog by bytes, age and quotas: warns early, suspends at the limit, and drops nothing. */
import type { Backlog, DeliveryHandler } from "../port/handler.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { BacklogLimits, SubscriberPorts } from "./subscriber-ports.ts";
import { WaitingReport } from "./waiting-report.ts";

/** The time for a subscriber that is enabled again to work off its backlog. */
const GRACE_MS = 24 * 60 * 60 * 1000;
/** After a failure, the subscriber is suspended or the organization warned again. */
const RETRY_MS = 5_000;
/** The shares of the limit from which on it is warned, and below which all is well again. */
const WARNING_SHARE = 0.1;
const CALM_SHARE = 0.05;

/** The level of the backlog that the organization knows. */
type Level = "calm" | "high" | "full";

/** The share of the limit that is reached: 1 or more above it. */
function backlogShare({ bytes, oldestAt }: Backlog, limits: BacklogLimits, now: number): number {
  const ageMs = oldestAt === null ? 0 : now - oldestAt;
  return Math.max(bytes / limits.maxBytes, ageMs / limits.maxAgeMs);
}

export class BacklogGuard {
  readonly #store: DeliveryStore;
  readonly #limits: BacklogLimits;
  readonly #waiting: WaitingReport;
  /** When to try again what runs or has failed (epoch ms); null when there is nothing of that kind. */
  #retryAt: number | null = null;

  constructor(store: DeliveryStore, limits: BacklogLimits, ports: Pick<SubscriberPorts, "reportWaiting">) {
    this.#store = store;
    this.#limits = limits;
    this.#waiting = new WaitingReport(store, ports);
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

  /** The id of the event that reports the level: it stays the same until it has arrived everywhere. */
  #eventIdFor(level: Level): string {
    const known = this.#store.readFact("warning");
    const [knownLevel, knownId] = known?.split(" ") ?? [];
    if (knownLevel === level && knownId !== undefined) return knownId;
    const eventId = crypto.randomUUID();
    this.#store.writeFact("warning", `${level} ${eventId}`);
    return eventId;
  }

  /** From `now` (epoch ms), the subscriber has {@link GRACE_MS} to work off what waits. */
  forgive(now: number): void {
    this.#store.writeFact("grace", String(now + GRACE_MS));
    if (this.#level === "full") this.#store.writeFact("level", "high");
  }

  get #graceUntil(): number {
    return Number(this.#store.readFact("grace") ?? 0);
  }

  /** When to check again, if nothing else happens (epoch ms); null for what cannot matter. */
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
