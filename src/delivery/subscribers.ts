/** The way to subscribers: one by its key, or, with the events that it wants, each that listens to a room; and to the log. */
import type { Env } from "../env.ts";
import { archivedObject } from "../platform/archive/archived-object.ts";
import type { Tenant } from "../platform/d1/d1.ts";
import { forEachConcurrently } from "../platform/flow/concurrency-limit.ts";
import { newCallBudget, type WorkBudget } from "../platform/flow/work-budget.ts";
import type { WebhookEventName } from "../wire/event-name.ts";
import { eventLogGateway } from "./event-log/shards/event-log-gateway.ts";
import { selectSubscriptions } from "./outbox/subscription-store.ts";
import type { OutgoingEvent } from "./port/delivery-record.ts";
import type { PendingEvent } from "./port/pending-event.ts";
import type { SubscriberGateway, SubscriberKey } from "./port/subscriber-port.ts";
import { namesEvent, type Subscription } from "./port/subscription.ts";

/** The only way to a subscriber's object: turns its key into its stub. */
export function subscriberGateway(env: Pick<Env, "SUBSCRIBERS" | "EVENT_LOGS">): SubscriberGateway {
  const stub = ({ kind, id }: SubscriberKey) => env.SUBSCRIBERS.getByName(`${kind}:${id}`);
  const senderOf = ({ kind, id }: SubscriberKey, sender: number) =>
    env.SUBSCRIBERS.getByName(`${kind}:${id}:sender:${sender}`);
  const log = eventLogGateway(env);
  return {
    appendToLog: (accountId, roomId, events) => log.append(accountId, roomId, events),
    publishToLog: (accountId, roomId, events) => log.publish(accountId, roomId, events),
    hasListener: async (accountId, roomId, event) =>
      (await log.subscriptions(accountId, roomId)).some(({ events }) => namesEvent(events, event)),
    subscriptionsChanged: (accountId) => log.subscriptionsChanged(accountId),
    eraseFromLog: (accountId, roomId, userId) => log.eraseUser(accountId, roomId, userId),
    removeLog: (accountId) => log.remove(accountId),
    enqueue: async (key, events, version) => stub(key).enqueue(key, events, version),
    enqueueApart: async (key, event, version) => stub(key).enqueueApart(key, event, version),
    expectChange: async (key) => stub(key).expectChange(key),
    notifyOfChange: async (key, version) => stub(key).notifyOfChange(version),
    remove: async (key) => stub(key).remove(),
    send: async (key, sender, destination, message) => senderOf(key, sender).send(destination, message),
    archived: (key) => archivedObject(key.kind === "webhook" ? "Webhooks" : "Workflows", () => stub(key)),
    list: async (key, filter, query) => stub(key).list(filter, { ...query }),
    find: async (key, deliveryId) => stub(key).find(deliveryId),
    startReplay: async (key, request) => stub(key).startReplay(key, request),
    stats: async (key, range) => stub(key).stats(range),
    findReplay: async (key) => stub(key).findReplay(),
    redeliverSome: async (key, deliveryIds) => stub(key).redeliverSome(key, deliveryIds),
    redeliver: async (key, deliveryId) => stub(key).redeliver(key, deliveryId),
    deliverNow: async (key, event) => stub(key).deliverNow(key, event),
    deliverNowOnce: async (key, event) => stub(key).deliverNowOnce(key, event),
  };
}

/** Subscribers that are called at the same time, and the bodies in these calls: each has the events in memory once more. */
const MAX_AT_ONCE = 20;
const MAX_CHARS_AT_ONCE = 32 * 1024 * 1024;

/** The log takes every event, whether a subscriber wants it or not. */
const LOG: Listening = { kind: "log", id: "", version: 0, events: null };

/** A subscription to the events of a room. */
interface Listening extends Subscription {
  /** A JSON array of names; null for all events. */
  readonly events: string | null;
}

