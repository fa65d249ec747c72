/** Finds entries of the documentation by words. Pure: the page's script and the tests use it. */
import MiniSearch from "minisearch";

/** A section of a page, a task, or an operation of the API reference. */
export interface SearchEntry {
  readonly title: string;
  readonly page: string;
  readonly url: string;
  /** The section as plain text, or the operation's path and call. */
  readonly text: string;
}

/** Words of a question that say nothing about the subject. */
const STOP_WORDS = new Set(
  "a an and are at by can do does for how i in is it my of on or the to what who with".split(" "),
);
const MIN_FUZZY_LENGTH = 5;

/** How far behind an entry stands: decisions behind what readers use, replaced ones behind those that hold. */
const distanceOf = ({ page, url }: SearchEntry): number => {
  if (!url.startsWith("/docs/decisions/")) return 0;
  return page.includes("(replaced by ") ? 2 : 1;
};

type SearchIndex = (query: string, limit: number) => SearchEntry[];

/** Entries with all words come first; without one, entries with any of them. Words may be unfinished or misspelled. Decisions come last. */
export function searchIndexOf(entries: readonly SearchEntry[]): SearchIndex {
  const index = new MiniSearch<SearchEntry & { readonly id: number }>({
    fields: ["title", "page", "text"],
    processTerm: (term) => (STOP_WORDS.has(term.toLowerCase()) ? null : term.toLowerCase()),
    searchOptions: {
      boost: { title: 6, page: 2 },
      prefix: true,
      fuzzy: (term) => (term.length < MIN_FUZZY_LENGTH ? false : 0.2),
    },
  });
  index.addAll(entries.map((entry, id) => ({ ...entry, id })));
  return (query, limit) => {
    const all = index.search(query, { combineWith: "AND" });
    const found = all.length > 0 ? all : index.search(query);
    return found
      .flatMap(({ id }) => entries[Number(id)] ?? [])
      .sort((a, b) => distanceOf(a) - distanceOf(b))
      .slice(0, limit);
  };
}
