/** Ends the sessions of a room that was restored from an archive. */

import { unusedNumber } from "@atrium/contract/time.ts";
import { Sessions } from "../engine/participants/sessions.ts";
import { SqliteStorage } from "../storage/storage.ts";

/**
 * Ends the open sessions, without grace periods, at the time when the room was last known to run; `now` is epoch ms. Inboxes
 * and clients may know numbers of changes that the archive lacks: later changes have none of these.
 */
export function settleRestored(storage: DurableObjectStorage, now: number): void {
  const stored = new SqliteStorage(storage);
  stored.changes.writeRestoredSeq(unusedNumber(now));
  stored.streams.settleRestored(now);
  for (const { userId } of stored.gracePeriods.list()) stored.gracePeriods.delete(userId);
  new Sessions({ storage: stored, newId: () => crypto.randomUUID() }).recover(new Set());
  const record = stored.readRecord();
  // The database may have a later version than the archive. A version from the clock makes the archive's stats
  // win.
  if (record !== null) stored.writeRecord({ ...record, version: Math.max(record.version + 1, now) });
}
