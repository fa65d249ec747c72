/** Gives events to the objects of those who listen, each in the order in which they happened. */

import type { Envelope, Subscribers } from "./subscriber-port.ts";
import type { Listener } from "./subscriptions.ts";

/** An event, and who is still to be given it. */
export interface Parcel {
  readonly envelope: Envelope;
  readonly to: readonly Listener[];
}

/** Gives each listener its events at once. Answers, by event id, who could not be reached; never rejects. */
export async function distribute(
  subscribers: Subscribers,
  accountId: string,
  parcels: readonly Parcel[],
): Promise<ReadonlyMap<string, readonly Listener[]>> {
  const owed = new Map<string, Listener[]>();
  const give = async ({ listener, envelopes }: Share): Promise<void> => {
    const { kind, id, version } = listener;
    try {
      await subscribers.take({ kind, accountId, id }, envelopes, version);
    } catch {
      for (const { eventId } of envelopes) owed.set(eventId, [...(owed.get(eventId) ?? []), listener]);
    }
  };
  await Promise.all(sharesOf(parcels).map(give));
  return owed;
}

/** What one listener is given. */
interface Share {
  readonly listener: Listener;
  readonly envelopes: Envelope[];
}

function sharesOf(parcels: readonly Parcel[]): Share[] {
  const shares = new Map<string, Share>();
  for (const { envelope, to } of parcels) {
    for (const listener of to) {
      const key = `${listener.kind} ${listener.id}`;
      const share = shares.get(key);
      if (share === undefined) shares.set(key, { listener, envelopes: [envelope] });
      else {
        share.envelopes.push(envelope);
        const isNewer = listener.version > share.listener.version;
        if (isNewer) shares.set(key, { listener, envelopes: share.envelopes });
      }
    }
  }
  return [...shares.values()];
}
