/** The frame of a page: its heading, what can be done there, and what it shows. */
import type { ReactNode } from "react";
import { usePageTitle } from "./use-page-title.ts";

export interface PageProps {
  readonly title: string;
  /** Where it lies: links to the pages above it. */
  readonly above?: ReactNode;
  /** Beside the title, such as how the thing stands. */
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, above, beside, actions, children }: PageProps) {
  usePageTitle(title);
  return (
    <div className="page">
      <header className="page-head">
        <div>
          {above && <p className="above">{above}</p>}
          <h1>{title}</h1>
          {beside}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
