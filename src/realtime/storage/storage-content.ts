/** The storage port for the room's lasting content: the log of changes, stores, comments and follows. */
import type { ChangeEvent } from "../protocol/protocol.ts";

/** A change as it is logged; `data` is JSON. */
export interface LoggedChange {
  readonly seq: number;
  readonly event: ChangeEvent;
  readonly data: string;
}

/** The remembered result of a request, stored with the last change that it made, and for as long. */
export interface Receipt {
  readonly userId: string;
  readonly requestId: string;
  /** Distinguishes the request from another one with the same id. */
  readonly fingerprint: string;
  /** `data` of the response, as JSON. */
  readonly answer: string;
}

export interface OldestChange {
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface ChangeLog {
  /** The latest change's seq; 0 before the first. */
  lastSeq(): number;
  append(change: LoggedChange, at: number): void;
  /** The oldest change that is kept; null if there is none. */
  oldest(): OldestChange | null;
  /** The seq of the oldest change that was made at `at` (epoch ms) or later; null if there is none. */
  firstSince(at: number): number | null;
  /** Deletes the changes before `seq`, with their receipts. */
  prune(seq: number): void;
  /** The total size of `data` of the changes after `seq`, in characters. */
  sizeAfter(seq: number): number;
  /** The changes after `seq`, in order. */
  listAfter(seq: number): LoggedChange[];
  /** Stores a receipt with a change; it replaces an earlier one with the same id. */
  writeReceipt(seq: number, receipt: Receipt): void;
  findReceipt(userId: string, requestId: string): Receipt | null;
}

/** An entry of a store; `value` is JSON. */
export interface StoredEntry {
  readonly key: string;
  readonly value: string;
  readonly version: number;
}

export interface StoreSize {
  readonly entries: number;
  readonly bytes: number;
}

export interface EntryTable {
  find(store: string, key: string): StoredEntry | null;
  /** Sorted by key. */
  list(store: string): StoredEntry[];
  write(store: string, entry: StoredEntry): void;
  delete(store: string, key: string): void;
  /** Zero for a store that does not exist. */
  size(store: string): StoreSize;
  /** A size without entries deletes the store. */
  writeSize(store: string, size: StoreSize): void;
  /** Sorted by name. */
  listStores(): (StoreSize & { readonly name: string })[];
}

/** A comment as it is stored: `comment` is JSON, the other fields are what lists filter by. */
export interface StoredComment {
  readonly id: string;
  readonly threadId: string;
  readonly resolved: boolean;
  readonly comment: string;
}

/** A field that is null matches all comments. */
export interface CommentFilter {
  readonly threadId: string | null;
  readonly resolved: boolean | null;
}

export interface CommentTable {
  find(id: string): StoredComment | null;
  insert(comment: StoredComment): void;
  update(comment: StoredComment): void;
  delete(id: string): void;
  count(filter: CommentFilter): number;
  /** Oldest first. */
  list(filter: CommentFilter, limit: number, offset: number): StoredComment[];
}

export interface FollowTable {
  has(follower: string, followed: string): boolean;
  insert(follower: string, followed: string): void;
  delete(follower: string, followed: string): void;
  /** Whom a user follows, earliest first. */
  listFollowed(follower: string): string[];
  /** All pairs `[follower, followed]`, earliest first. */
  list(): (readonly [string, string])[];
  /** Deletes the pairs that a user is part of. */
  deleteUser(userId: string): void;
}
