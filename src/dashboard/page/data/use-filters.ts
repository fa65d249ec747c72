/** What a list shows – search, filters, order and place – kept in the URL, so that a link shows the same list. */
import { useSearchParams } from "wouter";

const PAGE_SIZE = 25;
/** How many rows a page may have. */
export const PAGE_SIZES = [PAGE_SIZE, 50, 100];

export interface Filters {
  /** The value of a filter; empty for none. */
  readonly get: (name: string) => string;
  /** Sets one, and goes back to the first page. */
  readonly set: (name: string, value: string) => void;
  /** The search text; empty for all. */
  readonly search: string;
  readonly searchFor: (text: string) => void;
  /** True while anything narrows the list. */
  readonly isNarrowed: boolean;
  /** The field that the list is sorted by, with a leading `-` for the reverse; empty for its own order. */
  readonly sort: string;
  readonly sortBy: (sort: string) => void;
  readonly limit: number;
  readonly setLimit: (limit: number) => void;
  readonly offset: number;
  readonly goTo: (offset: number) => void;
  /** The cursor of the page before; empty for the first page. Of lists that have no numbers. */
  readonly after: string;
  readonly goAfter: (cursor: string) => void;
}

const [SEARCH, SORT, SIZE, PAGE, AFTER] = ["q", "sort", "size", "page", "after"];
const PLACE = [PAGE, AFTER];
const NOT_NARROWING = new Set([SORT, SIZE, ...PLACE]);

export function useFilters(): Filters {
  const [parameters, setParameters] = useSearchParams();
  const get = (name: string) => parameters.get(name) ?? "";
  /** Typing and choosing replace the address; going to another page is a step that one can go back. */
  const set = (name: string, value: string) =>
    setParameters((known) => withParameters(known, { [PAGE]: "", [AFTER]: "", [name]: value }), {
      replace: true,
    });
  const limit = PAGE_SIZES.find((size) => size === Number(get(SIZE))) ?? PAGE_SIZE;
  const page = Math.max(1, Math.trunc(Number(get(PAGE))) || 1);
  return {
    get,
    set,
    search: get(SEARCH),
    searchFor: (text) => set(SEARCH, text),
    isNarrowed: [...parameters].some(([name, value]) => value !== "" && !NOT_NARROWING.has(name)),
    sort: get(SORT),
    sortBy: (sort) => set(SORT, sort),
    limit,
    setLimit: (size) => set(SIZE, size === PAGE_SIZE ? "" : `${size}`),
    offset: (page - 1) * limit,
    goTo: (offset) =>
      setParameters((known) =>
        withParameters(known, { [PAGE]: offset === 0 ? "" : `${Math.trunc(offset / limit) + 1}` }),
      ),
    after: get(AFTER),
    goAfter: (cursor) => setParameters((known) => withParameters(known, { [AFTER]: cursor })),
  };
}

/** The parameters with some of them set, or removed where the value is empty. */
export function withParameters(
  parameters: URLSearchParams,
  changes: Readonly<Record<string, string>>,
): URLSearchParams {
  const changed = new URLSearchParams(parameters);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") changed.delete(name);
    else changed.set(name, value);
  }
  return changed;
}

/** The filters that have a value. */
export const chosen = <Value extends object>(filters: Value): Partial<Value> =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== "")) as Partial<Value>;

/** The order that a list is asked for: of these fields, or none for the list's own. */
export function sortedBy<Field extends string>(
  sort: string,
  fields: readonly Field[],
): { readonly sort?: Field | `-${Field}` } {
  for (const field of fields) {
    if (sort === field) return { sort: field };
    if (sort === `-${field}`) return { sort: `-${field}` };
  }
  return {};
}
