/** The query parameters of lists (spec section 4): pages, search and date filters. */

import { base64url } from "jose";
import * as z from "zod";
import type { ListPosition, Order, Page } from "../platform/d1/d1.ts";
import { AppError, type Module } from "../platform/errors.ts";
import { codePoints, fold } from "../platform/text.ts";
import { timeInput } from "../platform/time.ts";

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

/** A date without a time is the start of that UTC day as a beginning, and its end as an end. In epoch milliseconds. */
export const timeParameter = (end: "from" | "to", description: string) =>
  timeInput(end, " (write + as %2B)")
    .optional()
    .meta({ description, override: { type: "string", example: "2026-01-31" } });

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
const MAX_SEARCH_LENGTH = 256;

const WHOLE_NUMBER = /^[0-9]+$/;

/** The items of a page: by default, and at most. */
export const limitOf = (byDefault: number, max: number, items = "items") =>
  z
    .string()
    .refine((value) => WHOLE_NUMBER.test(value) && Number(value) >= 1, "must be a whole number of at least 1")
    .transform((value) => Math.min(Number(value), max))
    .default(byDefault)
    .meta({
      description: `The most ${items} to return. Values above ${max} count as ${max}.`,
      override: { type: "integer", minimum: 1, default: byDefault },
    });

const Limit = limitOf(DEFAULT_LIMIT, MAX_LIMIT);

const Offset = z
  .string()
  .refine(
    (value) => WHOLE_NUMBER.test(value) && Number.isSafeInteger(Number(value)),
    "must be a whole number of at least 0",
  )
  .transform(Number)
  .default(0)
  .meta({
    description: "The number of items to skip.",
    override: { type: "integer", minimum: 0, default: 0 },
  });

export const paging = { limit: Limit, offset: Offset };

/** A folded name takes up to 12 bytes a character in a cursor, a third more in Base64. */
const MAX_CURSOR_LENGTH = 5120;
const CURSOR_EXAMPLE = encodePosition({
  key: Date.UTC(2026, 0, 31),
  id: "6ba7b810-9dad-41d1-80b4-00c04fd430c8",
  offset: 50,
  total: 120,
});

const after = (description: string) =>
  z
    .string()
    .max(MAX_CURSOR_LENGTH)
    .transform((value, context) => {
      const position = decodePosition(value);
      if (position === null)
        context.addIssue("must be the `cursor` of an earlier page; leave it out to start at the newest");
      return position ?? z.NEVER;
    })
    .optional()
    .meta({
      description,
      override: { type: "string", maxLength: MAX_CURSOR_LENGTH, example: CURSOR_EXAMPLE },
    });

export const scrolling = {
  ...paging,
  after: after(
    "The `cursor` of an earlier page: the items that follow it, with the same filters. However far down the list, it costs what the first page costs, and what is created meanwhile shifts nothing. `offset` counts from there.",
  ),
};

/** `limit` and `after`, of a log: it is never counted. */
export const following = {
  limit: Limit,
  after: after("The `cursor` of an earlier page: the entries that follow it, with the same filters."),
};

/** A filter by an exact value. */
export const exactly = (maxLength: number, description: string) =>
  z.string().min(1).max(maxLength).optional().meta({ description });

/** A filter that is true or false. */
export const flag = (description: string) =>
  z
    .enum(["true", "false"])
    .transform((value) => value === "true")
    .optional()
    .meta({ description, override: { type: "string", enum: ["true", "false"] } });

/** `search`; `where` completes "Only items with this text in …". */
export const searching = (where: string) => ({
  search: z
    .string()
    .refine(
      (value) => codePoints(value) <= MAX_SEARCH_LENGTH,
      `must have at most ${MAX_SEARCH_LENGTH} characters`,
    )
    .transform(fold)
    .default("")
    .meta({
      description: `Only items with this text in ${where}. Matched literally, ignoring case, and whether letters are composed or have marks of their own. Empty: no filter.`,
      override: { type: "string", maxLength: MAX_SEARCH_LENGTH },
    }),
});

export const dates = {
  from: timeParameter(
    "from",
    "Only items created at or after this time. A date without a time is the start of that UTC day.",
  ),
  to: timeParameter(
    "to",
    "Only items created at or before this time. A date without a time is the end of that UTC day.",
  ),
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

export const pageShape = {
  total: z.int().meta({ description: "Number of matching items on all pages.", minimum: 0, example: 1 }),
  limit: z.int().meta({ description: "The limit that was used.", minimum: 1, example: 50 }),
  offset: z.int().meta({ description: "The offset that was used.", minimum: 0, example: 0 }),
};

export const cursorShape = {
  cursor: z.string().nullable().meta({
    description: "Goes into `after` to read the page that follows; null on the last one.",
    example: CURSOR_EXAMPLE,
  }),
};

export const scrollShape = { ...pageShape, ...cursorShape };

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

/** Without `sort`, a list is ordered by `newest`, descending. */
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
