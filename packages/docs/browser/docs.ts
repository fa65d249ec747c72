/** The script of the documentation's pages: search, sections, colored samples in one language, and requests to try. */
import { addCopyButton, button, element } from "./elements.ts";
import { highlightSamples } from "./highlight.ts";
import { enableSearch } from "./search.ts";
import { enableSections } from "./sections.ts";
import { enableTrying } from "./try-it.ts";

const LANGUAGE_KEY = "atrium-docs-language";

/** Groups of samples in several languages, which stand below each other without this script. */
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

for (const group of groups) {
  const languages = figuresOf(group).map(languageOf);
  const tabs = element("div", ...languages.map((one) => button(one, () => chooseLanguage(one))));
  tabs.className = "tabs";
  group.insertBefore(tabs, group.firstChild);
  showLanguage(group, localStorage.getItem(LANGUAGE_KEY) ?? "");
}
for (const pre of document.querySelectorAll<HTMLElement>("figure pre")) addCopyButton(pre);
highlightSamples();
enableSearch();
enableSections();
enableTrying();
