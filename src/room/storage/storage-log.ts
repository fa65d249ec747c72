/** The storage port for the log of changes, their epochs, and the receipts of the requests that made them. */
import type { ChangeEvent } from "../protocol/protocol.ts";

/** A change as it is logged; `data` is JSON. */
export interface LoggedChange {
  readonly seq: number;
  readonly event: ChangeEvent;
  readonly data: string;
}

/** An entry of a store. */
export interface EntryAddress {
  readonly store: string;
  readonly key: string;
}

/** Which earlier change a new one replaces, because the log keeps the latest of each entry. */
export type Replaced =
  /** The one with this seq, if it is kept. */
  | { readonly seq: number }
  /** The one that deleted the entry, if there is one that is kept. */
  | { readonly deletionOf: EntryAddress };

export interface NewChange extends LoggedChange {
  /** Epoch milliseconds. */
  readonly at: number;
  /** What the change counts towards {@link LogTotals.bytes}. */
  readonly size: number;
  /** Null for a change that replaces none. */
  readonly replaces: Replaced | null;
  /** The entry that this deletes: the change can be replaced by its address. Null for other changes. */
  readonly deletes: EntryAddress | null;
}

export interface LogTotals {
  /** The latest change that was dropped because of its age or the log's size; 0 if there is none. */
  readonly droppedSeq: number;
  /** How many changes are kept, and their sizes together. */
  readonly changes: number;
  readonly bytes: number;
}

export interface ChangeLog {
  /** The latest change's seq; 0 before the first. */
  lastSeq(): number;
  /** Logs a change. Returns the size of the one that it replaces; null if there is none. */
  append(change: NewChange): number | null;
  /** The changes that are kept, oldest first, read as far as the caller iterates. */
  oldest(): Iterable<Pick<NewChange, "seq" | "at" | "size">>;
  /** Deletes the changes up to `seq`, and keeps that they were dropped. */
  drop(seq: number): void;
  /** The kept changes after `seq`, in order. */
  listAfter(seq: number): LoggedChange[];
  readDroppedSeq(): number;
  /** Counts what is kept: reads all of it. */
  readTotals(): LogTotals;
}

/** The epochs in their order. */
export interface EpochTable {
  /** The id of the latest one; null before the first. */
  latest(): string | null;
  /** Begins an epoch after the change `after`. Of all epochs, the latest `limit` are kept. */
  begin(id: string, after: number, limit: number): void;
  /** The latest change that was made when the epoch ended, Infinity while it lasts; null for one that is not known. */
  lastSeqOf(id: string): number | null;
}

/** The remembered result of a request that made changes. */
export interface Receipt {
  /** The user who sent the request, or a name that no user has. */
  readonly userId: string;
  readonly requestId: string;
  /** Distinguishes the request from another one with the same id. */
  readonly fingerprint: string;
  /** `data` of the response, as JSON. */
  readonly answer: string;
}

/** The place of a receipt among those of its user: both numbers are higher than those of each earlier one. */
export interface ReceiptPlace {
  /** Counts up by 1 for each receipt of the user. */
  readonly number: number;
  /** Running total of the sizes of the user's receipts. */
  readonly total: number;
}

/** A receipt as it is stored; `at` is when it was made (epoch ms). */
export interface PlacedReceipt extends Receipt, ReceiptPlace {
  readonly at: number;
}

/** What is before the first receipt to keep. */
export type ReceiptBounds = Omit<PlacedReceipt, keyof Receipt>;

export interface ReceiptTable {
  find(userId: string, requestId: string): PlacedReceipt | null;
  /** Adds a receipt; it replaces an earlier one of the same user and id. */
  insert(receipt: PlacedReceipt): void;
  /** The place of the user's latest receipt, which may be deleted by now; null if none is known. */
  newest(userId: string): ReceiptPlace | null;
  /** Deletes the user's receipts of which a number is below that of the bounds. */
  deleteBefore(userId: string, bounds: ReceiptBounds): void;
  /** Deletes all receipts of the user. */
  deleteUser(userId: string): void;
  /**
   * Deletes the receipts made before `at` (epoch ms) of the next other user in the order of ids, the first one after the
   * last. Done again and again for those who write, it deletes in time those of all who are gone.
   */
  deleteExpiredOfNext(userId: string, at: number): void;
}
