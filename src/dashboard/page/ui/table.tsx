/** A table that scrolls horizontally when it is too wide. A column with a leading `!` has a hidden header. */
import type { ReactNode } from "react";

export interface TableProps {
  /** The accessible name. */
  readonly label: string;
  readonly columns: readonly string[];
  readonly children: ReactNode;
}

export const Table = ({ label, columns, children }: TableProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
  <section className="scroll" tabIndex={0} aria-label={label}>
    <table>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column.startsWith("!") ? <span className="hidden">{column.slice(1)}</span> : column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
);
