/** The pages of lists (spec section 4): the cursors and orders in their queries, and how a page is presented. */

import { AppError, type Module } from "@atrium/contract/errors.ts";
import { Cursor, paging } from "@atrium/contract/rest/lists.ts";
import { base64url } from "jose";
import * as z from "zod";
import type { ListPosition, Order, Page } from "../platform/d1/d1.ts";

const Count = z.int().min(0);
const Id = z.string().min(1).max(512);
const Position = z.union([
  z
    .tuple([z.int().min(0), Id, Count, Count])
    .transform(([key, id, offset, total]): ListPosition => ({ key, id, offset, total })),
  z
    .tuple([z.union([z.int().min(0), z.string()]), Id, Count, Count, z.string().min(1)])
    .transform(([key, id, offset, total, sort]): ListPosition => ({ key, id, offset, total, sort })),
]);

type CountedPosition = ListPosition & Required<Pick<ListPosition, "offset" | "total">>;

export const encodePosition = ({ key, id, offset, total, sort }: CountedPosition): string =>
  encodeCursor([key, id, offset, total, ...(sort === undefined ? [] : [sort])]);

/** A value that clients keep as opaque text. */
export const encodeCursor = (value: unknown): string => base64url.encode(JSON.stringify(value));

/** The value of a cursor that the schema accepts; null for any other text. */
export function decodeCursor<Value>(schema: z.ZodType<Value>, cursor: string): Value | null {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return schema.parse(JSON.parse(decoder.decode(base64url.decode(cursor))));
  } catch {
    return null;
  }
}

export const decodePosition = (cursor: string): ListPosition | null => decodeCursor(Position, cursor);

const after = (description: string) =>
  Cursor.transform((value, context) => {
    const position = decodePosition(value);
    if (position === null)
      context.addIssue("must be the `cursor` of an earlier page; leave it out to start at the first page");
    return position ?? z.NEVER;
  })
    .optional()
    .meta({ description });

export const scrolling = {
  ...paging,
  after: after(
    "The `cursor` of an earlier page: the items that follow it, with the same filters. However far down the list, it costs what the first page costs, and what is created meanwhile shifts nothing. `offset` counts from there.",
  ),
};

/** `limit` and `after`, of a log: it is never counted. */
export const following = {
  limit: paging.limit,
  after: after("The `cursor` of an earlier page: the entries that follow it, with the same filters."),
};

/** The page that a list's parsed query selects, newest first or in this order. */
export const toPage = (
  query: {
    readonly limit: number;
    readonly offset: number;
    readonly search?: string;
    readonly from?: number | undefined;
    readonly to?: number | undefined;
    readonly after?: ListPosition | undefined;
  },
  order?: Order,
): Page => ({
  limit: query.limit,
  offset: query.offset,
  search: query.search ?? "",
  from: query.from ?? Number.MIN_SAFE_INTEGER,
  to: query.to ?? Number.MAX_SAFE_INTEGER,
  order,
  after: query.after,
});

export interface PresentedPage {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

export const presentPage = (
  { limit, offset, after }: Page,
  counted: readonly { readonly total: number }[],
): PresentedPage => ({
  total: counted[0]?.total ?? 0,
  limit,
  offset: (after?.offset ?? 0) + offset,
});

export interface PresentedScroll extends PresentedPage {
  readonly cursor: string | null;
}

/** Presents a page of `rows`, where `positionOf` tells the columns that the list is ordered by. One that is cut is not the last. */
export function presentScroll<Row>(
  page: Page,
  counted: readonly { readonly total: number }[],
  rows: readonly Row[],
  positionOf: (row: Row) => Pick<ListPosition, "key" | "id">,
  isCut = false,
): PresentedScroll {
  const presented = presentPage(page, counted);
  const last = rows.at(-1);
  const offset = presented.offset + rows.length;
  // The total of a page that follows another is that of the first page, so it does not tell where the list ends now.
  const isLast = rows.length < page.limit || (page.after === undefined && offset >= presented.total);
  if (last === undefined || (isLast && !isCut)) return { ...presented, cursor: null };
  const sort = page.order && sortOf(page.order);
  return {
    ...presented,
    cursor: encodePosition({ ...positionOf(last), offset, total: presented.total, sort }),
  };
}

const sortOf = ({ by, descending }: Order): string => (descending ? `-${by}` : by);

const parseSort = (sort: string): Order => ({
  by: sort.replace("-", ""),
  descending: sort.startsWith("-"),
});

/** The parameter `sort` of a list. The default is `newest`, descending. */
export function sorting(module: Module, newest: string, ...others: readonly string[]) {
  const fields = [newest, ...others];
  const sorts = fields.flatMap((field) => [field, `-${field}`]);
  const sort = z
    .string()
    .refine((value) => sorts.includes(value), `must be one of ${sorts.join(", ")}`)
    .optional()
    .meta({
      description: `The order: ${fields.map((field) => `\`${field}\``).join(" or ")}, descending with \`-\` in front. Items that are equal in it are ordered by ID. A page that follows a \`cursor\` has the cursor's order.`,
      override: { type: "string", enum: sorts, default: `-${newest}` },
    });
  return {
    parameter: { sort },
    /** Undefined means newest first. BAD_REQUEST when query and cursor name different orders. */
    orderOf({
      sort,
      after,
    }: {
      readonly sort?: string | undefined;
      readonly after?: ListPosition | undefined;
    }): Order | undefined {
      const named = after === undefined ? sort : after.sort;
      const isOther = after !== undefined && sort !== undefined && sort !== (after.sort ?? `-${newest}`);
      if (isOther || (named !== undefined && !sorts.includes(named))) {
        throw new AppError(
          module,
          "BAD_REQUEST",
          "after must be the `cursor` of a page with the same sort; leave it out to start at the first page",
        );
      }
      return named === undefined ? undefined : parseSort(named);
    },
  };
}
