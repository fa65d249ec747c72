/** The panel's sections: who is online, the stores as a tree, and the writes that were not confirmed. */
import { add, Disclosure, element, type Item, ItemList, setText } from "./elements.ts";
import { pretty, summary } from "./json.ts";
import type { Monitor, RecentChange, StoreView } from "./monitor.ts";

/** How many entries of a store are shown. */
const MAX_ENTRIES = 200;

export interface Section {
  readonly element: Element;
  /** Shows the client as it is now. */
  show(monitor: Monitor): void;
}

/** A key with its value: one line, and the whole value when it is opened. */
class ValueItem implements Item<unknown> {
  readonly #part: Disclosure;
  readonly #text = element("pre", { tabindex: "0", role: "region" });
  #value: unknown;
  #isNew = true;

  constructor(key: string) {
    this.#part = new Disclosure(key);
    this.#text.setAttribute("aria-label", `Value of ${key}`);
    add(this.#part.element, this.#text);
    this.#part.onOpen(() => setText(this.#text, pretty(this.#value)));
  }

  get element(): Element {
    return this.#part.element;
  }

  show(value: unknown): void {
    if (Object.is(value, this.#value) && !this.#isNew) return;
    this.#value = value;
    this.#part.note(summary(value));
    if (this.#part.isOpen) setText(this.#text, pretty(value));
    if (!this.#isNew) this.#mark();
    this.#isNew = false;
  }

  /** Lets the line light up, also while an earlier change is still lit. */
  #mark(): void {
    const { classList } = this.element;
    classList.remove("changed");
    requestAnimationFrame(() => classList.add("changed"));
  }
}

const row = (): Item<readonly string[]> => {
  const created = element("li", { class: "row" });
  return {
    element: created,
    show: (texts) => {
      const text = texts.join("  ");
      if (created.textContent !== text) created.textContent = text;
    },
  };
};

/** Says that there is nothing, while there is nothing. */
function emptyNote(text: string): { readonly element: HTMLElement; show(isEmpty: boolean): void } {
  const note = element("p", { class: "none" }, text);
  return {
    element: note,
    show: (isEmpty) => {
      note.hidden = !isEmpty;
    },
  };
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
  reason === "remote" ? `by ${by ?? "your back end"}` : reason,
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
