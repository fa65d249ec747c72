/** The pagination of a list: which rows are shown, how many to a page, and the way to the others. */
import { useEffect } from "react";
import { type Filters, PAGE_SIZES } from "../data/use-filters.ts";
import { Button } from "./button.tsx";

export interface PagerProps {
  readonly filters: Pick<Filters, "limit" | "setLimit" | "offset" | "goTo">;
  readonly total: number;
}

const [SMALLEST = 0] = PAGE_SIZES;

export function Pager({ filters: { limit, setLimit, offset, goTo }, total }: PagerProps) {
  // The rows of the last page may be gone, for example because they were just deleted.
  const isBeyond = total > 0 && offset >= total;
  useEffect(() => {
    if (isBeyond) goTo(Math.floor((total - 1) / limit) * limit);
  }, [isBeyond, goTo, total, limit]);
  if (total === 0 || (total <= SMALLEST && offset === 0)) return null;
  const last = Math.min(offset + limit, total);
  return (
    <nav className="pager" aria-label="Pages of the list">
      <select
        className="input"
        aria-label="Rows to a page"
        value={limit}
        onChange={(event) => setLimit(Number(event.currentTarget.value))}
      >
        {PAGE_SIZES.map((size) => (
          <option key={size} value={size}>
            {size} rows
          </option>
        ))}
      </select>
      <span className="soft" role="status">
        {Math.min(offset + 1, last)}–{last} of {total.toLocaleString("en")}
      </span>
      <Button icon="left" disabled={offset === 0} onClick={() => goTo(Math.max(0, offset - limit))}>
        Previous
      </Button>
      <Button icon="right" disabled={last >= total} onClick={() => goTo(offset + limit)}>
        Next
      </Button>
    </nav>
  );
}
