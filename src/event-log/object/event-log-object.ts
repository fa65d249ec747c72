/** The Durable Object of one shard of an organization's event log: appends, reads, and deletes what is too old. */
import { DurableObject } from "cloudflare:workers";
import { type Env, eventLogLimits } from "../../config.ts";
import { type OrganizationSubscription, selectAllSubscriptions } from "../../delivery/outbox/outbox-store.ts";
import type { OutgoingEvent, RoomSubscription } from "../../delivery/port/subscriber-port.ts";
import { incrementHourlyCounts } from "../../metrics/counters/hourly-count-store.ts";
import { CachedRow } from "../../platform/cached-row.ts";
import { openTenant } from "../../platform/d1.ts";
import { DurableAlarm } from "../../platform/durable-alarm.ts";
import { logError } from "../../platform/log.ts";
import type { LogQuery, LogSlice } from "../port/event-log-port.ts";
import type { EventLogRpc } from "../port/event-log-rpc.ts";
import { EventCounter } from "./event-counter.ts";
import { EventLogStore } from "./event-log-store.ts";

/** What has expired is deleted at most this much later, so that an alarm finds more than one event. */
const PRUNE_EVERY_MS = 60 * 60 * 1000;

/** A change of a subscriber whose announcement was lost is known after this time at the latest. */
export const SUBSCRIPTIONS_KEPT_MS = 60_000;

/** What a shard does for its organization beside keeping events. */
interface Organization {
  /** All of the organization's. */
  readonly subscriptions: CachedRow<readonly OrganizationSubscription[]>;
  readonly counter: EventCounter;
}

export class EventLogObject extends DurableObject<Env> implements EventLogRpc {
  /** Epoch milliseconds; tests replace it by their own clock. */
  clock: () => number = () => Date.now();
  /** What is kept; tests replace it by less. */
  limits: ReturnType<typeof eventLogLimits>;

  #store: EventLogStore;
  readonly #alarm: DurableAlarm;
  #known: Organization | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.limits = eventLogLimits(env);
    this.#store = new EventLogStore(ctx.storage);
    this.#alarm = new DurableAlarm(ctx, (error) =>
      logError("The alarm of an event log could not be set", { object: String(ctx.id) }, error),
    );
  }

  append(events: readonly OutgoingEvent[]): void {
    this.#append(events);
  }

  /** Returns how many of the events are new. */
  #append(events: readonly OutgoingEvent[]): number {
    const added = this.#store.append(events, this.clock());
    this.#scheduleAlarm();
    return added;
  }

  /** Events that no other object has counted. They are in the log whatever becomes of the question who subscribes. */
  publish(accountId: string, roomId: string, events: readonly OutgoingEvent[]): Promise<RoomSubscription[]> {
    const { counter } = this.#organization(accountId);
    const added = this.#append(events);
    const [first] = events;
    if (first !== undefined && added > 0) counter.count(first.occurredAt, added);
    return this.subscriptions(accountId, roomId);
  }

  async subscriptions(accountId: string, roomId: string): Promise<RoomSubscription[]> {
    const all = (await this.#organization(accountId).subscriptions.get()) ?? [];
    return all
      .filter((each) => each.roomId === null || each.roomId === roomId)
      .map(({ roomId: _, ...subscription }) => subscription);
  }

  subscriptionsChanged(): void {
    this.#known?.subscriptions.invalidate();
  }

  /** What the shard knows of its organization: its own key does not say which that is. */
  #organization(accountId: string): Organization {
    if (this.#known !== null) return this.#known;
    const tenant = openTenant(this.env.DB, accountId);
    const subscriptions = new CachedRow(
      async () => (await tenant.db.run([selectAllSubscriptions(tenant)]))[0],
      () => this.clock(),
      SUBSCRIPTIONS_KEPT_MS,
    );
    const counter = new EventCounter({
      write: (at, events) => tenant.db.run([incrementHourlyCounts(tenant, at, { events })]),
      keepAlive: (work) => this.ctx.waitUntil(work),
      failed: (error) =>
        logError("The events of an organization could not be counted", { account: accountId }, error),
    });
    this.#known = { subscriptions, counter };
    return this.#known;
  }

  /** Deletes everything, the alarm included. */
  async remove(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.#alarm.markFired();
    this.#store = new EventLogStore(this.ctx.storage);
  }

  read(query: LogQuery): LogSlice {
    return this.#store.read(query);
  }

  /** Deletes a slice of what is no longer kept, and plans the next one. */
  override alarm(): void {
    this.#alarm.markFired();
    const { keptMs, maxBytes } = this.limits;
    this.#store.prune(this.clock() - keptMs, maxBytes);
    this.#scheduleAlarm();
  }

  #scheduleAlarm(): void {
    const { keptMs, maxBytes } = this.limits;
    const [now, { oldestAt, bytes }] = [this.clock(), this.#store];
    if (oldestAt === null) return;
    const expiresAt = oldestAt + keptMs;
    const isDue = bytes > maxBytes || expiresAt < now;
    this.#alarm.scheduleBy([isDue ? now : expiresAt + PRUNE_EVERY_MS]);
  }
}
