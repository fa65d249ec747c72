/** Tabs: samples in several languages, of which the reader chooses one for all pages, and the files of a folder. */
import { button, element } from "./elements.ts";

const LANGUAGE_KEY = "atrium-docs-language";

/** Figures that stand below each other without this script, by the words of their captions. */
class Tabs {
  readonly #figures: ReadonlyMap<string, HTMLElement>;
  readonly #buttons: readonly HTMLButtonElement[];

  constructor(group: HTMLElement, label: string, choose: (name: string, tabs: Tabs) => void) {
    this.#figures = new Map(
      [...group.querySelectorAll<HTMLElement>("figure")].map((figure) => [
        figure.querySelector("figcaption")?.textContent ?? "",
        figure,
      ]),
    );
    this.#buttons = [...this.#figures.keys()].map((name) => button(name, () => choose(name, this)));
    const list = element("div", ...this.#buttons);
    list.className = "tabs";
    list.role = "group";
    list.ariaLabel = label;
    group.insertBefore(list, group.firstChild);
  }

  /** Shows one figure: the first, where the group lacks the chosen one. */
  show(name: string): void {
    const shown = this.#figures.has(name) ? name : [...this.#figures.keys()][0];
    for (const [each, figure] of this.#figures) figure.hidden = each !== shown;
    for (const each of this.#buttons) each.ariaPressed = String(each.textContent === shown);
  }
}

const all = (selector: string): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(selector)];

export function enableTabs(): void {
  const groups: Tabs[] = [];
  const choose = (language: string) => {
    localStorage.setItem(LANGUAGE_KEY, language);
    for (const group of groups) group.show(language);
  };
  for (const group of all(".languages")) groups.push(new Tabs(group, "Language", choose));
  for (const group of groups) group.show(localStorage.getItem(LANGUAGE_KEY) ?? "");
  for (const group of all(".files")) new Tabs(group, "Files", (name, files) => files.show(name)).show("");
}
