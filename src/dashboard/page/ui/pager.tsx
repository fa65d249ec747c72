/** Turns the pages of a long list. */
import { Button } from "./button.tsx";

export interface PagerProps {
  readonly offset: number;
  readonly limit: number;
  readonly total: number;
  readonly turnTo: (offset: number) => void;
}

export function Pager({ offset, limit, total, turnTo }: PagerProps) {
  if (total === 0 || (total <= limit && offset === 0)) return null;
  const last = Math.min(offset + limit, total);
  return (
    <nav className="pager" aria-label="Pages">
      <span className="soft" role="status">
        {offset + 1}–{last} of {total.toLocaleString("en")}
      </span>
      <Button icon="left" disabled={offset === 0} onClick={() => turnTo(Math.max(0, offset - limit))}>
        Newer
      </Button>
      <Button icon="right" disabled={last >= total} onClick={() => turnTo(offset + limit)}>
        Older
      </Button>
    </nav>
  );
}
