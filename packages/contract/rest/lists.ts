/** The query parameters of lists: pages, search and date filters; and the fields of their pages. */

import * as z from "zod";
import { codePoints, fold } from "../text.ts";
import { timeInput } from "../time.ts";

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
const CURSOR_EXAMPLE = "WzE3Njk4MTc2MDAwMDAsIjZiYTdiODEwLTlkYWQtNDFkMS04MGI0LTAwYzA0ZmQ0MzBjOCIsNTAsMTIwXQ";

/** The place in a list at which an earlier page ended, as clients keep it. */
export const Cursor = z.string().max(MAX_CURSOR_LENGTH).meta({ example: CURSOR_EXAMPLE });

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
