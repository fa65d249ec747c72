/** The script of the documentation's pages: search, copy buttons, a language for all samples, and requests to try. */
import { addCopyButton, button, element } from "./elements.ts";
import { type SearchEntry, search } from "./search-index.ts";
import { enableTrying } from "./try-it.ts";

const LANGUAGE_KEY = "atrium-docs-language";

/** Groups of samples in several languages. Without this script, their samples stand below each other. */
const groups = [...document.querySelectorAll<HTMLElement>(".languages")];

const figuresOf = (group: HTMLElement): HTMLElement[] => [...group.querySelectorAll("figure")];

const languageOf = (figure: HTMLElement): string => figure.querySelector("figcaption")?.textContent ?? "";

/** Shows one language of a group: the first, where the group lacks the chosen one. */
function showLanguage(group: HTMLElement, language: string): void {
  const figures = figuresOf(group);
  const shown = figures.find((figure) => languageOf(figure) === language) ?? figures[0];
  for (const figure of figures) figure.hidden = figure !== shown;
  for (const tab of group.querySelectorAll(".tabs button"))
    tab.ariaPressed = String(shown !== undefined && tab.textContent === languageOf(shown));
}

/** One choice counts for all groups and pages. */
function chooseLanguage(language: string): void {
  localStorage.setItem(LANGUAGE_KEY, language);
  for (const group of groups) showLanguage(group, language);
}

const MAX_RESULTS = 10;

/** Loaded when the box is first used. */
let index: Promise<readonly SearchEntry[]> | undefined;
function loadIndex(): Promise<readonly SearchEntry[]> {
  index ??= fetch("/docs/search.json").then((response) => response.json());
  return index;
}

/** Makes the box work: `/` goes there, the arrow keys move through the results, Escape closes them. */
function enableSearch(): void {
  const box = document.querySelector<HTMLElement>(".search");
  const input = box?.querySelector("input");
  const list = box?.querySelector<HTMLElement>(".results");
  if (!box || !input || !list) return;
  box.hidden = false;

  const close = () => {
    list.hidden = true;
  };
  const update = async () => {
    const entries = await loadIndex();
    const found = search(entries, input.value, MAX_RESULTS);
    list.replaceChildren(...(found.length > 0 ? found.map(itemOf) : [nothing()]));
    list.hidden = input.value.trim() === "";
  };
  input.addEventListener("focus", () => void loadIndex());
  input.addEventListener("input", () => void update());
  list.addEventListener("click", close); // a result may be on this page
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      close();
      input.focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move([input, ...list.querySelectorAll("a")], event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && event.target === input) {
      list.querySelector("a")?.click();
    }
  });
  document.addEventListener("click", ({ target }) => {
    if (target instanceof Node && !box.contains(target)) close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target instanceof HTMLInputElement)
      return;
    event.preventDefault();
    input.focus();
  });
}

function move(places: readonly HTMLElement[], step: number): void {
  const at = places.findIndex((place) => place.matches(":focus"));
  places[Math.min(places.length - 1, Math.max(0, at + step))]?.focus();
}

function itemOf({ title, page, url, text }: SearchEntry): HTMLElement {
  const about = [title === page ? "" : page, text].filter(Boolean).join(" · ");
  const link = element("a", element("strong", title), element("span", about));
  link.href = url;
  return element("li", link);
}

const nothing = (): HTMLElement => element("li", "Nothing found");

for (const group of groups) {
  const languages = figuresOf(group).map(languageOf);
  const tabs = element("div", ...languages.map((one) => button(one, () => chooseLanguage(one))));
  tabs.className = "tabs";
  group.insertBefore(tabs, group.firstChild);
  showLanguage(group, localStorage.getItem(LANGUAGE_KEY) ?? "");
}
for (const pre of document.querySelectorAll<HTMLElement>("figure pre")) addCopyButton(pre);
enableSearch();
enableTrying();
