/** A time in a query: the beginning or the end of what is asked for. */
import { timeInput } from "../../platform/time.ts";

/** A date without a time is the start of that UTC day as a beginning, and its end as an end. In epoch milliseconds. */
export const timeParameter = (end: "from" | "to", description: string) =>
  timeInput(end, " (write + as %2B)")
    .optional()
    .meta({ description, override: { type: "string", example: "2026-01-31" } });
