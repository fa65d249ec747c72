/** The palette: what the search finds, by kind. The arrow keys move through it, Enter opens the first, Escape closes it. */
import { isComposing } from "atrium/internal/input-method";
import { element } from "./elements.ts";
import { type SearchEntry, searchIndexOf } from "./search-index.ts";

const MAX_FOUND = 40;
const MAX_OF_KIND = 6;
const SHOWN_CHARACTERS = 120;

/** Kinds by the addresses of their pages; the rest are guides. */
const KINDS = [
  ["Quickstarts", "/docs/quickstarts/"],
  ["API", "/docs/reference"],
  ["Decisions", "/docs/decisions/"],
] as const;

/** Before a word is typed. */
const PLACES = [
  { title: "Quickstarts", url: "/docs#quickstarts", text: "Ten minutes each, from an empty folder" },
  { title: "Tasks", url: "/docs/tasks", text: "What you want to do, and the section that does it" },
  { title: "API reference", url: "/docs/reference", text: "Every operation, with samples to try" },
  { title: "Errors", url: "/docs/guides/rest-api#errors", text: "Every code, and what to do about it" },
].map((place) => ({ ...place, page: "" }));

const kindOf = ({ title, url }: SearchEntry): string =>
  /^[A-Z]+(_[A-Z]+)+$|^[A-Z]{4,}$/.test(title)
    ? "Errors and settings"
    : (KINDS.find(([, start]) => url.startsWith(start))?.[0] ?? "Guides");

let index: Promise<ReturnType<typeof searchIndexOf>> | undefined;
function loadIndex() {
  index ??= fetch("/docs/search.json")
    .then((response): Promise<SearchEntry[]> => response.json())
    .then(searchIndexOf)
    .catch((error: unknown) => {
      index = undefined; // the next key tries again
      throw error;
    });
  return index;
}

let palette: { readonly dialog: HTMLDialogElement; readonly input: HTMLInputElement } | undefined;

/** Opens the palette, which becomes a part of `box`. */
export function openPalette(box: HTMLElement): void {
  palette ??= build(box);
  if (!palette.dialog.open) palette.dialog.showModal();
  palette.input.select();
  loadIndex().catch(reportError);
}

function build(box: HTMLElement): NonNullable<typeof palette> {
  const input = element("input");
  input.type = "search";
  input.ariaLabel = "Search the documentation";
  input.placeholder = "Search for a task, a method or an error code";
  input.autocomplete = "off";
  input.spellcheck = false;
  const results = element("div");
  results.className = "results";
  results.ariaLabel = "Results";
  results.role = "region";
  const dialog = element("dialog", input, results);
  dialog.className = "palette";
  dialog.ariaLabel = "Search";

  const show = (groups: Map<string, readonly SearchEntry[]>) =>
    results.replaceChildren(...[...groups].map(([kind, entries]) => groupOf(kind, entries)));
  const showPlaces = () => show(new Map([["Go to", PLACES]]));
  const update = async () => {
    const query = input.value.trim();
    if (query === "") return showPlaces();
    const search = await loadIndex();
    if (query !== input.value.trim()) return; // a later key has its own results
    const found = search(query, MAX_FOUND);
    if (found.length > 0) show(Map.groupBy(found, kindOf));
    else results.replaceChildren(nothing(query));
  };
  showPlaces();
  input.addEventListener("input", () => {
    update().catch((error: unknown) => {
      console.error("The search failed", error);
      results.replaceChildren(element("p", "The search could not be loaded. Type again to retry."));
    });
  });
  results.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("a")) dialog.close(); // a result may be on this page
  });
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close(); // its backdrop
  });
  dialog.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move([input, ...results.querySelectorAll("a")], event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && event.target === input) {
      results.querySelector("a")?.click();
    }
  });
  box.appendChild(dialog);
  return { dialog, input };
}

function move(places: readonly HTMLElement[], step: number): void {
  const at = places.findIndex((place) => place.matches(":focus"));
  places[Math.min(places.length - 1, Math.max(0, at + step))]?.focus();
}

function groupOf(kind: string, entries: readonly SearchEntry[]): HTMLElement {
  const title = element("p", kind);
  title.className = "group";
  const list = element("ul", ...entries.slice(0, MAX_OF_KIND).map(itemOf));
  list.ariaLabel = kind;
  return element("div", title, list);
}

function itemOf({ title, page, url, text }: SearchEntry): HTMLElement {
  const about = [title === page ? "" : page, text.slice(0, SHOWN_CHARACTERS)].filter(Boolean).join(" · ");
  const link = element("a", element("strong", title), element("span", about));
  link.href = url;
  return element("li", link);
}

const nothing = (query: string): HTMLElement => {
  const paragraph = element("p", `Nothing found for “${query}”`);
  paragraph.role = "status";
  return paragraph;
};
