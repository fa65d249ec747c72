/** The form of an organization's backup: what its files and the requests that make and restore it have. */
import * as z from "zod";

/** Grows when an earlier version of the service could not read what this one writes. */
export const ARCHIVE_FORMAT = 1;
/** The number of D1's latest migration. A restore takes rows of an earlier one, and refuses rows of a later one. */
export const SCHEMA = 0;

/** Carries the signature of a slice. */
export const SIGNATURE_HEADER = "Atrium-Signature";
/** The size of a file whose part is sent. */
export const FILE_SIZE_HEADER = "Atrium-File-Size";
/** A file goes in parts of this size, so that no request is larger. */
export const FILE_PART_BYTES = 8 * 1024 * 1024;
/** Objects in one request. */
export const OBJECTS_AT_ONCE = 20;

const ArchivedOrganization = z.object({
  id: z.uuid(),
  name: z.string(),
  /** Epoch milliseconds. */
  createdAt: z.int(),
  tokenEpoch: z.int(),
});

/** What a backup is, written and signed last: a folder without it is not complete. */
export const Manifest = z.object({
  format: z.int(),
  schema: z.int(),
  backupId: z.uuid(),
  organization: ArchivedOrganization,
  /** ISO 8601. What changed between these two may be in the backup or not. */
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  /** The files of slices: how many each has, and its SHA-256 in hexadecimal. */
  parts: z.array(
    z.object({ name: z.string(), slices: z.int(), bytes: z.int(), sha256: z.string().length(64) }),
  ),
  files: z.object({ count: z.int(), bytes: z.int() }),
});
export type Manifest = z.infer<typeof Manifest>;

/** A row by its columns, as D1 has it. */
const ArchivedRow = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

const Position = z.array(z.union([z.string(), z.number(), z.null()]));

/** Rows of a part, and behind which one the next slice begins; null after the last. */
export const RowSlice = z.object({ rows: z.array(ArchivedRow), after: Position.nullable() });
export type RowSlice = z.infer<typeof RowSlice>;

/** `id` of a log is the number of its shard. */
export const ObjectRef = z.object({ kind: z.enum(["room", "webhook", "workflow", "log"]), id: z.string() });
export type ObjectRef = z.infer<typeof ObjectRef>;

const ObjectRows = z.array(
  z.object({
    table: z.string(),
    values: z.array(z.union([z.string(), z.number(), z.null(), z.object({ base64: z.string() })])),
  }),
);

/** What an object has archived: `ArchiveSlice` of platform/object-archive. */
const ObjectSlice = z.object({
  reading: z.string(),
  version: z.int(),
  schema: z.array(
    z.object({ type: z.enum(["table", "index", "trigger"]), name: z.string(), sql: z.string() }),
  ),
  deleted: ObjectRows,
  rows: ObjectRows,
  cursor: z.string().nullable(),
});

/** Slices of objects; `next` says which of those asked for is to be asked for next, and behind which cursor. */
export const ObjectSlices = z.object({
  objects: z.array(ObjectRef.extend({ slice: ObjectSlice })),
  next: z.object({ index: z.int(), after: z.string().nullable() }).nullable(),
});
export type ObjectSlices = z.infer<typeof ObjectSlices>;

/** What a backup begins with. */
export const BackupPlan = z.object({
  organization: ArchivedOrganization,
  /** In the order in which they are copied; `objects` is one of them. */
  parts: z.array(
    z.object({
      name: z.string(),
      /** Rows whose `column` is the ID of no row of that part are left out: it was created meanwhile. */
      parent: z.object({ part: z.string(), column: z.string() }).optional(),
    }),
  ),
  shards: z.int(),
});
export type BackupPlan = z.infer<typeof BackupPlan>;

/** What a restore begins with: the parts in their order, and the position that was noted last. */
export const RestorePlan = z.object({ parts: z.array(z.string()), position: z.string() });
export type RestorePlan = z.infer<typeof RestorePlan>;

/** The part that is not of rows. */
export const OBJECTS = "objects";
/** The part whose rows have bytes in R2. */
export const FILES = "files";
