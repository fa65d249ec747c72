/** The search box: `/` goes there, the arrow keys move through the results, Escape closes them. */
import { isComposing } from "atrium/internal/input-method";
import { element } from "./elements.ts";
import { type SearchEntry, searchIndexOf } from "./search-index.ts";

const MAX_RESULTS = 10;
const SHOWN_CHARACTERS = 120;

/** Loaded when the box is first used. */
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

export function enableSearch(): void {
  const box = document.querySelector<HTMLElement>(".search");
  const input = box?.querySelector("input");
  const list = box?.querySelector<HTMLElement>(".results");
  if (!box || !input || !list) return;
  box.hidden = false;

  const close = () => {
    list.hidden = true;
  };
  const update = async () => {
    const search = await loadIndex();
    const found = search(input.value, MAX_RESULTS);
    list.replaceChildren(...(found.length > 0 ? found.map(itemOf) : [nothing()]));
    list.hidden = input.value.trim() === "";
  };
  input.addEventListener("focus", () => void loadIndex());
  input.addEventListener("input", () => void update());
  list.addEventListener("click", close); // a result may be on this page
  box.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
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
  const about = [title === page ? "" : page, text.slice(0, SHOWN_CHARACTERS)].filter(Boolean).join(" · ");
  const link = element("a", element("strong", title), element("span", about));
  link.href = url;
  return element("li", link);
}

const nothing = (): HTMLElement => element("li", "Nothing found");
