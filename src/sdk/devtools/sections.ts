/** The panel's sections: who is online, the stores, and the unconfirmed writes. */
import { add, Disclosure, element, type Item, ItemList, setText } from "./elements.ts";
import { emptyNote, MAX_ENTRIES, row, summary, ValueItem } from "./items.ts";
import type { Monitor, RecentChange, StoreView } from "./monitor.ts";

export interface Section {
  readonly element: Element;
  show(monitor: Monitor): void;
}

export function usersSection(): Section {
  const part = new Disclosure("Users", { isOpen: true });
  const body = element("div");
  const list = new ItemList<unknown>(body, (name) => new ValueItem(name.slice(name.indexOf(" ") + 1)));
  const none = emptyNote("No one is online.");
  add(part.element, body, none.element);
  return {
    element: part.element,
    show: ({ client }) => {
      const online = [...client.users.online.values()];
      const states = client.presence.getStates();
      part.note(`${online.length} online`);
      none.show(online.length === 0);
      list.show(
        online.map(({ id, name }) => {
          const label = id === client.userId ? `${name} (you)` : name;
          return [`${id} ${label}`, states.get(id) ?? null] as const;
        }),
      );
    },
  };
}

export function unconfirmedSection(): Section {
  const part = new Disclosure("Unconfirmed writes", { isOpen: true });
  const rows = element("ol");
  const list = new ItemList<readonly string[]>(rows, row);
  const none = emptyNote("The service has confirmed every write.");
  add(part.element, rows, none.element);
  return {
    element: part.element,
    show: (monitor) => {
      const writes = monitor.unconfirmedWrites();
      part.note(String(writes.length));
      none.show(writes.length === 0);
      list.show(
        writes.slice(0, MAX_ENTRIES).map(({ store, key, action, value }, index) => {
          return [
            String(index),
            [action, `${store}/${key}`, action === "delete" ? "" : summary(value)],
          ] as const;
        }),
      );
    },
  };
}

class StoreItem implements Item<StoreView> {
  readonly #part: Disclosure;
  readonly #entries: ItemList<unknown>;
  readonly #more = emptyNote("");
  readonly #changes = new Disclosure("Latest changes");
  readonly #rows: ItemList<readonly string[]>;
  #view: StoreView | null = null;

  constructor(name: string) {
    this.#part = new Disclosure(name);
    const [entries, rows] = [element("div"), element("ol")];
    this.#entries = new ItemList(entries, (key) => new ValueItem(key));
    this.#rows = new ItemList(rows, row);
    add(this.#changes.element, rows);
    add(this.#part.element, this.#changes.element, entries, this.#more.element);
    this.#part.onOpen(() => this.#showContent());
  }

  get element(): Element {
    return this.#part.element;
  }

  show(view: StoreView): void {
    this.#view = view;
    this.#part.note(`${Object.keys(view.entries).length} entries`);
    if (this.#part.isOpen) this.#showContent();
  }

  #showContent(): void {
    const { entries = {}, changes = [] } = this.#view ?? {};
    const all = Object.entries(entries);
    this.#entries.show(all.slice(0, MAX_ENTRIES));
    this.#more.show(all.length > MAX_ENTRIES);
    setText(this.#more.element, `${all.length - MAX_ENTRIES} more`);
    this.#changes.note(String(changes.length));
    this.#rows.show(changes.map((change) => [String(change.number), describe(change)] as const));
  }
}

const describe = ({ at, key, action, value, by, reason }: RecentChange): readonly string[] => [
  at.toLocaleTimeString(),
  action,
  key,
  value === undefined ? "" : summary(value),
  reason === "remote" || reason === "own" ? `by ${by ?? "your back end"}` : reason,
];

export function storesSection(): Section {
  const part = new Disclosure("Stores", { isOpen: true });
  const body = element("div");
  const list = new ItemList<StoreView>(body, (name) => new StoreItem(name));
  const none = emptyNote("The client has not opened a store.");
  add(part.element, body, none.element);
  return {
    element: part.element,
    show: (monitor) => {
      const stores = monitor.stores();
      part.note(`${stores.length} open`);
      none.show(stores.length === 0);
      list.show(stores.map((store) => [store.name, store] as const));
    },
  };
}
