/** Search, filters, order and place of a list, kept in the URL, so that a link shows the same list. */
import { useSearchParams } from "wouter";
import { withParameters } from "./address.ts";

const PAGE_SIZE = 25;
/** The rows of a page, at most. */
export const PAGE_SIZES = [PAGE_SIZE, 50, 100];

const [SEARCH, SORT, SIZE, PAGE, AFTER] = ["q", "sort", "size", "page", "after"];
const NOT_NARROWING = new Set([SORT, SIZE, PAGE, AFTER, "range"]);

export type Filters = ReturnType<typeof useFilters>;

export function useFilters() {
  const [parameters, setParameters] = useSearchParams();
  const get = (name: string) => parameters.get(name) ?? "";
  /** Typing and choosing replace the address; going to another page is a step that one can go back. */
  const set = (name: string, value: string) =>
    setParameters((known) => withParameters(known, { [PAGE]: "", [AFTER]: "", [name]: value }), {
      replace: true,
    });
  const limit = PAGE_SIZES.find((size) => size === Number(get(SIZE))) ?? PAGE_SIZE;
  const offset = (Math.max(1, Math.trunc(Number(get(PAGE))) || 1) - 1) * limit;
  const sort = get(SORT);
  const after = get(AFTER);
  /** The order by one of these fields, if the list has one. */
  const orderBy = <const Field extends string>(fields: readonly Field[]) => {
    const field = fields.find((one) => sort === one || sort === `-${one}`);
    const order: Field | `-${Field}` | undefined = field && (sort === field ? field : `-${field}`);
    return order && { sort: order };
  };
  return {
    /** The value of a filter; empty for none. */
    get,
    /** Sets one, and goes back to the first page. */
    set,
    /** The search text; empty for all. */
    search: get(SEARCH),
    searchFor: (text: string) => set(SEARCH, text),
    /** True while anything narrows the list. */
    isNarrowed: [...parameters].some(([name, value]) => value !== "" && !NOT_NARROWING.has(name)),
    /** Shows the whole list again. */
    clear: () => setParameters(new URLSearchParams(), { replace: true }),
    /** The field that the list is sorted by, with a leading `-` for the reverse; empty for its own order. */
    sort,
    sortBy: (field: string) => set(SORT, field),
    limit,
    setLimit: (size: number) => set(SIZE, size === PAGE_SIZE ? "" : `${size}`),
    offset,
    goTo: (start: number, options?: { readonly replace: boolean }) =>
      setParameters(
        (known) => withParameters(known, { [PAGE]: start === 0 ? "" : `${Math.trunc(start / limit) + 1}` }),
        options,
      ),
    /** The place and the order, of these fields, as the API takes them. */
    page: <const Field extends string = never>(fields: readonly Field[] = []) => ({
      limit,
      offset,
      ...orderBy(fields),
    }),
    /** The cursor of the page before, in lists without page numbers; empty for the first page. */
    after,
    goAfter: (cursor: string) => setParameters((known) => withParameters(known, { [AFTER]: cursor })),
  };
}

/** The filters that have a value. */
export const chosen = <Value extends object>(filters: Value): Partial<Value> =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== "")) as Partial<Value>;
