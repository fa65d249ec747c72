/** The header of a column that sorts its list: up, down, and back to the list's own order. */
import type { Filters } from "../data/use-filters.ts";

export interface SortHeaderProps {
  readonly label: string;
  readonly sort: string;
  readonly filters: Pick<Filters, "sort" | "sortBy">;
}

export function SortHeader({ label, sort, filters }: SortHeaderProps) {
  const direction =
    filters.sort === sort ? "ascending" : filters.sort === `-${sort}` ? "descending" : undefined;
  const next = { ascending: `-${sort}`, descending: "" };
  return (
    <th scope="col" aria-sort={direction}>
      <button
        type="button"
        className="sort"
        onClick={() => filters.sortBy(direction === undefined ? sort : next[direction])}
      >
        {label}
      </button>
    </th>
  );
}
