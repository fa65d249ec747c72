/** What the room asks of storage for its lasting content: changes in order, stores, comments, followers. */
import type { ChangeEvent } from "../protocol/protocol.ts";

/** A change as it is logged; `data` is JSON. */
export interface LoggedChange {
  readonly seq: number;
  readonly event: ChangeEvent;
  readonly data: string;
}

/** What a user's request came to, kept with the last change that it made, and for as long. */
export interface Receipt {
  readonly userId: string;
  readonly requestId: string;
  /** Tells the request from another one under the same id. */
  readonly fingerprint: string;
  /** `data` of the answer, as JSON. */
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
  /** The seq of the oldest change that is kept and when it was made; null without any. */
  oldest(): OldestChange | null;
  /** The oldest change that was made at `at` or later; null without one. */
  firstSince(at: number): number | null;
  /** Forgets the changes before `seq`, with their receipts. */
  prune(seq: number): void;
  /** The size of `data` of all changes after `seq`, in characters. */
  sizeAfter(seq: number): number;
  /** The changes after `seq`, in their order. */
  listAfter(seq: number): LoggedChange[];
  /** Leaves the receipt with a change, in the place of an earlier one under the same id. */
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
  /** In the order of their keys. */
  list(store: string): StoredEntry[];
  write(store: string, entry: StoredEntry): void;
  delete(store: string, key: string): void;
  /** Zero for a store that is not there. */
  size(store: string): StoreSize;
  /** A store without entries is forgotten. */
  writeSize(store: string, size: StoreSize): void;
  /** By name, in the order of their names. */
  listStores(): (StoreSize & { readonly name: string })[];
}

/** A comment as it is kept: `comment` is JSON, the rest is what lists are filtered by. */
export interface StoredComment {
  readonly id: string;
  readonly threadId: string;
  readonly resolved: boolean;
  readonly comment: string;
}

/** Null fields let all comments through. */
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
  /** In the order in which they were written. */
  list(filter: CommentFilter, limit: number, offset: number): StoredComment[];
}

export interface FollowTable {
  has(follower: string, followed: string): boolean;
  insert(follower: string, followed: string): void;
  delete(follower: string, followed: string): void;
  /** Whom a user follows, in the order in which it began to. */
  listFollowed(follower: string): string[];
  /** All of them, `[follower, followed]`, in the order in which they began. */
  list(): (readonly [string, string])[];
  /** Removes whatever a user is part of. */
  deleteUser(userId: string): void;
}
