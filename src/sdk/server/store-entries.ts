/** What `AtriumServer.stores` accepts and returns: entries, pages of them, and batches of writes. */

export interface Entry {
  readonly value: unknown;
  /** The `seq` of the change that wrote this value. */
  readonly version: number;
}

export interface WriteOptions {
  /** Writes only if the entry has this version, 0 for no entry; otherwise `CONFLICT`. */
  readonly ifVersion?: number;
}

export interface Written {
  /** The entry's new version. */
  readonly version: number;
  /** The room's latest change. */
  readonly seq: number;
}

/** A store, how many entries it has, and the bytes of their keys and values. */
export interface StoreSummary {
  readonly name: string;
  readonly entries: number;
  readonly bytes: number;
}

/** Which entries of a store to return. */
export interface EntryPage {
  /** Only the entries after this key. */
  readonly after?: string;
  /** At most 10,000, which is the default. A page has about 1 MiB at most. */
  readonly limit?: number;
}

/** Entries of a store in the order of their keys, and the room's latest change. */
export interface Entries {
  readonly entries: Record<string, Entry>;
  readonly seq: number;
  /** The last key, to pass as `after`; left out when no other entries follow. */
  readonly next?: string;
}

/** One operation of a batch. */
export type StoreOperation = { readonly store: string; readonly key: string } & WriteOptions &
  (
    | { readonly type: "STORE_SET"; readonly value: unknown }
    | { readonly type: "STORE_UPDATE"; readonly value: object }
    | { readonly type: "STORE_DELETE" }
  );

/** 1 to 500 operations: all or none, unless `atomic` is false. Sent again under its id, a batch is carried out once. */
export interface StoreBatch {
  readonly requestId: string;
  readonly operations: readonly StoreOperation[];
  readonly atomic?: boolean;
}

interface Refusal {
  readonly code: string;
  readonly module: string;
  readonly message: string;
}

/** The response to one batch. In a batch that is not atomic, an operation can be refused by itself. */
export interface BatchResponse {
  readonly requestId: string;
  readonly success: boolean;
  readonly data: {
    readonly results?: readonly (
      | { readonly version?: number; readonly seq: number }
      | { readonly error: Refusal }
    )[];
    readonly seq?: number;
  };
  readonly error: Refusal | null;
}
