/** Sections of the panel: users online, stores, and unconfirmed writes. */
import {
  add,
  Disclosure,
  element,
  emptyNote,
  type Item,
  ItemList,
  row,
  setText,
  summary,
  ValueItem,
} from "./elements.ts";
import type { Monitor, RecentChange, StoreView } from "./monitor.ts";

interface Section {
  readonly element: Element;
  show(monitor: Monitor): void;
}

/** A section with a list, and a note while the list is empty. */
function listSection<Data>(
  title: string,
  list: ItemList<Data>,
  { emptyText, noteOf }: { readonly emptyText: string; noteOf(items: number, monitor: Monitor): string },
  read: (monitor: Monitor) => readonly (readonly [key: string, data: Data])[],
): Section {
  const part = new Disclosure(title, { isOpen: true });
  const none = emptyNote(emptyText);
  add(part.element, list.parent, none.element);
  return {
    element: part.element,
    show: (monitor) => {
      const items = read(monitor);
      part.note(noteOf(items.length, monitor));
      none.show(items.length === 0);
      list.show(items);
    },
  };
}

function usersSection(): Section {
  const create = (name: string) => new ValueItem(name.slice(name.indexOf(" ") + 1));
  const list = new ItemList<unknown>(element("div"), create);
  const texts = { emptyText: "No one is online.", noteOf: (users: number) => `${users} online` };
  return listSection("Users", list, texts, ({ client }) => {
    const states = client.presence.getStates();
    return [...client.users.online.values()].map(({ id, name }) => {
      const label = id === client.userId ? `${name} (you)` : name;
      return [`${id} ${label}`, states.get(id) ?? null];
    });
  });
}

const MAX_ENTRIES = 200;

function unconfirmedSection(): Section {
  const list = new ItemList(element("ol"), row, MAX_ENTRIES);
  const emptyText = "The service has confirmed every write.";
  return listSection("Unconfirmed writes", list, { emptyText, noteOf: String }, (monitor) =>
    monitor.unconfirmedWrites().map(({ store, key, action, value }, index) => {
      const shown = action === "delete" ? "" : summary(value);
      return [String(index), [action, `${store}/${key}`, shown]];
    }),
  );
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
    this.#entries = new ItemList(entries, (key) => new ValueItem(key), MAX_ENTRIES);
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
    this.#entries.show(all);
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

function storesSection(): Section {
  const list = new ItemList(element("div"), (name) => new StoreItem(name));
  const emptyText = "The client has not opened a store.";
  const noteOf = (stores: number) => `${stores} open`;
  return listSection("Stores", list, { emptyText, noteOf }, (monitor) =>
    monitor.stores().map((store) => [store.name, store]),
  );
}

const MAX_MESSAGES = 50;

const ageOf = (at: Date): string => `${Math.floor((Date.now() - at.getTime()) / 1000)} s ago`;

function networkSection(): Section {
  const list = new ItemList(element("ol"), row, MAX_MESSAGES);
  const emptyText = "No message has passed since the panel exists.";
  const noteOf = (_: number, { traffic }: Monitor) => {
    const { sent, received } = traffic.bytesPerSecond();
    return `${received} bytes/s in, ${sent} bytes/s out`;
  };
  return listSection("Network", list, { emptyText, noteOf }, ({ traffic }) =>
    traffic.messages().map(({ number, isSent, type, bytes, at, text }) => {
      return [String(number), [isSent ? "↑" : "↓", `${text}.`, type, `${bytes} bytes`, ageOf(at)]];
    }),
  );
}

export const panelSections = (): readonly Section[] => [
  networkSection(),
  usersSection(),
  storesSection(),
  unconfirmedSection(),
];
