/** Hands the events of a room over to those who listen. */

import { countActivity } from "../metrics/hourly-counts.ts";
import type { Tenant } from "../platform/d1.ts";
import type { WaitingEvent } from "../realtime/storage/storage-outbox.ts";
import { distribute } from "./fan-out.ts";
import type { Subscribers } from "./subscriber-port.ts";
import { type Listener, listensTo, parseListeners, selectListeners } from "./subscriptions.ts";

/**
 * Asks the database once who listens in the room, and gives each its events. Answers by event id, as JSON, who
 * could not be reached: those are all who are still to be given it. Rejects when the database fails.
 */
export async function distributeRoomEvents(
  tenant: Tenant,
  subscribers: Subscribers,
  roomId: string,
  events: readonly WaitingEvent[],
): Promise<ReadonlyMap<string, string>> {
  const fresh = events.filter(({ owed }) => owed === null);
  const [first] = fresh;
  const [listening] =
    first === undefined
      ? [[]]
      : await tenant.db.run([
          selectListeners(tenant, roomId),
          countActivity(tenant, first.occurredAt, { events: fresh.length }),
        ]);
  const parcels = events.map(({ id, event, occurredAt, body, owed }) => ({
    envelope: { eventId: id, event, roomId, body, occurredAt },
    to:
      owed === null
        ? listening.filter(({ events: wanted }) => listensTo(wanted, event)).map(listenerOf)
        : parseListeners(owed),
  }));
  const remaining = await distribute(subscribers, tenant.accountId, parcels);
  return new Map([...remaining].map(([id, listeners]) => [id, JSON.stringify(listeners)]));
}

const listenerOf = ({ kind, id, version }: Listener): Listener => ({ kind, id, version });
