/** What the panel shows of one client: read from it when it is shown, and its changes as they happen. */
import type { Store, StoreChange } from "../client/index.ts";
import { type Inspection, inspectionOf } from "../client/inspection.ts";
import { ConnectionMonitor } from "./connection-monitor.ts";
import { watchOwnWrites } from "./own-writes.ts";
import type { InspectedClient, RecentChange, StoreView, UnconfirmedWrite } from "./views.ts";

/** How many of a store's latest changes are kept. */
const KEPT_CHANGES = 20;

export class Monitor extends ConnectionMonitor {
  readonly #inspection: Inspection;
  readonly #changes = new Map<string, RecentChange[]>();
  readonly #stops: (() => void)[] = [];
  #latest = 0;

  constructor(client: InspectedClient) {
    super(client);
    this.#inspection = inspectionOf(client);
    // Otherwise the service sends no presence to a client that reads none.
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

  /** The writes that the service has not confirmed. */
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
