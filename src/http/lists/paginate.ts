/** The query parameters of lists (spec section 4): pages, search and date filters. */
import * as z from "zod";
import type { ListPosition, Order, Page } from "../../platform/d1/d1.ts";
import { codePoints, fold } from "../../platform/text.ts";
import { decodePosition, encodePosition } from "./list-cursor.ts";
import { timeParameter } from "./time-parameter.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
const MAX_SEARCH_LENGTH = 256;

const WHOLE_NUMBER = /^[0-9]+$/;

const Limit = z
  .string()
  .refine((value) => WHOLE_NUMBER.test(value) && Number(value) >= 1, "must be a whole number of at least 1")
  .transform((value) => Math.min(Number(value), MAX_LIMIT))
  .default(DEFAULT_LIMIT)
  .meta({
    description: `The most items to return. Values above ${MAX_LIMIT} count as ${MAX_LIMIT}.`,
    override: { type: "integer", minimum: 1, default: DEFAULT_LIMIT },
  });

const Offset = z
  .string()
  .refine(
    (value) => WHOLE_NUMBER.test(value) && Number.isSafeInteger(Number(value)),
    "must be a whole number of at least 0",
  )
  .transform(Number)
  .default(0)
  .meta({ description: "How many items to skip.", override: { type: "integer", minimum: 0, default: 0 } });

/** `limit` and `offset`. */
export const paging = { limit: Limit, offset: Offset };

/** A folded name takes up to 6 bytes a character in a cursor, a third more in Base64. */
const MAX_CURSOR_LENGTH = 4096;
export const CURSOR_EXAMPLE = encodePosition({
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

/** `limit`, `offset` and `after`, of a list that may be long. */
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
      description: `Only items with this text in ${where}. Matched literally, ignoring case. Empty: no filter.`,
      override: { type: "string", maxLength: MAX_SEARCH_LENGTH },
    }),
});

/** `from` and `to`. */
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
