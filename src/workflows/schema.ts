/** What a run of a workflow leaves to be read. */
import * as z from "zod";

/** A line that a run has logged. */
export const LogLine = z.object({
  level: z.enum(["debug", "log", "info", "warn", "error"]),
  message: z.string(),
  timestamp: z.iso.datetime(),
});
export type LogLine = z.infer<typeof LogLine>;
