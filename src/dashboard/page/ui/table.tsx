/** Rows with a head. What is too wide scrolls in a box of its own, which the keyboard reaches. */
import type { ReactNode } from "react";

export interface TableProps {
  /** What it lists, for those who listen. */
  readonly label: string;
  readonly columns: readonly string[];
  readonly children: ReactNode;
}

export const Table = ({ label, columns, children }: TableProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
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
