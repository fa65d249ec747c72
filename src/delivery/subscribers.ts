/** The objects of webhooks and workflows: opens them, announces changes of them, and removes all of an organization. */
import type { Env } from "../env.ts";
import type { Statement, Tenant } from "../platform/d1/d1.ts";
import type { WorkBudget } from "../platform/flow/work-budget.ts";
import { openStub, type Stub } from "../platform/objects/rpc.ts";
import { type EventLogs, invalidateSubscriptions, openEventLogs } from "./event-log/shards.ts";
import type { SubscriberKey } from "./outbox/subscription.ts";
import type { SubscriberObject } from "./subscriber/subscriber-object.ts";

/** Opens the object of a subscriber, or one of its senders, which are numbered from 1. */
export type Subscribers = (key: SubscriberKey, sender?: number) => Stub<SubscriberObject>;

const openSubscribers =
  (env: Pick<Env, "SUBSCRIBERS">): Subscribers =>
  ({ kind, id }, sender) =>
    openStub(env.SUBSCRIBERS, sender === undefined ? `${kind}:${id}` : `${kind}:${id}:sender:${sender}`);

/** The objects that events pass through. */
export interface DeliveryObjects {
  readonly subscribers: Subscribers;
  readonly eventLogs: EventLogs;
}

export const openDelivery = (env: Pick<Env, "SUBSCRIBERS" | "EVENT_LOGS">): DeliveryObjects => ({
  subscribers: openSubscribers(env),
  eventLogs: openEventLogs(env),
});

interface AnnouncePorts {
  readonly accountId: string;
  readonly eventLogs: EventLogs;
  log(message: string, error: unknown): void;
}

/**
 * Announces a committed change of a webhook or workflow: later events go to the listeners of that time. Never rejects:
 * a shard that is not reached reads the change within a minute.
 */
export async function announceChange({ accountId, eventLogs, log }: AnnouncePorts): Promise<void> {
  await invalidateSubscriptions(eventLogs, accountId).catch((error: unknown) => {
    log("A change of an organization's subscribers could not be announced everywhere", error);
  });
}

const PURGED_AT_ONCE = 50;

/** The removal of subscribers of one kind. */
interface Purge {
  /** So that no event reaches an object whose records are gone. */
  disableAll(): Statement;
  /** At most `limit` subscribers. */
  selectSome(limit: number): Statement<{ readonly id: string }>;
  keyOf(id: string): SubscriberKey;
  /** Deletes the row of one whose object is empty. */
  remove(id: string): readonly [Statement, ...Statement[]];
}

/** Removes subscribers until none is left (true) or the budget is spent. */
export async function purgeSubscribers(
  { db, accountId }: Tenant,
  { subscribers, eventLogs }: DeliveryObjects,
  budget: WorkBudget,
  purge: Purge,
): Promise<boolean> {
  return budget.run(async () => {
    const [, found] = await db.run([purge.disableAll(), purge.selectSome(PURGED_AT_ONCE)]);
    await invalidateSubscriptions(eventLogs, accountId);
    await Promise.all(found.map(({ id }) => subscribers(purge.keyOf(id)).remove()));
    const [first, ...others] = found.flatMap(({ id }) => purge.remove(id));
    if (first !== undefined) await db.run([first, ...others]);
    return found.length === PURGED_AT_ONCE;
  });
}
