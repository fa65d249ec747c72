/** Gives events to the objects of those who listen, each in the order in which they happened. */

import type { OutgoingEvent, SubscriberGateway } from "./subscriber-port.ts";
import type { Subscription } from "./subscriptions.ts";

/** An event, and who is still to be given it. */
export interface AddressedEvent {
  readonly envelope: OutgoingEvent;
  readonly to: readonly Subscription[];
}

/** Gives each listener its events at once. Answers, by event id, who could not be reached; never rejects. */
export async function fanOut(
  subscribers: SubscriberGateway,
  accountId: string,
  parcels: readonly AddressedEvent[],
): Promise<ReadonlyMap<string, readonly Subscription[]>> {
  const owed = new Map<string, Subscription[]>();
  const give = async ({ listener, events }: Share): Promise<void> => {
    const { kind, id, version } = listener;
    try {
      await subscribers.enqueue({ kind, accountId, id }, events, version);
    } catch {
      for (const { eventId } of events) owed.set(eventId, [...(owed.get(eventId) ?? []), listener]);
    }
  };
  await Promise.all(sharesOf(parcels).map(give));
  return owed;
}

/** What one listener is given. */
interface Share {
  readonly listener: Subscription;
  readonly events: OutgoingEvent[];
}

function sharesOf(parcels: readonly AddressedEvent[]): Share[] {
  const shares = new Map<string, Share>();
  for (const { envelope, to } of parcels) {
    for (const listener of to) {
      const key = `${listener.kind} ${listener.id}`;
      const share = shares.get(key);
      if (share === undefined) shares.set(key, { listener, events: [envelope] });
      else {
        share.events.push(envelope);
        const isNewer = listener.version > share.listener.version;
        if (isNewer) shares.set(key, { listener, events: share.events });
      }
    }
  }
  return [...shares.values()];
}
