/** Items of the sections: a value below its key, a row of texts, and a note for an empty list. */
import { add, Disclosure, element, type Item, setText } from "./elements.ts";

const MAX_LINE = 80;
const MAX_TEXT = 20_000;

const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text);

export const summary = (value: unknown): string => cut(JSON.stringify(value) ?? "nothing", MAX_LINE);

const pretty = (value: unknown): string => cut(JSON.stringify(value, null, 2) ?? "nothing", MAX_TEXT);

export const MAX_ENTRIES = 200;

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
