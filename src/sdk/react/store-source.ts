/** A store as components read it: loaded and kept up to date once a component reads it. */
import type { Store } from "../client/index.ts";
import { ExternalSource, type Source, together, type Unsubscribe } from "./external-source.ts";
import { Readiness } from "./readiness.ts";
import { type AnyClient, reportUnlessDisconnected, type SharedConnection } from "./shared-connection.ts";

/** Writes are visible at once, and rolled back if their promise is rejected. */
export type StoreActions<Value, Input = Value, Patch = Partial<Value>> = Pick<
  Store<Value, Input, Patch>,
  "set" | "update" | "delete" | "batch"
>;

/** The store's functions, bound to it. */
function actionsOf<Value>(store: Store<Value, Value, Partial<Value>>): StoreActions<Value> {
  type Actions = StoreActions<Value>;
  // `bind` keeps only the last of several signatures.
  return {
    set: store.set.bind(store) as Actions["set"],
    update: store.update.bind(store) as Actions["update"],
    delete: store.delete.bind(store) as Actions["delete"],
    batch: store.batch.bind(store),
  };
}

/** The values of a store by key: the same object until one of them changes. */
export type StoreEntries<Value> = Readonly<Record<string, Value>>;

export interface StoreHandle<Value> {
  readonly source: Source<StoreEntries<Value>>;
  readonly actions: StoreActions<Value>;
  /** Whether all entries were loaded. */
  readonly loaded: Readiness;
}

export function openStore<Value>(
  client: AnyClient,
  connection: SharedConnection,
  name: string,
): StoreHandle<Value> {
  const store = storeOf<Value>(client, name);
  const sync = () => store.sync().then(() => loaded.set(true));
  const watch = (changed: () => void): Unsubscribe =>
    together(
      store.on("updated", changed),
      connection.whenConnected(() => void sync().catch(reportUnlessDisconnected)),
    );
  const loaded = new Readiness(() => ({ done: sync(), release: () => {} }));
  const source = new ExternalSource<StoreEntries<Value>>(watch, () => store.getAll(), {});
  return { source, loaded, actions: actionsOf(store) };
}

/** Other clients can write anything: `Value` is an assumption. */
const storeOf = <Value>(client: AnyClient, name: string): Store<Value, Value, Partial<Value>> =>
  client.store(name) as unknown as Store<Value, Value, Partial<Value>>;
