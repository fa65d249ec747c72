/** The functions that change a store, as components call them. */
import type { Store } from "../client/index.ts";

/** Writes are visible at once, and rolled back if their promise is rejected. */
export type StoreActions<Value, Input = Value, Patch = Partial<Value>> = Pick<
  Store<Value, Input, Patch>,
  "set" | "update" | "delete" | "batch"
>;

/** The store's functions, to be called without the store. */
export function actionsOf<Value>(store: Store<Value, Value, Partial<Value>>): StoreActions<Value> {
  type Actions = StoreActions<Value>;
  // `bind` keeps only the last of several signatures.
  return {
    set: store.set.bind(store) as Actions["set"],
    update: store.update.bind(store) as Actions["update"],
    delete: store.delete.bind(store) as Actions["delete"],
    batch: store.batch.bind(store),
  };
}
