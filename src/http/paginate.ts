/** The query parameters of lists (spec section 4): pages, search and date filters. */
import * as z from "zod";
import type { Page } from "../platform/d1.ts";
import { codePoints, fold } from "../platform/text.ts";
import { parseTime } from "../platform/time.ts";

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 100;
const MAX_SEARCH_LENGTH = 256;

const WHOLE_NUMBER = /^[0-9]+$/;

const Limit = z
  .string()
  .refine((value) => WHOLE_NUMBER.test(value) && Number(value) >= 1, "must be a whole number of at least 1")
  .transform((value) => Math.min(Number(value), MAX_LIMIT))
  .default(DEFAULT_LIMIT)
  .meta({
    description: `How many to show; above ${MAX_LIMIT} it counts as ${MAX_LIMIT}.`,
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
  .meta({ description: "How many to pass over.", override: { type: "integer", minimum: 0, default: 0 } });

const time = (end: "from" | "to") =>
  z
    .string()
    .transform((value, context) => {
      const parsed = parseTime(value, end);
      if (parsed === null)
        context.addIssue("must be a date, or an RFC 3339 timestamp with a zone (with + as %2B)");
      return parsed ?? z.NEVER;
    })
    .optional()
    .meta({
      description:
        end === "from"
          ? "Keeps what was created at or after it. A bare date means the first millisecond of that UTC day."
          : "Keeps what was created at or before it. A bare date means the last millisecond of that UTC day.",
      override: { type: "string", example: "2026-01-31" },
    });

/** `limit` and `offset`. */
export const paging = { limit: Limit, offset: Offset };

/** `search` in the field that `where` names. */
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
      description: `Keeps what has this text in ${where}, literally and in any case. Empty: no filter.`,
      override: { type: "string", maxLength: MAX_SEARCH_LENGTH },
    }),
});

/** `from` and `to`. */
export const dates = { from: time("from"), to: time("to") };

/** What a list's parsed query asks of a store. */
export const toPage = (query: {
  readonly limit: number;
  readonly offset: number;
  readonly search?: string;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}): Page => ({
  limit: query.limit,
  offset: query.offset,
  search: query.search ?? "",
  from: query.from ?? Number.MIN_SAFE_INTEGER,
  to: query.to ?? Number.MAX_SAFE_INTEGER,
});

/** The part of a paginated answer that says which page it is. */
export const pageShape = {
  total: z.int().meta({ description: "How many match, on all pages together.", minimum: 0, example: 1 }),
  limit: z.int().meta({ description: "As used.", minimum: 1, example: 50 }),
  offset: z.int().meta({ description: "As used.", minimum: 0, example: 0 }),
};

/** Which page an answer shows, and of how many items. */
export interface PresentedPage {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

/** The page as it was used, with the total that a count statement answered. */
export const presentPage = (
  { limit, offset }: Page,
  counted: readonly { readonly total: number }[],
): PresentedPage => ({
  total: counted[0]?.total ?? 0,
  limit,
  offset,
});
