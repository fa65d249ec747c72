/** Versions of workflows on the wire. The SDK infers its types from it. */

import * as z from "zod";
import { Timestamp } from "../time.ts";
import { EXAMPLE } from "./workflows.ts";

const VersionAuthor = z.object({
  type: z.enum(["person", "key"]).meta({
    description: "`person` for a member in the dashboard, `key` for an API key.",
  }),
  id: z.string().meta({ description: "The person's or the API key's ID." }),
  name: z.string().nullable().meta({ description: "Null for an API key, and for a person who is gone." }),
});

const SUMMARY_EXAMPLE = {
  version: 3,
  saved_at: "2026-01-31T09:30:00.000Z",
  saved_by: { type: "person", id: "5e1b6f0a-3c54-4a3e-9d0f-7a2c8b4d1e90", name: "Ada" },
  bytes: new TextEncoder().encode(EXAMPLE.code).byteLength,
} as const;

export const WorkflowVersionSummary = z
  .object({
    version: z.int().meta({ description: "Counts the codes that were saved, from 1.", minimum: 1 }),
    saved_at: Timestamp,
    saved_by: VersionAuthor.nullable().meta({
      description: "Null for code that was saved before versions were kept.",
    }),
    bytes: z.int().meta({ description: "The size of the code in UTF-8.", minimum: 1 }),
  })
  .meta({ id: "WorkflowVersionSummary", example: SUMMARY_EXAMPLE });
export type WorkflowVersionSummary = z.infer<typeof WorkflowVersionSummary>;

export const WorkflowVersion = WorkflowVersionSummary.extend({ code: z.string() }).meta({
  id: "WorkflowVersion",
  example: { ...SUMMARY_EXAMPLE, code: EXAMPLE.code },
});
export type WorkflowVersion = z.infer<typeof WorkflowVersion>;
