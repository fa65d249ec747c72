/** The search of the documentation: a box whose results are links. */
import { element } from "./elements.ts";
import { type SearchEntry, search } from "./search-index.ts";

const MAX_RESULTS = 10;

/** Loaded when the box is first used. */
let index: Promise<readonly SearchEntry[]> | undefined;
function loadIndex(): Promise<readonly SearchEntry[]> {
  index ??= fetch("/docs/search.json").then((response) => response.json());
  return index;
}

/** Makes the box work: `/` goes there, the arrow keys move through the results, Escape closes them. */
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

/** Moves the focus among the box and its results. */
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
