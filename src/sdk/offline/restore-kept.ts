/** Brings what was kept back into a client: entries as they were, and writes below those that it has made since. */
import type { KeptClient } from "../client/offline.ts";
import type { KeptBatch, QueuedWrite } from "../client/stores/waiting-writes.ts";
import type { KeptEntry, KeptStores } from "./storage.ts";

/** Shows the user, and opens the kept stores that are included; the client then catches up from the change that they are of. */
export function showStores(
  { changeStream, stores, users }: KeptClient,
  kept: KeptStores,
  includes: (store: string) => boolean,
): void {
  if (kept.user) users.restore(kept.user);
  const names = kept.stores.filter(includes);
  const opened = new Map(names.map((name): [string, [string, KeptEntry][]] => [name, []]));
  if (opened.size > 0) changeStream.continueFrom(kept.seq, kept.epoch);
  for (const entry of kept.entries) opened.get(entry.store)?.push([entry.key, entry]);
  for (const [name, entries] of opened) stores.get(name).replica.open(entries);
}

/** Shows the writes, and sends them before all that wait. */
export function continueWith(
  { stores }: KeptClient,
  batches: readonly KeptBatch[],
  waiting: readonly QueuedWrite[],
): void {
  const writes = [...batches.flatMap((batch) => batch.writes), ...waiting];
  // The earliest is to be the lowest.
  for (const write of writes.reverse()) stores.get(write.target.name).replica.show(write, "resynced", true);
  stores.queue.restore(batches, waiting);
}
