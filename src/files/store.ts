/** The only SQL about files. */
import { and, count, eq, lt, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  type Page,
  preparedByShape,
  type Statement,
  statement,
  type Tenant,
} from "../platform/d1.ts";
import { type FileRow, files } from "./table.ts";

/** Which of a room's files are meant; an empty list of types means all. */
export interface FileFilter {
  /** Media types, and categories as `image/`. */
  readonly mediaTypes: readonly string[];
  readonly uploadedBy: string | null;
}

/** A file whose bytes are to be removed. */
export type DeletingFile = Pick<FileRow, "key" | "accountId" | "uploadId">;

/** A file of which nothing has come yet. */
export type UploadingFile = Omit<FileRow, "size" | "state" | "uploadId">;

const { key, accountId, uploadId } = columnsOf(files);
const DOOMED = { key, accountId, uploadId };
// Literal, not parameters: only so does SQLite see that a partial index holds what is asked for.
const isStored = sql`${files.state} = 'stored'`;
const isArriving = sql`${files.state} = 'arriving' AND ${files.state} <> 'stored'`;
const isDoomed = sql`${files.state} = 'doomed' AND ${files.state} <> 'stored'`;

const whereIs = ({ accountId }: Tenant, key: string) =>
  and(eq(files.accountId, accountId), eq(files.key, key));

/** Announces a file before its first byte, unless the room is not there or closed, or has no such user as uploader. */
export const insertUploading = (
  row: UploadingFile,
  uploader: "user" | "workflow",
): Statement<{ key: string }> => ({
  sql: `INSERT INTO files (key, account_id, room_id, filename, mime_type, media_type, size, uploaded_by, uploaded_at, state)
        SELECT ?, ?, ?, ?, ?, ?, 0, ?, ?, 'arriving'
        WHERE EXISTS (SELECT 1 FROM rooms WHERE account_id = ? AND id = ? AND state = 'active')
          AND (? = 'workflow' OR EXISTS (SELECT 1 FROM users WHERE account_id = ? AND room_id = ? AND id = ?))
        RETURNING key`,
  params: [
    ...[row.key, row.accountId, row.roomId, row.filename, row.mimeType, row.mediaType],
    ...[row.uploadedBy, row.uploadedAt],
    ...[row.accountId, row.roomId, uploader],
    ...[row.accountId, row.roomId, row.uploadedBy],
  ],
});

/** Notes R2's name for the upload, so that its parts can be removed after a crash. */
export const updateUploadId = (tenant: Tenant, key: string, uploadId: string): Statement =>
  statement(build.update(files).set({ uploadId }).where(whereIs(tenant, key)));

/**
 * Shows a file whose bytes are all there, unless it is doomed or its uploader or room has gone meanwhile.
 * No user's id is like a workflow's, which has a colon.
 */
export const markStored = (
  { accountId }: Tenant,
  key: string,
  size: number,
  now: number,
): Statement<{ key: string }> => ({
  sql: `UPDATE files SET state = 'stored', size = ?, uploaded_at = ?, upload_id = NULL
        WHERE key = ? AND account_id = ? AND state = 'arriving'
          AND (EXISTS (SELECT 1 FROM users
                       WHERE account_id = files.account_id AND room_id = files.room_id AND id = files.uploaded_by)
            OR (uploaded_by LIKE 'workflow:%'
                AND EXISTS (SELECT 1 FROM rooms WHERE account_id = files.account_id AND id = files.room_id)))
        RETURNING key`,
  params: [size, now, key, accountId],
});

/** The file as long as it is shown. */
export const selectFile = (tenant: Tenant, key: string): Statement<FileRow> =>
  statement(
    build
      .select(columnsOf(files))
      .from(files)
      .where(and(whereIs(tenant, key), isStored))
      .limit(1),
  );

type Filter = "all" | "one uploader";
const filterOf = ({ uploadedBy }: FileFilter): Filter => (uploadedBy === null ? "all" : "one uploader");

