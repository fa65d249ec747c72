/** The pagination of a log: it has no numbers, since it grows while one reads. */
import { Button } from "./button.tsx";

export interface CursorPagerProps {
  /** The cursor of the page before; empty on the newest. */
  readonly after: string;
  /** The cursor of this page; null on the last. */
  readonly cursor: string | null;
  readonly goAfter: (cursor: string) => void;
}

export function CursorPager({ after, cursor, goAfter }: CursorPagerProps) {
  if (after === "" && cursor === null) return null;
  return (
    <nav className="pager" aria-label="Pages of the list">
      <Button icon="left" disabled={after === ""} onClick={() => goAfter("")}>
        Newest
      </Button>
      <Button icon="right" disabled={cursor === null} onClick={() => goAfter(cursor ?? "")}>
        Older
      </Button>
    </nav>
  );
}
