/** The storage port for the room's lasting content: stores, comments and follows. */

/** An entry of a store; `value` is JSON. */
export interface StoredEntry {
  readonly key: string;
  readonly value: string;
  readonly version: number;
}

/** Entries that follow each other in the order of keys. */
export interface EntryText {
  /** Keys, values and versions in turns, each after a comma, as an array has them in JSON, in UTF-8. Not to be changed. */
  readonly items: Uint8Array;
  readonly lastKey: string;
}

export interface StoreSize {
  readonly entries: number;
  readonly bytes: number;
}

export interface StoreTotals {
  readonly stores: number;
  readonly bytes: number;
}

export interface EntryTable {
  find(store: string, key: string): StoredEntry | null;
  /** The entries after a key, or all, by key in the order of code points, read as far as the caller iterates. */
  scan(store: string, after: string | null): Iterable<StoredEntry>;
  /** The same entries as JSON, at most some MiB at a time: as little as possible is done for each. It may be empty at the end. */
  scanText(store: string, after: string | null): Iterable<EntryText>;
  write(store: string, entry: StoredEntry): void;
  delete(store: string, key: string): void;
  /** Zero for a store that does not exist. */
  size(store: string): StoreSize;
  /** A size without entries deletes the store. */
  writeSize(store: string, size: StoreSize): void;
  /** Of all stores of the room: their sizes together. */
  totals(): StoreTotals;
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

/** A comment with its place among those of the room: a later one has a higher number. */
export interface PlacedComment extends StoredComment {
  readonly position: number;
}

export interface CommentTotals {
  readonly comments: number;
  readonly bytes: number;
}

/** A field that is null matches all comments. */
export interface CommentFilter {
  readonly threadId: string | null;
  readonly resolved: boolean | null;
}

/** A part of a list of comments. */
export interface CommentPart {
  /** The place behind which it begins; 0 for the start. However far that is, it costs the same. */
  readonly after: number;
  readonly limit: number;
  /** How many are passed over. */
  readonly offset?: number;
}

export interface CommentTable {
  find(id: string): StoredComment | null;
  insert(comment: StoredComment): void;
  update(comment: StoredComment): void;
  delete(id: string): void;
  hasThread(threadId: string): boolean;
  /** Without a filter, the totals have it; with one, all that match are counted. */
  count(filter: CommentFilter): number;
  /** Of all comments of the room; `bytes` of their JSON. */
  totals(): CommentTotals;
  /** Oldest first. */
  list(filter: CommentFilter, part: CommentPart): PlacedComment[];
}

export interface FollowTable {
  has(follower: string, followed: string): boolean;
  insert(follower: string, followed: string): void;
  delete(follower: string, followed: string): void;
  /** Whom a user follows, earliest first. */
  listFollowed(follower: string): string[];
  /** The pairs of these followers, earliest first: read together, because a page of users has a thousand. */
  listOf(followers: readonly string[]): (readonly [string, string])[];
  /** The pairs `[follower, followed]`, earliest first; all of them without a limit. */
  list(limit: number | null): (readonly [string, string])[];
  /** Deletes the pairs that a user is part of. */
  deleteUser(userId: string): void;
}
