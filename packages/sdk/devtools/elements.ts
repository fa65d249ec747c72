/** Elements of the panel: updates keep focus, selection and open parts. */
import { getOrAdd } from "../core/emitter.ts";

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
      const item = getOrAdd(this.#items, key, this.#create);
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

  onOpen(action: () => void): void {
    this.element.addEventListener("toggle", () => this.isOpen && action());
  }
}

const MAX_LINE = 80;
const MAX_TEXT = 20_000;

const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text);

export const summary = (value: unknown): string => cut(JSON.stringify(value) ?? "nothing", MAX_LINE);

const pretty = (value: unknown): string => cut(JSON.stringify(value, null, 2) ?? "nothing", MAX_TEXT);

/** One line, and the whole value when it is opened. */
export class ValueItem implements Item<unknown> {
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

  /** Lights the line up, also while an earlier change is lit. */
  #mark(): void {
    const { classList } = this.element;
    classList.remove("changed");
    requestAnimationFrame(() => classList.add("changed"));
  }
}

export const row = (): Item<readonly string[]> => {
  const created = element("li", { class: "row" });
  return {
    element: created,
    show: (texts) => {
      const text = texts.join("  ");
      if (created.textContent !== text) created.textContent = text;
    },
  };
};

export function emptyNote(text: string): { readonly element: HTMLElement; show(isEmpty: boolean): void } {
  const note = element("p", { class: "none" }, text);
  return {
    element: note,
    show: (isEmpty) => {
      note.hidden = !isEmpty;
    },
  };
}
