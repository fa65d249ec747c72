/** The storage port for the log of changes, their epochs, and the receipts of the requests that made them. */
import type { ChangeEvent } from "../protocol/protocol.ts";

/** A change as it is logged; `data` is JSON. */
export interface LoggedChange {
  readonly seq: number;
  readonly event: ChangeEvent;
  readonly data: string;
}

/** The entry of a store that a change is about. */
export interface EntryAddress {
  readonly store: string;
  readonly key: string;
}

export interface NewChange extends LoggedChange {
  /** Epoch milliseconds. */
  readonly at: number;
  /** What the change counts towards {@link LogTotals.bytes}. */
  readonly size: number;
  /** The entry whose new state this is: the log keeps the latest change of each. Null for other changes. */
  readonly entry: EntryAddress | null;
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
  /** Logs a change. Returns the size of the earlier change of its entry, which it replaces; null if there is none. */
  append(change: NewChange): number | null;
  /** The changes that are kept, oldest first, read as far as the caller iterates. */
  oldest(): Iterable<Pick<NewChange, "seq" | "at" | "size">>;
  /** Deletes the changes up to `seq`. */
  drop(seq: number): void;
  /** The kept changes after `seq`, in order. */
  listAfter(seq: number): LoggedChange[];
  readTotals(): LogTotals;
  writeTotals(totals: LogTotals): void;
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

/** The place of a receipt among those of its user, and the size of them all up to this one. */
export interface ReceiptPlace {
  /** Counts up by 1 for each receipt of the user. */
  readonly number: number;
  /** Running total of the sizes of the user's receipts. */
  readonly total: number;
}

export interface ReceiptTable {
  find(userId: string, requestId: string): Receipt | null;
  /** Adds a receipt; it replaces an earlier one of the same user and id. */
  insert(receipt: Receipt, place: ReceiptPlace, at: number): void;
  /** The user's latest receipt; null if there is none. */
  newest(userId: string): ReceiptPlace | null;
  /** The user's earliest receipt; null if there is none. */
  oldest(userId: string): ReceiptPlace | null;
  deleteOldest(userId: string): void;
  /** Deletes all receipts of the user. */
  deleteUser(userId: string): void;
  /** Of the earliest `limit` receipts of all users, deletes those made before `at` (epoch ms). */
  deleteExpired(at: number, limit: number): void;
}
