/** The frame of a page: its title, its heading, and how it comes into view. */
import { type ReactNode, useEffect } from "react";

/** For the current link of a row that scrolls on narrow screens: it is in view, wherever it is in the row. */
export const bringIntoView = (link: Element | null): void =>
  link?.scrollIntoView({ block: "nearest", inline: "nearest" });

/** Sets the title of the document. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Atrium`;
  }, [title]);
}

/** The layout of a page: title, actions and content. */
interface PageProps {
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
