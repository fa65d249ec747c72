/** Elements of the panel: updates keep focus, selection and open parts. */

type Attributes = Readonly<Record<string, string>>;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  add(created, ...children);
  return created;
}

/** `append` also belongs to an interface of Workers, whose types the tests load. */
export function add(parent: Node, ...children: readonly (Node | string)[]): void {
  for (const child of children)
    parent.appendChild(typeof child === "string" ? document.createTextNode(child) : child);
}

export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

export interface Item<Data> {
  readonly element: Element;
  show(data: Data): void;
}

/** One child per key, in the order of the data. */
export class ItemList<Data> {
  readonly parent: Element;
  readonly #create: (key: string) => Item<Data>;
  readonly #max: number;
  readonly #items = new Map<string, Item<Data>>();

  /** Shows the first `max` items. */
  constructor(parent: Element, create: (key: string) => Item<Data>, max = Infinity) {
    this.parent = parent;
    this.#create = create;
    this.#max = max;
  }

  show(all: readonly (readonly [key: string, data: Data])[]): void {
    const data = all.slice(0, this.#max);
    const keys = new Set(data.map(([key]) => key));
    for (const [key, item] of this.#items) {
      if (keys.has(key)) continue;
      item.element.remove();
      this.#items.delete(key);
    }
    for (const [index, [key, each]] of data.entries()) {
      const item = this.#items.get(key) ?? this.#create(key);
      this.#items.set(key, item);
      item.show(each);
      const present = this.parent.children[index];
      if (present !== item.element) this.parent.insertBefore(item.element, present ?? null);
    }
  }
}

/** A part that can be opened, with a title, and a note beside it. */
export class Disclosure {
  readonly element: HTMLDetailsElement;
  readonly #note = element("span", { class: "note" });
  readonly #title: HTMLElement;

  constructor(title: string, { isOpen = false } = {}) {
    this.#title = element("b", {}, title);
    this.element = element("details", {}, element("summary", {}, this.#title, this.#note));
    this.element.open = isOpen;
  }

  get isOpen(): boolean {
    return this.element.open;
  }

  note(text: string): void {
    setText(this.#note, text);
  }

  /** Closed parts are not rendered. */
  onOpen(action: () => void): void {
    this.element.addEventListener("toggle", () => this.isOpen && action());
  }
}
