/** How the page of a list is presented, and where the next one begins. */
import * as z from "zod";
import type { ListPosition, Page } from "../../platform/d1/d1.ts";
import { encodePosition } from "./list-cursor.ts";
import { CURSOR_EXAMPLE } from "./paginate.ts";
import { sortOf } from "./sorting.ts";

/** The fields of a paginated response that describe the page. */
export const pageShape = {
  total: z.int().meta({ description: "Number of matching items on all pages.", minimum: 0, example: 1 }),
  limit: z.int().meta({ description: "The limit that was used.", minimum: 1, example: 50 }),
  offset: z.int().meta({ description: "The offset that was used.", minimum: 0, example: 0 }),
};

/** The field of a page of a log. */
export const cursorShape = {
  cursor: z.string().nullable().meta({
    description: "Goes into `after` to read the page that follows; null on the last one.",
    example: CURSOR_EXAMPLE,
  }),
};

/** The fields of a page of a list that may be long. */
export const scrollShape = { ...pageShape, ...cursorShape };

/** A page as a response describes it. */
export interface PresentedPage {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

/** Presents a page, with the total from a count statement. */
export const presentPage = (
  { limit, offset, after }: Page,
  counted: readonly { readonly total: number }[],
): PresentedPage => ({
  total: counted[0]?.total ?? 0,
  limit,
  offset: (after?.offset ?? 0) + offset,
});

/** A page of a list that may be long, as a response describes it. */
export interface PresentedScroll extends PresentedPage {
  readonly cursor: string | null;
}

/** Presents a page of `rows`, where `positionOf` tells the columns that the list is ordered by. */
export function presentScroll<Row>(
  page: Page,
  counted: readonly { readonly total: number }[],
  rows: readonly Row[],
  positionOf: (row: Row) => Pick<ListPosition, "key" | "id">,
): PresentedScroll {
  const presented = presentPage(page, counted);
  const last = rows.at(-1);
  const offset = presented.offset + rows.length;
  // The total of a page that follows another is that of the first page, so it does not tell where the list ends now.
  const isLast = rows.length < page.limit || (page.after === undefined && offset >= presented.total);
  if (last === undefined || isLast) return { ...presented, cursor: null };
  const sort = page.order && sortOf(page.order);
  return {
    ...presented,
    cursor: encodePosition({ ...positionOf(last), offset, total: presented.total, sort }),
  };
}
