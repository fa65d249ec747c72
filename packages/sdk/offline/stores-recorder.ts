/** Collects complete stores and then their changes, as of one change of the room. */
import type { KeptClient } from "../client/offline.ts";
import type { Replica } from "../client/stores/replica.ts";
import type { User } from "../client/users.ts";
import { getOrAdd } from "../core/emitter.ts";
import type { User as UserRecord } from "../wire/resources.ts";
import type { KeptEntry, StoresChange } from "./storage.ts";

export class StoresRecorder {
  readonly #client: KeptClient;
  readonly #includes: (store: string) => boolean;
  readonly #stored = new Set<string>();
  readonly #changed = new Map<string, Set<string>>();
  #seq: number | undefined;
  #epoch: unknown;
  #user: User | null = null;
  #isWhole = false;
  /** Only one client stores the stores: one that lags would undo newer changes. */
  #isLeader = false;
  /** A later stored change is not replaced by an earlier one. */
  #leastSeq = 0;

  constructor(client: KeptClient, includes: (store: string) => boolean) {
    this.#client = client;
    this.#includes = includes;
  }

  /** `stored` are the stores as this client knows them; null stores all anew, once the client has caught up with `leastSeq`. */
  lead(stored: readonly string[] | null, leastSeq = 0): void {
    this.#leastSeq = leastSeq;
    this.#isLeader = true;
    this.#isWhole = stored === null || !stored.every(this.#includes);
    this.#stored.clear();
    if (!this.#isWhole) for (const name of stored ?? []) this.#stored.add(name);
  }

  /** Changes may be numbered anew. */
  joined(): void {
    this.#leastSeq = 0;
  }

  /** The room's entry of a key may have changed. */
  confirmed(store: string, key: string | undefined): void {
    if (key === undefined || !this.#stored.has(store)) return;
    getOrAdd(this.#changed, store, () => new Set()).add(key);
  }

  /** Null if there is nothing, or while the entries of a store are not of one moment. */
  take(): StoresChange | null {
    const { seq, epoch } = this.#client.changeStream;
    if (!this.#isLeader || seq === undefined || seq < this.#leastSeq) return null;
    const opened = [...this.#client.stores.opened].filter(([name]) => this.#includes(name));
    if (opened.some(([, { state }]) => state === "stale")) return null;
    const complete = opened.filter(([, { state }]) => state !== "unloaded");
    const added = complete.filter(([name]) => !this.#stored.has(name));
    const user = this.#client.users.get(this.#client.claims);
    const isThen = seq === this.#seq && epoch === this.#epoch && user === this.#user;
    const isSame = added.length === 0 && this.#changed.size === 0 && isThen;
    if (complete.length === 0 || (isSame && !this.#isWhole)) return null;
    const replicas = complete.map(([, { replica }]) => replica);
    const change = this.#describe(seq, user, replicas);
    for (const [name] of added) this.#stored.add(name);
    this.#changed.clear();
    this.#isWhole = false;
    this.#seq = seq;
    this.#epoch = epoch;
    this.#user = user;
    return change;
  }

  #describe(seq: number, user: User | null, complete: readonly Replica[]): StoresChange {
    const put: KeptEntry[] = [];
    const removed: { store: string; key: string }[] = [];
    const replaced: string[] = [];
    for (const { name: store, entries } of complete) {
      const isStored = this.#stored.has(store);
      if (!isStored) replaced.push(store);
      for (const key of (isStored ? this.#changed.get(store) : entries.confirmed) ?? []) {
        const { value, version } = entries.getConfirmed(key);
        if (version === 0) removed.push({ store, key });
        else put.push({ store, key, value, version });
      }
    }
    const stores = complete.map(({ name }) => name);
    return {
      seq,
      epoch: this.#client.changeStream.epoch,
      user: user === null ? undefined : recordOf(user),
      stores,
      replaced: this.#isWhole ? "all" : replaced,
      put,
      removed,
    };
  }
}

const recordOf = ({ follow: _, unfollow: __, ...record }: User): UserRecord => record;
