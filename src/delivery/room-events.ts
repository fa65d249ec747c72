/** Hands the events of a room over to those who listen. */

import { incrementHourlyCounts } from "../metrics/hourly-counts.ts";
import type { Tenant } from "../platform/d1.ts";
import type { PendingEvent } from "../realtime/storage/storage-outbox.ts";
import { fanOut } from "./fan-out.ts";
import type { SubscriberGateway } from "./subscriber-port.ts";
import { matchesEvent, parseSubscriptions, type Subscription, selectSubscriptions } from "./subscriptions.ts";

/**
 * Asks the database once who listens in the room, and gives each its events. Answers by event id, as JSON, who
 * could not be reached: those are all who are still to be given it. Rejects when the database fails.
 */
export async function fanOutRoomEvents(
  tenant: Tenant,
  subscribers: SubscriberGateway,
  roomId: string,
  events: readonly PendingEvent[],
): Promise<ReadonlyMap<string, string>> {
  const fresh = events.filter(({ owed }) => owed === null);
  const [first] = fresh;
  const [listening] =
    first === undefined
      ? [[]]
      : await tenant.db.run([
          selectSubscriptions(tenant, roomId),
          incrementHourlyCounts(tenant, first.occurredAt, { events: fresh.length }),
        ]);
  const parcels = events.map(({ id, event, occurredAt, body, owed }) => ({
    envelope: { eventId: id, event, roomId, body, occurredAt },
    to:
      owed === null
        ? listening.filter(({ events: wanted }) => matchesEvent(wanted, event)).map(listenerOf)
        : parseSubscriptions(owed),
  }));
  const remaining = await fanOut(subscribers, tenant.accountId, parcels);
  return new Map([...remaining].map(([id, listeners]) => [id, JSON.stringify(listeners)]));
}

const listenerOf = ({ kind, id, version }: Subscription): Subscription => ({ kind, id, version });
