/** The storage of kept stores and writes: an interface, so that an application can bring one of its own. */
import type { DiscardedWrite } from "../client/index.ts";
import type { User as UserRecord } from "../wire/resources.ts";

/** An entry of a store as the room has confirmed it. */
export interface KeptEntry {
  readonly store: string;
  readonly key: string;
  readonly value: unknown;
  readonly version: number;
}

/** Identifies a write: the client that will send it, and its place among that client's writes. */
export interface KeptWriteId {
  readonly writer: string;
  /** Any integer: recovered writes are before the client's own. */
  readonly number: number;
}

/** A write that the room has not answered. */
export interface KeptWrite extends KeptWriteId {
  readonly store: string;
  readonly key: string;
  readonly action: DiscardedWrite["action"];
  readonly value: unknown;
  readonly ifVersion: number | undefined;
  /** Writes of one writer with the same group take effect together; null for a write by itself. */
  readonly group: number | null;
  /** The batch in which it was sent, if it may have been sent. */
  readonly batch: { readonly requestId: string; readonly at: number } | null;
  /** Original id of the write, if another client has made it. */
  readonly origin?: KeptWriteId | undefined;
}

/** The kept stores of a room, all as of the change `seq`. */
export interface KeptStores {
  readonly seq: number;
  /** Names the history of the room that `seq` is a position in. */
  readonly epoch?: unknown;
  /** The user whose stores they are. */
  readonly user?: UserRecord | undefined;
  /** The names of the stores that are complete. */
  readonly stores: readonly string[];
  readonly entries: readonly KeptEntry[];
}

/** Brings the kept stores from one change of the room to a later one. */
export interface StoresChange extends Omit<KeptStores, "entries"> {
  /** Replaces all kept entries of these stores, or of all, by `put`. */
  readonly replaced: readonly string[] | "all";
  readonly put: readonly KeptEntry[];
  readonly removed: readonly { readonly store: string; readonly key: string }[];
}

/** Changes that are stored together, or not at all. */
export interface KeptChange {
  readonly writes: readonly KeptWrite[];
  readonly settled: readonly KeptWriteId[];
  readonly stores: StoresChange | null;
}

export interface OfflineListener {
  /** The data was deleted, or can no longer be reached. */
  closed(reason: string): void;
  /** Another client has called {@link OfflineRoom.announce}. */
  announced(message: string): void;
}

/** The data of one user in one room, which several clients share. */
export interface OfflineRoom {
  /** Null if no store is kept. */
  readStores(): Promise<KeptStores | null>;
  /** The kept writes of all clients; those of one client in the order of their numbers. */
  readWrites(): Promise<readonly KeptWrite[]>;
  /** Stores changes in the order of the calls, beginning at once: a page can end right after the call. */
  apply(change: KeptChange): Promise<void>;
  /** Returns a function that releases the lock; null once `signal` is aborted. The end of a page releases its locks. */
  lock(name: string, signal: AbortSignal): Promise<(() => void) | null>;
  /** Calls `announced` of the other clients with this message: the client's kept writes have changed. */
  announce(message: string): void;
  /** Ends all use; locks are released by their own functions. */
  close(): void;
}

export interface OfflineStorage {
  /** Opens the data under a name. Rejects if it cannot be used, with the reason. */
  open(scope: string, listener: OfflineListener): Promise<OfflineRoom>;
  /** Deletes the data of all users and rooms. Open clients go on in memory. */
  clear(): Promise<void>;
}
