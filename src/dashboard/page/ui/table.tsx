/** A table that scrolls horizontally when it is too wide; its rows can be selected, and sorted by columns. */
import type { ReactNode } from "react";
import type { Filters } from "../data/use-filters.ts";
import type { Selection } from "../data/use-selection.ts";
import { SelectAllCell } from "./select-box.tsx";
import { SortHeader } from "./sort-header.tsx";

interface SortColumn {
  readonly label: string;
  /** The field that the column's header sorts the list by. */
  readonly sort: string;
}

/** The label of a column; with a leading `!` its header is hidden. */
type Column = string | SortColumn;

export interface TableProps {
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
