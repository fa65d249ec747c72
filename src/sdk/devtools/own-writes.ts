/** The application's own calls, which `changed` does not report: found among the unconfirmed writes of a store. */
import type { Store, StoreChange } from "../client/index.ts";

/** A write that no response has answered: the same object while later calls become part of it. */
type Write = Store["unconfirmed"][number];

/**
 * Calls `written` for each write that is not among those that `isReported` recognizes by their change. Several calls of
 * one key and one turn are one. Returns a function that ends this.
 */
export function watchOwnWrites(
  store: Store,
  isReported: (change: StoreChange<unknown>) => boolean,
  written: (write: Write) => void,
): () => void {
  /** By the value that it had. */
  const known = new WeakMap<Write, unknown>();
  let isDue = false;
  const learn = (write: Write) => known.set(write, write.value);
  const find = () => {
    isDue = false;
    for (const write of store.unconfirmed) {
      if (known.has(write) && known.get(write) === write.value) continue;
      learn(write);
      written(write);
    }
  };
  for (const write of store.unconfirmed) learn(write);
  const stops = [
    store.on("changed", (change) => {
      if (isReported(change))
        for (const write of store.unconfirmed) if (write.key === change.key) learn(write);
    }),
    store.on("updated", () => {
      // Later in the turn, because a gesture can write hundreds of entries.
      if (!isDue) queueMicrotask(find);
      isDue = true;
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
