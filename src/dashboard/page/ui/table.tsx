/** A table, the headers that sort it, and the pagers of lists. */
import { type ReactNode, useEffect } from "react";
import { type Filters, PAGE_SIZES } from "../data/use-filters.ts";
import type { Selection } from "../data/use-selection.ts";
import { Button } from "./button.tsx";
import { SelectAllCell } from "./select-box.tsx";

/** A table that scrolls horizontally when it is too wide; its rows can be selected, and sorted by columns. */
interface SortColumn {
  readonly label: string;
  /** The field that the column's header sorts the list by. */
  readonly sort: string;
}

/** The label of a column; with a leading `!` its header is hidden. */
type Column = string | SortColumn;

interface TableProps {
  /** The accessible name. */
  readonly label: string;
  readonly columns: readonly Column[];
  /** Adds a column in front; each row begins with a {@link SelectCell}. */
  readonly selection?: Selection<unknown> | undefined;
  /** Where the order is kept, for columns that sort. */
  readonly filters?: Pick<Filters, "sort" | "sortBy"> | undefined;
  readonly children: ReactNode;
}

export const Table = ({ label, columns, selection, filters, children }: TableProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
  <section className="scroll" tabIndex={0} aria-label={label}>
    <table data-selection={selection && ""}>
      <thead>
        <tr>
          {selection && <SelectAllCell selection={selection} />}
          {columns.map((column) => (
            <Header key={typeof column === "string" ? column : column.sort} {...{ column, filters }} />
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
);

function Header({ column, filters }: { readonly column: Column } & Pick<TableProps, "filters">) {
  if (typeof column !== "string")
    return filters ? <SortHeader {...column} filters={filters} /> : <th scope="col">{column.label}</th>;
  return (
    <th scope="col">{column.startsWith("!") ? <span className="hidden">{column.slice(1)}</span> : column}</th>
  );
}

/** The header of a column that sorts its list: up, down, and back to the list's own order. */
interface SortHeaderProps {
  readonly label: string;
  readonly sort: string;
  readonly filters: Pick<Filters, "sort" | "sortBy">;
}

function SortHeader({ label, sort, filters }: SortHeaderProps) {
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

/** The pagination of a list: which rows are shown, how many to a page, and the way to the others. */
interface PagerProps {
  readonly filters: Pick<Filters, "limit" | "setLimit" | "offset" | "goTo">;
  readonly total: number;
}

const [SMALLEST = 0] = PAGE_SIZES;

export function Pager({ filters: { limit, setLimit, offset, goTo }, total }: PagerProps) {
  // The rows of the last page may be gone, for example because they were just deleted.
  const isBeyond = total > 0 && offset >= total;
  useEffect(() => {
    if (isBeyond) goTo(Math.floor((total - 1) / limit) * limit);
  }, [isBeyond, goTo, total, limit]);
  if (total === 0 || (total <= SMALLEST && offset === 0)) return null;
  const last = Math.min(offset + limit, total);
  return (
    <nav className="pager" aria-label="Pages of the list">
      <select
        className="input"
        aria-label="Rows to a page"
        value={limit}
        onChange={(event) => setLimit(Number(event.currentTarget.value))}
      >
        {PAGE_SIZES.map((size) => (
          <option key={size} value={size}>
            {size} rows
          </option>
        ))}
      </select>
      <span className="soft" role="status">
        {Math.min(offset + 1, last)}–{last} of {total.toLocaleString("en")}
      </span>
      <Button icon="left" disabled={offset === 0} onClick={() => goTo(Math.max(0, offset - limit))}>
        Previous
      </Button>
      <Button icon="right" disabled={last >= total} onClick={() => goTo(offset + limit)}>
        Next
      </Button>
    </nav>
  );
}

/** The pagination of a log: it has no numbers, since it grows while one reads. */
interface CursorPagerProps {
  /** The cursor of the page before; empty on the newest. */
  readonly after: string;
  /** The cursor of this page; null on the last. */
  readonly cursor: string | null;
  readonly goAfter: (cursor: string) => void;
}

export function CursorPager({ after, cursor, goAfter }: CursorPagerProps) {
  if (after === "" && cursor === null) return null;
  return (
    <nav className="pager" aria-label="Pages of the list">
      <Button icon="left" disabled={after === ""} onClick={() => goAfter("")}>
        Newest
      </Button>
      <Button icon="right" disabled={cursor === null} onClick={() => goAfter(cursor ?? "")}>
        Older
      </Button>
    </nav>
  );
}
