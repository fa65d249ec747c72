/** The objects of webhooks and workflows: opens them, announces changes of them, and removes all of an organization. */
import type { Env } from "../env.ts";
import type { Statement, Tenant } from "../platform/d1/d1.ts";
import type { WorkBudget } from "../platform/flow/work-budget.ts";
import { openStub, type Stub } from "../platform/objects/rpc.ts";
import { type EventLogs, invalidateSubscriptions, openEventLogs } from "./event-log/shards.ts";
import { disableAll, selectSomeSubscribers } from "./outbox/subscriber-store.ts";
import type { SubscriberKey } from "./outbox/subscription.ts";
import type { SubscriberObject } from "./subscriber/subscriber-object.ts";

/** Opens the object of a subscriber, or one of its senders, which are numbered from 1. */
export type Subscribers = (key: SubscriberKey, sender?: number) => Stub<SubscriberObject>;

export interface DeliveryObjects {
  readonly subscribers: Subscribers;
  readonly eventLogs: EventLogs;
}

export const openDelivery = (env: Pick<Env, "SUBSCRIBERS" | "EVENT_LOGS">): DeliveryObjects => ({
  subscribers: ({ kind, id }, sender) =>
    openStub(env.SUBSCRIBERS, sender === undefined ? `${kind}:${id}` : `${kind}:${id}:sender:${sender}`),
  eventLogs: openEventLogs(env),
});

interface AnnouncePorts extends Pick<DeliveryObjects, "eventLogs"> {
  readonly accountId: string;
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

type ObjectPorts = Pick<DeliveryObjects, "subscribers"> & Pick<AnnouncePorts, "log">;

/**
 * Has the object read its row again. Never rejects: an object that is not reached does so within a second of its next
 * delivery, and reads a schedule within half a minute.
 */
export const notifyOfChange = ({ subscribers, log }: ObjectPorts, key: SubscriberKey, version: number) =>
  subscribers(key)
    .notifyOfChange(version)
    .catch((error: unknown) => log(`The object of a changed ${key.kind} could not be notified`, error));

/** Removes a deleted subscriber's object. Never rejects: the object removes itself when it next delivers. */
export const removeSubscriber = ({ subscribers, log }: ObjectPorts, key: SubscriberKey) =>
  subscribers(key)
    .remove()
    .catch((error: unknown) =>
      log(`The deliveries of a deleted ${key.kind} could not be removed yet`, error),
    );

const PURGED_AT_ONCE = 50;

/**
 * Removes the webhooks or workflows of a deleted organization until none is left (true) or the budget is spent.
 * `remove` deletes the row of one whose object is empty.
 */
export async function purgeSubscribers(
  kind: SubscriberKey["kind"],
  tenant: Tenant,
  { subscribers, eventLogs }: DeliveryObjects,
  budget: WorkBudget,
  now: number,
  remove: (id: string) => readonly Statement[],
): Promise<boolean> {
  const { db, accountId } = tenant;
  return budget.run(async () => {
    // Disabled first, so that no event reaches an object whose records are gone.
    const [, found] = await db.run([
      disableAll(kind, tenant, now),
      selectSomeSubscribers(kind, tenant, PURGED_AT_ONCE),
    ]);
    await invalidateSubscriptions(eventLogs, accountId);
    await Promise.all(found.map(({ id }) => subscribers({ kind, accountId, id }).remove()));
    const [first, ...others] = found.flatMap(({ id }) => remove(id));
    if (first !== undefined) await db.run([first, ...others]);
    return found.length === PURGED_AT_ONCE;
  });
}
