/** The objects of webhooks and workflows: opens them, gives them events, announces changes of them, and removes all of an organization. */

import { exports } from "cloudflare:workers";
import { combined } from "@atrium/contract/errors.ts";
import type { WebhookEventName } from "@atrium/contract/resources/events.ts";
import type { Env } from "../env.ts";
import type { Statement, Tenant } from "../platform/d1/d1.ts";
import { forEachConcurrently } from "../platform/flow/concurrency.ts";
import { newCallBudget, type Plan, type WorkBudget } from "../platform/flow/work-budget.ts";
import { openStub, type Stub } from "../platform/objects/rpc.ts";
import { readSetting, type Settings } from "../platform/settings.ts";
import type { Unreached } from "../room/engine/outbox/outbox-drain.ts";
import { type EventLogs, invalidateSubscriptions, openEventLogs, shardOf } from "./event-log/shards.ts";
import { type Inboxes, openInbox } from "./inboxes.ts";
import { disableAll, selectSomeSubscribers } from "./outbox/subscriber-store.ts";
import {
  mentionedIn,
  type OutgoingEvent,
  type RoomSubscription,
  type SubscriberKey,
  type Subscription,
} from "./outbox/subscription.ts";
import type { SubscriberObjectBase } from "./subscriber/subscriber-object.ts";

/** Opens the object of a subscriber, or one of its senders, which are numbered from 1. */
export type Subscribers = (key: SubscriberKey, sender?: number) => Stub<SubscriberObjectBase>;

export interface DeliveryObjects {
  readonly subscribers: Subscribers;
  readonly eventLogs: EventLogs;
  readonly inboxes: Inboxes;
  /** Tells agents that they are mentioned, in an invocation of its own. Rejects when a shard of inboxes could not be reached. */
  mention(accountId: string, identityIds: readonly string[]): Promise<void>;
  /** Bounds the calls of an invocation that delivers. */
  readonly plan: Plan;
}

export const openDelivery = (
  env: Pick<Env, "SUBSCRIBERS" | "EVENT_LOGS" | "INBOXES"> & Settings,
): DeliveryObjects => ({
  plan: readSetting(env, "PLAN"),
  subscribers: ({ kind, id }, sender) =>
    openStub(env, env.SUBSCRIBERS, sender === undefined ? `${kind}:${id}` : `${kind}:${id}:sender:${sender}`),
  eventLogs: openEventLogs(env),
  inboxes: openInbox(env),
  mention: (...mentions) => exports.InboxFanOut.mention(...mentions),
});

/** True if a JSON array of event names has this one: no quoted name is part of another one. */
const namesEvent = (events: string, event: WebhookEventName): boolean =>
  events.includes(JSON.stringify(event));

/** True if an enabled webhook or workflow listens to this event of the room. */
export async function hasListener(
  logs: EventLogs,
  accountId: string,
  roomId: string,
  event: WebhookEventName,
): Promise<boolean> {
  const subscriptions = await logs(accountId, shardOf(roomId)).subscriptions(accountId, roomId);
  return subscriptions.some(({ events }) => namesEvent(events, event));
}

/** Limits of concurrent calls: each call has the events in memory once more. */
const MAX_AT_ONCE = 20;
const MAX_CHARS_AT_ONCE = 32 * 1024 * 1024;

interface PendingEvent {
  readonly id: string;
  readonly event: WebhookEventName;
  readonly occurredAt: number;
  readonly body: string;
  /** The subscriptions that it has yet to reach, as JSON (`Subscription[]`); null until they are looked up. */
  readonly pendingSubscriptions: string | null;
  readonly trace?: string | null;
}

interface FanOutOptions {
  /** A subscriber that receives nothing. */
  readonly exceptId?: string;
  /** True if no response waits for this: subscribers may make quick attempts before they write. */
  readonly canWait?: boolean;
}

/**
 * Enqueues a room's events with their subscribers and appends them to the log. The log names the subscribers of
 * new events; those of an earlier call have theirs in `pendingSubscriptions`. Returns the subscriptions that
 * were not reached, for the next call. Each subscriber takes one of the `calls`, and none is reached beyond
 * them. Rejects when the log cannot be reached.
 */
