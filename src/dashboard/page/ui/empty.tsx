/** The empty state of a list, with the next step. */
import type { ReactNode } from "react";

export interface EmptyProps {
  readonly title: string;
  readonly children: ReactNode;
}

export const Empty = ({ title, children }: EmptyProps) => (
  <div className="empty">
    <h2>{title}</h2>
    {children}
  </div>
);
