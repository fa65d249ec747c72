/** Goes through the pages of a store. */
import { Button } from "../ui/button.tsx";
import type { EntryPosition } from "./use-entry-page.ts";

export interface EntryPagerProps {
  readonly position: EntryPosition;
  /** How many entries the page shows. */
  readonly shown: number;
  /** How many the store has, if that is known. */
  readonly total: number | undefined;
  readonly store: string;
}

export function EntryPager({ position, shown, total, store }: EntryPagerProps) {
  const { offset, hasNext, next, previous } = position;
  if (offset === 0 && !hasNext) return null;
  const last = offset + shown;
  return (
    <nav className="pager" aria-label={`Pages of ${store}`}>
      <span className="soft" role="status">
        {(offset + 1).toLocaleString("en")}–{last.toLocaleString("en")}
        {total !== undefined && ` of ${total.toLocaleString("en")}`}
      </span>
      <Button icon="left" disabled={offset === 0} onClick={previous}>
        Previous
      </Button>
      <Button icon="right" disabled={!hasNext} onClick={next}>
        Next
      </Button>
    </nav>
  );
}
