/** The view of one client in the panel: its stores, their changes, and its unconfirmed writes. */
import type { ChangeReason, Store, StoreChange } from "../client/index.ts";
import { type Inspection, inspectionOf } from "../client/inspection.ts";
import { ConnectionMonitor, type InspectedClient } from "./connection-monitor.ts";

export interface RecentChange extends Pick<StoreChange<unknown>, "key" | "action" | "value"> {
  /** `own`: a call of the application itself. */
  readonly reason: ChangeReason | "own";
  /** Counts the changes of all stores. */
  readonly number: number;
  readonly at: Date;
  /** The name of the user whose write it is, or the id of one who was deleted; null for your back end. */
  readonly by: string | null;
}

export interface StoreView {
  readonly name: string;
  readonly entries: Readonly<Record<string, unknown>>;
  /** The latest first. */
  readonly changes: readonly RecentChange[];
}

export interface UnconfirmedWrite {
  readonly store: string;
  readonly action: StoreChange<unknown>["action"];
  readonly key: string;
  readonly value: unknown;
}

/** An unanswered write: the same object while later calls become part of it. */
type Write = Store["unconfirmed"][number];

/**
 * Finds the application's own calls, which `changed` does not report, among the unconfirmed writes of a store. Calls
 * `written` for each write that `isReported` does not recognize. Returns a function that ends this.
 */
function watchOwnWrites(
  store: Store,
  isReported: (change: StoreChange<unknown>) => boolean,
  written: (write: Write) => void,
): () => void {
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
      // A gesture can write hundreds of entries in one turn.
      if (!isDue) queueMicrotask(find);
      isDue = true;
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

const KEPT_CHANGES = 20;

export class Monitor extends ConnectionMonitor {
  readonly #inspection: Inspection;
  readonly #changes = new Map<string, RecentChange[]>();
  readonly #stops: (() => void)[] = [];
  #latest = 0;

  constructor(client: InspectedClient) {
    super(client);
    this.#inspection = inspectionOf(client);
    // The service sends no presence to a client that reads none.
    this.#stops.push(client.presence.sync("*", () => {}));
  }

  override stop(): void {
    super.stop();
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** The stores that the client has opened, by name. */
  stores(): StoreView[] {
    return [...this.#inspection.stores.opened].map(([name, store]) => {
      const known = this.#changes.get(name);
      if (known === undefined) this.#watch(name, store);
      return { name, entries: store.getAll(), changes: known ?? [] };
    });
  }

  unconfirmedWrites(): readonly UnconfirmedWrite[] {
    return [...this.#inspection.stores.opened].flatMap(([store, { unconfirmed }]) =>
      unconfirmed.map(({ action, key, value }) => ({ store, action, key, value })),
    );
  }

  #watch(name: string, store: Store): void {
    this.#changes.set(name, []);
    const isByUser = ({ userId, reason }: StoreChange<unknown>) =>
      userId === this.client.userId && reason !== "reverted";
    this.#stops.push(
      store.on("changed", ({ userId, ...change }) => {
        const by = userId && (this.client.users.get({ userId })?.name ?? userId);
        this.#add(name, { ...change, by });
      }),
      watchOwnWrites(store, isByUser, ({ key, action }) => {
        this.#add(name, { key, action, value: store.get(key), by: "you", reason: "own" });
      }),
    );
  }

  #add(name: string, change: Omit<RecentChange, "number" | "at">): void {
    this.#latest += 1;
    const latest = { ...change, number: this.#latest, at: new Date() };
    this.#changes.set(name, [latest, ...(this.#changes.get(name) ?? [])].slice(0, KEPT_CHANGES));
  }
}
