/** A table with columns as data, the boxes that select rows of lists, and the pagers of lists. */
import { type KeyboardEvent, type ReactNode, useEffect } from "react";
import { type Filters, PAGE_SIZES } from "../data/filters.ts";
import type { Selection } from "../data/use-selection.ts";
import { Button, ScrollBox } from "./button.tsx";

export interface Column<Item> {
  readonly label: string;
  /** Name of the field for sorting, in the column's header. */
  readonly sort?: string;
  /** `row-actions` also hides the header except from screen readers. */
  readonly className?: "number" | "json" | "row-actions";
  readonly cell: (item: Item) => ReactNode;
}

export interface TableProps<Item> {
  /** The accessible name. */
  readonly label: string;
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
  /** The cells of the first one are the headers of the rows. */
  readonly columns: readonly Column<Item>[];
  /** The state of the order, for columns that sort. */
  readonly filters?: Pick<Filters, "sort" | "sortBy"> | undefined;
  /** Adds a column of boxes in front. */
  readonly selection?: Selection<Item> | undefined;
  /** The label of a row's box, for screen readers; null for a row without one. */
  readonly selectedName?: (item: Item) => string | null;
}

/** A table; nothing without items. On narrow screens, each row is a record with a line for each cell. */
export function Table<Item>({
  label,
  items,
  idOf,
  columns,
  filters,
  selection,
  selectedName,
}: TableProps<Item>) {
  if (items.length === 0) return null;
  return (
    <ScrollBox label={label}>
      <table data-selection={selection && ""}>
        <thead>
          <tr>
            {selection && (
              <th scope="col" className="select-cell">
                <SelectAll selection={selection} />
              </th>
            )}
            {columns.map((column) => (
              <Header key={column.label} column={column} filters={filters} />
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => {
            const id = idOf(item);
            const name = selectedName?.(item) ?? null;
            return (
              <tr key={id} data-selected={selection?.has(id) || undefined}>
                {selection && (
                  <td className="select-cell">
                    {name !== null && <SelectBox {...{ selection, id, name }} />}
                  </td>
                )}
                {columns.map((column, index) => (
                  <Cell key={column.label} column={column} item={item} isHeader={index === 0} />
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </ScrollBox>
  );
}

/** A text that may be long, such as an ID in the application; a dash for none. */
export const orDash = (text: string | undefined): ReactNode =>
  text === undefined ? <span className="soft">–</span> : <span className="long">{text}</span>;

interface CellProps<Item> {
  readonly column: Column<Item>;
  readonly item: Item;
  readonly isHeader: boolean;
}

const Cell = <Item,>({ column: { label, className, cell }, item, isHeader }: CellProps<Item>) =>
  isHeader ? (
    <th scope="row">{cell(item)}</th>
  ) : (
    <td className={className} data-label={label}>
      {cell(item)}
    </td>
  );

interface HeaderProps<Item> extends Pick<TableProps<Item>, "filters"> {
  readonly column: Column<Item>;
}

/** One that sorts goes up, down, and back to the list's own order. */
function Header<Item>({ column: { label, sort, className }, filters }: HeaderProps<Item>) {
  if (sort === undefined || filters === undefined)
    return (
      <th scope="col">{className === "row-actions" ? <span className="hidden">{label}</span> : label}</th>
    );
  const isUp = filters.sort === sort;
  const isDown = filters.sort === `-${sort}`;
  const next = isUp ? `-${sort}` : isDown ? "" : sort;
  return (
    <th scope="col" aria-sort={isUp ? "ascending" : isDown ? "descending" : undefined}>
      <button type="button" className="sort" onClick={() => filters.sortBy(next)}>
        {label}
      </button>
    </th>
  );
}

interface PagerProps {
  readonly filters: Pick<Filters, "limit" | "setLimit" | "offset" | "goTo">;
  readonly total: number;
}

const [SMALLEST = 0] = PAGE_SIZES;

/** The shown rows of a list, how many to a page, and the way to the others. */
export function Pager({ filters: { limit, setLimit, offset, goTo }, total }: PagerProps) {
  // The rows of the last page may be gone, for example because they were just deleted.
  const isBeyond = total > 0 && offset >= total;
  useEffect(() => {
    if (isBeyond) goTo(Math.floor((total - 1) / limit) * limit, { replace: true });
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

interface CursorPagerProps {
  readonly filters: Pick<Filters, "after" | "goAfter">;
  /** The cursor of this page; null on the last. */
  readonly cursor: string | null;
}

/** A pager without page numbers, for a log that grows while one reads. */
export function CursorPager({ filters: { after, goAfter }, cursor }: CursorPagerProps) {
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

interface SelectBoxProps {
  readonly selection: Selection<unknown>;
  readonly id: string;
  /** The selected thing, such as the name of a user. */
  readonly name: string;
}

/**
 * The box that selects a row. Shift with a click or an arrow key selects all rows in between; Ctrl+A selects
 * all, Escape none.
 */
export function SelectBox({ selection, id, name }: SelectBoxProps) {
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { key, currentTarget, shiftKey } = event;
    if (key === "Escape") selection.clear();
    else if (key === "a" && (event.ctrlKey || event.metaKey)) selection.toggleAll();
    else if (key === "ArrowDown" || key === "ArrowUp") {
      const next = neighbourOf(currentTarget, key === "ArrowDown" ? 1 : -1);
      if (shiftKey && !selection.has(id)) selection.toggle(id, false);
      if (shiftKey && next?.checked === false) selection.toggle(next.value, false);
      next?.focus();
    } else return;
    event.preventDefault();
  };
  return (
    <input
      type="checkbox"
      className="select-box"
      data-row=""
      value={id}
      aria-label={`Select ${name}`}
      checked={selection.has(id)}
      onClick={({ shiftKey }) => selection.toggle(id, shiftKey)}
      // The click says whether Shift is pressed.
      onChange={() => undefined}
      onKeyDown={onKeyDown}
    />
  );
}

/** The box of the next row in a direction. */
function neighbourOf(box: HTMLInputElement, step: number): HTMLInputElement | undefined {
  const list = box.closest("[data-selection]");
  const all = [...(list?.querySelectorAll<HTMLInputElement>("input[data-row]") ?? [])];
  return all[all.indexOf(box) + step];
}

interface SelectAllProps {
  readonly selection: Pick<Selection<unknown>, "all" | "toggleAll">;
  readonly label?: string;
}

export const SelectAll = ({ selection, label = "Select all on this page" }: SelectAllProps) => (
  <input
    type="checkbox"
    className="select-box"
    aria-label={label}
    checked={selection.all === "all"}
    ref={(box) => {
      if (box !== null) box.indeterminate = selection.all === "some";
    }}
    onChange={selection.toggleAll}
  />
);
