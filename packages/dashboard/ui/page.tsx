/** The frame of a page: its title, its heading, its tabs and its parts. */
import { type ReactNode, useEffect } from "react";
import { Link, useLocation } from "wouter";

/** The end of a row that fades, as the style sheet has it. */
const FADE_PX = 24;

/**
 * Scrolls the current link of a row into view on narrow screens. After `scrollIntoView`, the Tab key would
 * continue at the link instead of the top of the page.
 */
export function bringIntoView(link: HTMLElement | null): void {
  const row = link?.parentElement;
  if (!link || !row) return;
  const [inner, outer] = [link.getBoundingClientRect(), row.getBoundingClientRect()];
  row.scrollLeft += Math.max(0, inner.right + FADE_PX - outer.right) + Math.min(0, inner.left - outer.left);
}

/** Sets the title of the document. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Atrium`;
  }, [title]);
}

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

interface TabsProps {
  /** The accessible name. */
  readonly label: string;
  readonly base: string;
  /** Paths of the tabs below the base; the first one is the base itself. */
  readonly tabs: readonly { readonly name: string; readonly path: string }[];
}

/** Links to the parts of a page. */
export function Tabs({ label, base, tabs }: TabsProps) {
  const [location] = useLocation();
  const isBelow = ({ path }: TabsProps["tabs"][number]) => path !== "" && location.startsWith(base + path);
  const here = tabs.find(isBelow) ?? tabs[0];
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <Link
          key={tab.path}
          href={base + tab.path}
          {...(tab === here && { "aria-current": "page", ref: bringIntoView })}
        >
          {tab.name}
        </Link>
      ))}
    </nav>
  );
}

interface SectionProps {
  readonly id: string;
  readonly title: string;
  /** A description in one paragraph. */
  readonly about?: string;
  /** Content beside the title, such as a button. */
  readonly beside?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A part of a page with a heading. */
export const Section = ({ id, title, about, beside, className, children }: SectionProps) => (
  <section className={className} aria-labelledby={id}>
    {beside ? (
      <div className="title-row">
        <h2 id={id}>{title}</h2>
        {beside}
      </div>
    ) : (
      <h2 id={id}>{title}</h2>
    )}
    {about && <p className="soft">{about}</p>}
    {children}
  </section>
);