/** A wanted type that ends in a slash is a category; no media type itself ends so. */
const isWantedType = sql`(${sql.placeholder("mediaTypes")} = '[]' OR EXISTS (
  SELECT 1 FROM json_each(${sql.placeholder("mediaTypes")}) AS wanted
  WHERE wanted.value = ${files.mediaType}
     OR wanted.value = substr(${files.mediaType}, 1, instr(${files.mediaType}, '/'))))`;

const filtered = (filter: Filter) =>
  and(
    eq(files.accountId, sql.placeholder("accountId")),
    eq(files.roomId, sql.placeholder("roomId")),
    isStored,
    isWantedType,
    filter === "all" ? undefined : eq(files.uploadedBy, sql.placeholder("uploadedBy")),
  );

const filePage = preparedByShape((filter: Filter) =>
  build
    .select(columnsOf(files))
    .from(files)
    .where(filtered(filter))
    .orderBy(sql`${files.uploadedAt} DESC`, sql`${files.key} DESC`)
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset")),
);

const valuesOf = ({ accountId }: Tenant, roomId: string, { mediaTypes, uploadedBy }: FileFilter) => ({
  accountId,
  roomId,
  mediaTypes: JSON.stringify(mediaTypes),
  uploadedBy,
});

export const selectFiles = (
  tenant: Tenant,
  roomId: string,
  filter: FileFilter,
  { limit, offset }: Page,
): Statement<FileRow> => filePage(filterOf(filter), { ...valuesOf(tenant, roomId, filter), limit, offset });

const fileCount = preparedByShape((filter: Filter) =>
  build
    .select({ total: count().as("total") })
    .from(files)
    .where(filtered(filter)),
);

export const countFiles = (
  tenant: Tenant,
  roomId: string,
  filter: FileFilter,
): Statement<{ total: number }> => fileCount(filterOf(filter), valuesOf(tenant, roomId, filter));

/** Takes a file that is shown out of sight; with `uploadedBy`, only if it is this user's. */
export const markFileForDeletion = (
  tenant: Tenant,
  key: string,
  uploadedBy: string | null,
): Statement<DeletingFile> =>
  statement(
    build
      .update(files)
      .set({ state: "doomed" })
      .where(
        and(
          whereIs(tenant, key),
          isStored,
          uploadedBy === null ? undefined : eq(files.uploadedBy, uploadedBy),
        ),
      )
      .returning(DOOMED),
  );

/** Gives an upload up, unless it is shown: then it has succeeded, whatever its request was told. */
export const markUploadForDeletion = (tenant: Tenant, key: string): Statement<DeletingFile> =>
  statement(
    build
      .update(files)
      .set({ state: "doomed" })
      .where(and(whereIs(tenant, key), sql`${files.state} <> 'stored'`))
      .returning(DOOMED),
  );

/** Takes all files of a room out of sight. */
export const markFilesOfRoomForDeletion = ({ accountId }: Tenant, roomId: string): Statement =>
  statement(
    build
      .update(files)
      .set({ state: "doomed" })
      .where(and(eq(files.accountId, accountId), eq(files.roomId, roomId), isStored)),
  );

/** Takes uploads for lost that began before `before` (epoch ms) and have not ended. */
export const markAbandonedUploads = (before: number): Statement =>
  statement(
    build
      .update(files)
      .set({ state: "doomed" })
      .where(and(isArriving, lt(files.uploadedAt, before))),
  );

export const selectDeleting = (limit: number): Statement<DeletingFile> =>
  statement(build.select(DOOMED).from(files).where(isDoomed).limit(limit));

export const selectDeletingOfRoom = (
  { accountId }: Tenant,
  roomId: string,
  limit: number,
): Statement<DeletingFile> =>
  statement(
    build
      .select(DOOMED)
      .from(files)
      .where(and(isDoomed, eq(files.accountId, accountId), eq(files.roomId, roomId)))
      .limit(limit),
  );

/** Forgets files whose bytes are gone. */
export const deleteMarked = (keys: readonly string[]): Statement =>
  statement(
    build
      .delete(files)
      .where(
        and(
          sql`${files.key} IN (SELECT value FROM json_each(${JSON.stringify(keys)}))`,
          sql`${files.state} = 'doomed'`,
        ),
      ),
  );
