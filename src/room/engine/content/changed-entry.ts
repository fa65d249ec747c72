/** The entry of a store that a change is about, and which earlier change of it is to leave the log. */
import type { EntryAddress, Replaced } from "../../storage/storage-log.ts";

export interface ChangedEntry extends EntryAddress {
  /** The seq of the change that wrote the entry so far; 0 if there was no entry. */
  readonly before: number;
  /** Whether there is no entry any more. */
  readonly isDeleted: boolean;
}

/** The latest change of an entry so far; null if it is dropped by now. */
export function replacedBy({ before, store, key }: ChangedEntry, droppedSeq: number): Replaced | null {
  if (before === 0) return { deletionOf: { store, key } };
  return before > droppedSeq ? { seq: before } : null;
}
