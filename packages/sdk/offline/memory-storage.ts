/** A storage in memory, for tests and for clients of one process that share it. */
import { getOrAdd } from "../core/emitter.ts";
import type * as offline from "./storage.ts";

/** Gives each lock to one client at a time, in the order of their requests. */
function memoryLocks(): offline.OfflineRoom["lock"] {
  const lines = new Map<string, (() => void)[]>();
  return (name, signal) => {
    const line = getOrAdd<string, (() => void)[]>(lines, name, () => []);
    if (signal.aborted) return Promise.resolve(null);
    return new Promise((resolve) => {
      const grant = () => resolve(leave);
      const leave = () => {
        const wasFirst = line[0] === grant;
        const index = line.indexOf(grant);
        if (index >= 0) line.splice(index, 1);
        if (wasFirst) line[0]?.();
      };
      const abort = () => {
        if (line[0] === grant) return;
        leave();
        resolve(null);
      };
      signal.addEventListener("abort", abort, { once: true });
      line.push(grant);
      if (line[0] === grant) grant();
    });
  };
}

const idOf = ({ writer, number }: offline.KeptWriteId): string => JSON.stringify([writer, number]);
const placeOf = ({ store, key }: { readonly store: string; readonly key: string }): string =>
  JSON.stringify([store, key]);

class MemoryScope {
  room: Omit<offline.KeptStores, "entries"> | null = null;
  readonly entries = new Map<string, offline.KeptEntry>();
  readonly writes = new Map<string, offline.KeptWrite>();
  readonly listeners = new Set<offline.OfflineListener>();

  apply({ writes, settled, stores }: offline.KeptChange): void {
    for (const write of writes) this.writes.set(idOf(write), structuredClone(write));
    for (const id of settled) this.writes.delete(idOf(id));
    if (stores === null) return;
    const { seq, epoch, user, replaced, put, removed } = stores;
    for (const [place, { store }] of this.entries)
      if (replaced === "all" || replaced.includes(store)) this.entries.delete(place);
    for (const entry of removed) this.entries.delete(placeOf(entry));
    for (const entry of put) this.entries.set(placeOf(entry), structuredClone(entry));
    this.room = structuredClone({ seq, epoch, user, stores: stores.stores });
  }
}

/** Clients with the same storage share its content, as the tabs of a browser do. */
export function memoryStorage(): offline.OfflineStorage {
  const locks = memoryLocks();
  let scopes = new Map<string, MemoryScope>();
  return {
    open: async (name, listener) => {
      const scope = getOrAdd(scopes, name, () => new MemoryScope());
      scope.listeners.add(listener);
      return openScope(scope, listener, (lock, signal) => locks(`${name} ${lock}`, signal));
    },
    clear: async () => {
      const cleared = scopes;
      scopes = new Map();
      for (const { listeners } of cleared.values())
        for (const listener of [...listeners]) listener.closed("It was deleted");
    },
  };
}

function openScope(
  scope: MemoryScope,
  listener: offline.OfflineListener,
  lock: offline.OfflineRoom["lock"],
): offline.OfflineRoom {
  return {
    readStores: async () => {
      const { room, entries } = scope;
      return room && structuredClone({ ...room, entries: [...entries.values()] });
    },
    readWrites: async () => structuredClone([...scope.writes.values()]).sort((a, b) => a.number - b.number),
    apply: async (change) => scope.apply(change),
    lock,
    announce: (message) => {
      for (const other of [...scope.listeners]) if (other !== listener) other.announced(message);
    },
    close: () => void scope.listeners.delete(listener),
  };
}
