/** `client.stores`: the declared stores, and any other by its name. */
import type { Runtime } from "../../core/runtime.ts";
import type { Connection } from "../connection/connection.ts";
import { isCount } from "../connection/frames.ts";
import type { Action } from "./entries.ts";
import { History } from "./history.ts";
import type { StorePersistence } from "./persistence.ts";
import type { ChangeNotice } from "./replica.ts";
import type { InputOf, PatchOf, StoreShapes, ValueOf } from "./shapes.ts";
import { Store, type StoreContext } from "./store.ts";
import { WriteQueue } from "./write-queue.ts";

/** The declared stores by their names. */
export type StoresOf<Shapes extends StoreShapes> = {
  readonly [Name in keyof Shapes]: Store<ValueOf<Shapes[Name]>, InputOf<Shapes[Name]>, PatchOf<Shapes[Name]>>;
};

const ACTIONS: readonly unknown[] = ["set", "update", "delete"] satisfies Action[];
const isAction = (value: unknown): value is Action => ACTIONS.includes(value);

export class Stores {
  readonly queue: WriteQueue;
  readonly history = new History();
  readonly #context: StoreContext;
  readonly #shapes: StoreShapes;
  readonly #byName = new Map<string, Store>();

  constructor(connection: Connection, shapes: StoreShapes, runtime: Runtime, persistence?: StorePersistence) {
    const { requests } = connection;
    this.queue = new WriteQueue(requests, runtime, persistence);
    const { queue, history } = this;
    this.#context = {
      requests,
      queue,
      history,
      persistence,
      download: async (...load) => {
        const module = await import("../connection/download.ts").catch(() => null);
        return module?.downloadStore(connection, ...load);
      },
      userId: () => connection.userId,
    };
    this.#shapes = shapes;
    connection.changeStream.handle("storeChanged", ({ store, key, action, value, version, by }) => {
      if (typeof store !== "string" || typeof key !== "string" || !isAction(action) || !isCount(version))
        return;
      const change: ChangeNotice = { key, action, value, version, by: typeof by === "string" ? by : null };
      this.#byName.get(store)?.replica.receive(change);
    });
    connection.changeStream.onJoined(({ changes }) => {
      const loading = [...this.#byName.values()].map((store) => store.replica.rejoin(changes === null));
      this.queue.joined();
      return Promise.all(loading);
    });
  }

  get(name: string): Store {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const shape = Object.hasOwn(this.#shapes, name) ? (this.#shapes[name] ?? null) : null;
    const store = new Store(name, shape, this.#context);
    this.#byName.set(name, store);
    return store;
  }

  get opened(): ReadonlyMap<string, Store> {
    return this.#byName;
  }

  declared(): Record<string, Store> {
    const stores: Record<string, Store> = Object.create(null);
    for (const name of Object.keys(this.#shapes)) stores[name] = this.get(name);
    return stores;
  }
}
