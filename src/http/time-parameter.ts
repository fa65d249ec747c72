/** A time in a query: the beginning or the end of what is asked for. */
import * as z from "zod";
import { parseTime } from "../platform/time.ts";

/** A date without a time is the start of that UTC day as a beginning, and its end as an end. In epoch milliseconds. */
export const timeParameter = (end: "from" | "to", description: string) =>
  z
    .string()
    .transform((value, context) => {
      const parsed = parseTime(value, end);
      if (parsed === null)
        context.addIssue("must be a date or an RFC 3339 timestamp with a time zone (write + as %2B)");
      return parsed ?? z.NEVER;
    })
    .optional()
    .meta({ description, override: { type: "string", example: "2026-01-31" } });
