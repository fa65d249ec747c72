/** The hook for a store of the room. */
import { useEffect, useMemo } from "react";
import type { Store, WriteOptions, Written } from "../client/index.ts";
import type { AnyClient } from "./any-client.ts";
import { useRoomHandle } from "./context.ts";
import { useExternalSource } from "./external-source.ts";
import { reportUnlessDisconnected } from "./shared-connection.ts";

/** Writes are visible at once, and rolled back if their promise is rejected. */
export interface StoreActions<Value> {
  /** Writes a whole value. */
  set(key: string, value: Value, options?: WriteOptions): Promise<Written>;
  /** Merges fields into the top level of a value. */
  update(key: string, change: Partial<Value>, options?: WriteOptions): Promise<Written>;
  delete(key: string, options?: WriteOptions): Promise<Written>;
}

/**
 * The values of a store by key, the same object until one of them changes, and functions that change them. `Value` is
 * not checked at run time: a shape checks what this client writes, but other clients can write anything.
 */
export function useStore<Value = unknown>(
  name: string,
): [Readonly<Record<string, Value>>, StoreActions<Value>] {
  const { client, connection } = useRoomHandle();
  const { store, source, actions } = useMemo(() => {
    const found = storeOf<Value>(client, name);
    return {
      store: found,
      source: {
        subscribe: (changed: () => void) => found.on("updated", changed),
        read: () => found.getAll(),
      },
      actions: {
        set: found.set.bind(found),
        update: found.update.bind(found),
        delete: found.delete.bind(found),
      },
    };
  }, [client, name]);
  useEffect(
    () => connection.whenConnected(() => store.sync().catch(reportUnlessDisconnected)),
    [connection, store],
  );
  return [useExternalSource(source), actions];
}

const storeOf = <Value>(client: AnyClient, name: string): Store<Value, Value, Partial<Value>> =>
  client.store(name) as unknown as Store<Value, Value, Partial<Value>>;
