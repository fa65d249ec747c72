/** Slices of the archive of a Durable Object's storage. */
import * as z from "zod";

const ArchiveValue = z.union([z.string(), z.number(), z.null(), z.object({ base64: z.string() })]);
export type ArchiveValue = z.infer<typeof ArchiveValue>;

const ArchivedRow = z.object({ table: z.string(), values: z.array(ArchiveValue) });
export type ArchivedRow = z.infer<typeof ArchivedRow>;

const ArchivedPart = z.object({
  type: z.enum(["table", "index", "trigger"]),
  name: z.string(),
  sql: z.string(),
});
export type ArchivedPart = z.infer<typeof ArchivedPart>;

/** The slices of one reading, in order, are the object at the moment of the last one. JSON of a few MiB. */
export const ArchiveSlice = z.object({
  /** A slice of another reading voids the earlier ones. */
  reading: z.string(),
  version: z.int(),
  schema: z.array(ArchivedPart),
  /** Primary keys of rows that are gone; they precede `rows`. */
  deleted: z.array(ArchivedRow),
  /** Each replaces conflicting rows. */
  rows: z.array(ArchivedRow),
  cursor: z.string().nullable(),
});
export type ArchiveSlice = z.infer<typeof ArchiveSlice>;
