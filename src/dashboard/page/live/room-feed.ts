/** The messages of a room that pages only show: broadcasts, and each write to a store. */
import type { AtriumClient } from "atrium/client";
import { inspections } from "atrium/inspection";
import type { FeedItem } from "./stream.ts";

export class RoomFeed {
  readonly #listeners = new Set<(item: FeedItem) => void>();

  /** Takes these events from a client of the dashboard, which keeps no copies of stores and has no listeners of its own. */
  constructor(client: AtriumClient) {
    const stream = inspections.get(client)?.connection.changeStream;
    stream?.handle("broadcast", ({ event, data, from }) =>
      this.#notify({ type: "broadcast", event: String(event), data, by: userOf(from) }),
    );
    stream?.handle("storeChanged", ({ store, key, action, value, by }) =>
      this.#notify({
        type: "write",
        store: String(store),
        key: String(key),
        value,
        isDeletion: action === "delete",
        by: userOf(by),
      }),
    );
  }

  /** Returns a function that removes the listener. */
  listen(listener: (item: FeedItem) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(item: FeedItem): void {
    for (const listener of this.#listeners) listener(item);
  }
}

const userOf = (by: unknown): string | null => (typeof by === "string" ? by : null);
