/** The layout of a page: title, actions and content. */
import type { ReactNode } from "react";
import { usePageTitle } from "./use-page-title.ts";

export interface PageProps {
  readonly title: string;
  /** Links to the parent pages. */
  readonly above?: ReactNode;
  /** Content beside the title, such as a status. */
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