export async function fanOut(
  accountId: string,
  to: DeliveryObjects,
  roomId: string,
  events: readonly PendingEvent[],
  calls: WorkBudget = newCallBudget(to.plan).calls,
  { exceptId, canWait = false }: FanOutOptions = {},
): Promise<Unreached> {
  calls.spend(); // the log's
  const found = await publish(accountId, to, roomId, events);
  const current = found.filter(({ id }) => id !== exceptId);
  const unreached = new Map<string, Subscription[]>();
  const failures: unknown[] = [];
  const enqueue = async ({ subscription, events }: Batch): Promise<void> => {
    const { kind, id, version } = subscription;
    const keep = () => {
      for (const { eventId } of events)
        unreached.set(eventId, [...(unreached.get(eventId) ?? []), subscription]);
    };
    if (!calls.hasLeft) return keep();
    calls.spend();
    try {
      if (kind === "log") await to.eventLogs(accountId, shardOf(roomId)).append(events);
      else if (kind === "inboxes")
        await to.mention(accountId, [...new Set(events.flatMap((event) => mentionedIn(event) ?? []))]);
      else {
        const key = { kind, accountId, id };
        await to.subscribers(key).enqueue(key, events, version, canWait);
      }
    } catch (error) {
      failures.push(error);
      keep();
    }
  };
  const batches = batchBySubscriber(roomId, events, current);
  const chars = events.reduce((sum, { body }) => sum + body.length, 1);
  const atOnce = Math.min(MAX_AT_ONCE, Math.ceil(MAX_CHARS_AT_ONCE / chars));
  await forEachConcurrently(atOnce, batches, enqueue);
  const left = new Map([...unreached].map(([eventId, each]) => [eventId, JSON.stringify(each)]));
  return { left, failures };
}

/**
 * Fans out an event about a subscriber to all others that listen to it. The subscriber's ID takes the place of
 * the room's, so webhooks of one room do not receive it. Rejects when some were not reached.
 */
export async function fanOutAbout(
  subscriberId: string,
  accountId: string,
  to: DeliveryObjects,
  event: Omit<PendingEvent, "pendingSubscriptions">,
): Promise<void> {
  const pending = [{ ...event, pendingSubscriptions: null }];
  const { calls } = newCallBudget(to.plan);
  const { left, failures } = await fanOut(accountId, to, subscriberId, pending, calls, {
    exceptId: subscriberId,
  });
  if (failures.length > 0) throw combined(failures);
  if (left.size > 0) throw new Error(`Some webhooks could not be notified: ${event.event}`);
}

/** Appends the events that have not been fanned out before to the log, and returns who subscribes to the room. */
async function publish(
  accountId: string,
  { eventLogs }: DeliveryObjects,
  roomId: string,
  events: readonly PendingEvent[],
): Promise<readonly RoomSubscription[]> {
  const fresh = events.filter(({ pendingSubscriptions }) => pendingSubscriptions === null);
  if (fresh.length === 0) return [];
  const outgoing = fresh.map((event) => outgoingOf(event, roomId));
  return await eventLogs(accountId, shardOf(roomId)).publish(accountId, roomId, outgoing);
}

const outgoingOf = (
  { id, event, occurredAt, body, trace = null }: PendingEvent,
  roomId: string,
): OutgoingEvent => ({
  eventId: id,
  event,
  roomId,
  body,
  occurredAt,
  ...(trace === null ? {} : { trace }),
});

interface Batch {
  readonly subscription: Subscription;
  readonly events: OutgoingEvent[];
}

function batchBySubscriber(
  roomId: string,
  pending: readonly PendingEvent[],
  current: readonly RoomSubscription[],
): Batch[] {
  const batches = new Map<string, Batch>();
  for (const waiting of pending) {
    const { pendingSubscriptions } = waiting;
    const subscriptions =
      pendingSubscriptions === null ? matching(current, waiting) : parseSubscriptions(pendingSubscriptions);
    for (const subscription of subscriptions) {
      const key = `${subscription.kind} ${subscription.id}`;
      const known = batches.get(key) ?? { subscription, events: [] };
      known.events.push(outgoingOf(waiting, roomId));
      const isNewer = subscription.version > known.subscription.version;
      batches.set(key, isNewer ? { ...known, subscription } : known);
    }
  }
  return [...batches.values()];
}

const INBOXES: Subscription = { kind: "inboxes", id: "", version: 0 };

function matching(subscriptions: readonly RoomSubscription[], event: PendingEvent): Subscription[] {
  const mentioned = mentionedIn(event);
  const found = subscriptions
    .filter(({ events }) => namesEvent(events, event.event))
    .filter(({ identityId = null }) => identityId === null || identityId === mentioned)
    .map(({ kind, id, version }) => ({ kind, id, version }));
  return mentioned === null ? found : [...found, INBOXES];
}

const parseSubscriptions = (json: string): Subscription[] => JSON.parse(json) as Subscription[];

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

/** Announces that webhooks were deleted, and removes their objects. Never rejects, as the two. */
export async function removeWebhooks(
  ports: AnnouncePorts & ObjectPorts,
  webhooks: readonly { readonly id: string }[],
): Promise<void> {
  if (webhooks.length === 0) return;
  await announceChange(ports);
  const { accountId } = ports;
  await Promise.all(webhooks.map(({ id }) => removeSubscriber(ports, { kind: "webhook", accountId, id })));
}

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
