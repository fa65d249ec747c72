/** What a restored room does not continue: those who were online when it was archived are not, and its sockets are gone. */
import { Sessions } from "../engine/participants/sessions.ts";
import { SqliteStorage } from "../storage/storage-sqlite.ts";

/**
 * Ends the open sessions when the room was last known to be running, as after a crash, with the events of that, which wait
 * in the outbox. No one has a grace. An epoch begins by itself, as the room starts without sockets. `now` is in epoch
 * milliseconds.
 */
export function settleRestored(storage: DurableObjectStorage, now: number): void {
  const stored = new SqliteStorage(storage);
  for (const { userId } of stored.graces.list()) stored.graces.delete(userId);
  new Sessions(stored, () => crypto.randomUUID()).recover(new Set());
  const record = stored.readRecord();
  // The database may have stats of a later version than the archive: those of the archive are newer from now on.
  if (record !== null) stored.writeRecord({ ...record, version: Math.max(record.version + 1, now) });
}
