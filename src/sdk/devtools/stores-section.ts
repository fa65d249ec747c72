/** The section of the stores, as a tree: each with its latest changes and its entries. */
import { add, Disclosure, element, type Item, ItemList, setText } from "./elements.ts";
import { emptyNote, MAX_ENTRIES, row, ValueItem } from "./items.ts";
import { summary } from "./json.ts";
import type { Section } from "./sections.ts";
import type { RecentChange, StoreView } from "./views.ts";

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