/**
 * Enqueues a room's events with their subscribers and appends them to the log. The log says who subscribes to new
 * ones, so that these need no database, and those of an earlier call need neither. Returns, by event id, the
 * subscriptions that could not be reached, as JSON: the next call takes them as `pendingSubscriptions`. Rejects only
 * when neither the log nor the database can say who subscribes. Each subscriber takes one of the `calls`: those for
 * which none is left count as not reached. The subscriber with the id `exceptId` receives none.
 */
export async function fanOut(
  tenant: Tenant,
  subscribers: SubscriberGateway,
  roomId: string,
  events: readonly PendingEvent[],
  calls: WorkBudget = newCallBudget().calls,
  exceptId?: string,
): Promise<ReadonlyMap<string, string>> {
  calls.spend(); // the log's
  const found = await publish(tenant, subscribers, roomId, events);
  const current = found.filter(({ id }) => id !== exceptId);
  const unreached = new Map<string, Subscription[]>();
  const enqueue = async ({ subscription, events }: Batch): Promise<void> => {
    const { kind, id, version } = subscription;
    try {
      if (!calls.hasLeft) throw new Error("The invocation may make no further call");
      calls.spend();
      const { accountId } = tenant;
      if (kind === "log") await subscribers.appendToLog(accountId, roomId, events);
      else await subscribers.enqueue({ kind, accountId, id }, events, version);
    } catch {
      for (const { eventId } of events) {
        unreached.set(eventId, [...(unreached.get(eventId) ?? []), subscription]);
      }
    }
  };
  const batches = batchBySubscriber(roomId, events, current);
  const chars = events.reduce((sum, { body }) => sum + body.length, 1);
  const atOnce = Math.min(MAX_AT_ONCE, Math.ceil(MAX_CHARS_AT_ONCE / chars));
  await forEachConcurrently(atOnce, batches, enqueue);
  return new Map([...unreached].map(([eventId, subscriptions]) => [eventId, JSON.stringify(subscriptions)]));
}

/** Appends the events that have not been fanned out before to the log, and returns who subscribes to the room. */
async function publish(
  tenant: Tenant,
  subscribers: SubscriberGateway,
  roomId: string,
  events: readonly PendingEvent[],
): Promise<readonly Listening[]> {
  const fresh = events.filter(({ pendingSubscriptions }) => pendingSubscriptions === null);
  if (fresh.length === 0) return [];
  try {
    const outgoing = fresh.map((event) => outgoingOf(event, roomId));
    return await subscribers.publishToLog(tenant.accountId, roomId, outgoing);
  } catch {
    const [subscriptions] = await tenant.db.run([selectSubscriptions(tenant, roomId)]);
    return [...subscriptions, LOG];
  }
}

const outgoingOf = (
  { id, event, occurredAt, body, trace = null }: PendingEvent,
  roomId: string,
): OutgoingEvent => ({
  ...{ eventId: id, event, roomId, body, occurredAt },
  ...(trace === null ? {} : { trace }),
});

/** What one subscriber receives. */
interface Batch {
  readonly subscription: Subscription;
  readonly events: OutgoingEvent[];
}

function batchBySubscriber(
  roomId: string,
  pending: readonly PendingEvent[],
  current: readonly Listening[],
): Batch[] {
  const batches = new Map<string, Batch>();
  for (const waiting of pending) {
    const { event, pendingSubscriptions } = waiting;
    const subscriptions =
      pendingSubscriptions === null ? matching(current, event) : parseSubscriptions(pendingSubscriptions);
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

const matching = (subscriptions: readonly Listening[], event: WebhookEventName): Subscription[] =>
  subscriptions
    .filter(({ events }) => events === null || namesEvent(events, event))
    .map(({ kind, id, version }) => ({ kind, id, version }));

/** As {@link fanOut} or the batch of a user's change wrote them. */
const parseSubscriptions = (json: string): Subscription[] => JSON.parse(json) as Subscription[];
