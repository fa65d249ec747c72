/** The pagination of a list. */
import { Button } from "./button.tsx";

export interface PagerProps {
  readonly offset: number;
  readonly limit: number;
  readonly total: number;
  readonly goTo: (offset: number) => void;
}

export function Pager({ offset, limit, total, goTo }: PagerProps) {
  if (total === 0 || (total <= limit && offset === 0)) return null;
  const last = Math.min(offset + limit, total);
  return (
    <nav className="pager" aria-label="Pages">
      <span className="soft" role="status">
        {offset + 1}–{last} of {total.toLocaleString("en")}
      </span>
      <Button icon="left" disabled={offset === 0} onClick={() => goTo(Math.max(0, offset - limit))}>
        Newer
      </Button>
      <Button icon="right" disabled={last >= total} onClick={() => goTo(offset + limit)}>
        Older
      </Button>
    </nav>
  );
}
