/** The way to subscribers: one by its key, or, with the events that it wants, each that listens to a room; and to the log. */
import type { Env } from "../config.ts";
import { eventLogGateway } from "../event-log/shards/event-log-gateway.ts";
import { incrementHourlyCounts } from "../metrics/counters/hourly-count-store.ts";
import type { Tenant } from "../platform/d1.ts";
import { selectSubscriptions } from "./outbox/outbox-store.ts";
import type { WebhookEventName } from "./port/event-name.ts";
import type {
  OutgoingEvent,
  SubscriberGateway,
  SubscriberKey,
  Subscription,
} from "./port/subscriber-port.ts";

/** The only way to a subscriber's object: turns its key into its stub. */
export function subscriberGateway(env: Pick<Env, "SUBSCRIBERS" | "EVENT_LOGS">): SubscriberGateway {
  const stub = ({ kind, id }: SubscriberKey) => env.SUBSCRIBERS.getByName(`${kind}:${id}`);
  const log = eventLogGateway(env);
  return {
    appendToLog: (accountId, roomId, events) => log.append(accountId, roomId, events),
    removeLog: (accountId) => log.remove(accountId),
    enqueue: async (key, events, version) => stub(key).enqueue(key, events, version),
    notifyOfChange: async (key, version) => stub(key).notifyOfChange(version),
    remove: async (key) => stub(key).remove(),
    list: async (key, filter, { limit, offset }) => stub(key).list(filter, limit, offset),
    startReplay: async (key, request) => stub(key).startReplay(key, request),
    stats: async (key, range) => stub(key).stats(range),
    findReplay: async (key) => stub(key).findReplay(),
    redeliver: async (key, deliveryId) => stub(key).redeliver(key, deliveryId),
    deliverNow: async (key, event) => stub(key).deliverNow(key, event),
    deliverNowOnce: async (key, event) => stub(key).deliverNowOnce(key, event),
  };
}

/** An event in an outbox: it has not reached all of its subscribers yet. */
export interface PendingEvent {
  readonly id: string;
  readonly event: WebhookEventName;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  /** The event object as JSON. */
  readonly body: string;
  /** The subscriptions that it has yet to reach, as JSON ({@link Subscription}[]); null until they are looked up. */
  readonly pendingSubscriptions: string | null;
}

/** The log takes every event, whether a subscriber wants it or not. */
const LOG: Subscription = { kind: "log", id: "", version: 0 };

/**
 * Enqueues a room's events with their subscribers and appends them to the log, all at once. Returns, by event id, the subscriptions
 * that could not be reached, as JSON: the next call takes them as `pendingSubscriptions`. Rejects only when the
 * database cannot say who subscribes; events whose subscriptions are known need no database. The subscriber with the
 * id `exceptId` receives none.
 */
export async function fanOut(
  tenant: Tenant,
  subscribers: SubscriberGateway,
  roomId: string,
  events: readonly PendingEvent[],
  exceptId?: string,
): Promise<ReadonlyMap<string, string>> {
  const found = await lookUpSubscriptions(tenant, roomId, events);
  const current = found.filter(({ id }) => id !== exceptId);
  const unreached = new Map<string, Subscription[]>();
  const enqueue = async ({ subscription, events }: Batch): Promise<void> => {
    const { kind, id, version } = subscription;
    try {
      const { accountId } = tenant;
      if (kind === "log") await subscribers.appendToLog(accountId, roomId, events);
      else await subscribers.enqueue({ kind, accountId, id }, events, version);
    } catch {
      for (const { eventId } of events) {
        unreached.set(eventId, [...(unreached.get(eventId) ?? []), subscription]);
      }
    }
  };
  await Promise.all(batchBySubscriber(roomId, events, current).map(enqueue));
  return new Map([...unreached].map(([eventId, subscriptions]) => [eventId, JSON.stringify(subscriptions)]));
}

type NamedSubscription = Subscription & { readonly events: string };

/** One query for all events that have not been fanned out before; it also counts them for the metrics. */
async function lookUpSubscriptions(
  tenant: Tenant,
  roomId: string,
  events: readonly PendingEvent[],
): Promise<readonly NamedSubscription[]> {
  const fresh = events.filter(({ pendingSubscriptions }) => pendingSubscriptions === null);
  const [first] = fresh;
  if (first === undefined) return [];
  const [subscriptions] = await tenant.db.run([
    selectSubscriptions(tenant, roomId),
    incrementHourlyCounts(tenant, first.occurredAt, { events: fresh.length }),
  ]);
  return subscriptions;
}

/** What one subscriber receives. */
interface Batch {
  readonly subscription: Subscription;
  readonly events: OutgoingEvent[];
}

function batchBySubscriber(
  roomId: string,
  pending: readonly PendingEvent[],
  current: readonly NamedSubscription[],
): Batch[] {
  const batches = new Map<string, Batch>();
  for (const { id, event, occurredAt, body, pendingSubscriptions } of pending) {
    const subscriptions =
      pendingSubscriptions === null ? matching(current, event) : parseSubscriptions(pendingSubscriptions);
    for (const subscription of subscriptions) {
      const key = `${subscription.kind} ${subscription.id}`;
      const known = batches.get(key) ?? { subscription, events: [] };
      known.events.push({ eventId: id, event, roomId, body, occurredAt });
      const isNewer = subscription.version > known.subscription.version;
      batches.set(key, isNewer ? { ...known, subscription } : known);
    }
  }
  return [...batches.values()];
}

/** `events` is a JSON array of names, and no quoted name is part of another one. */
const matching = (subscriptions: readonly NamedSubscription[], event: WebhookEventName): Subscription[] => [
  LOG,
  ...subscriptions
    .filter(({ events }) => events.includes(JSON.stringify(event)))
    .map(({ kind, id, version }) => ({ kind, id, version })),
];

/** As {@link fanOut} or the batch of a user's change wrote them. */
const parseSubscriptions = (json: string): Subscription[] => JSON.parse(json) as Subscription[];
