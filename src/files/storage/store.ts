/** The only SQL about files. */
import { and, count, eq, lt, type SQL, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  isNotFenced,
  type Page,
  preparedByOrder,
  preparedByShape,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1.ts";
import { countOnce, ordering, pageValues } from "../../platform/ordering.ts";
import { type FileRow, files } from "./table.ts";

/** Filters a room's files. */
export interface FileFilter {
  /** Media types and categories such as `image/`; empty for all. */
  readonly mediaTypes: readonly string[];
  readonly uploadedBy: string | null;
}

/** A file whose bytes are to be deleted. */
export type DeletingFile = Pick<FileRow, "key" | "accountId" | "uploadId">;

/** A file whose upload begins. */
export type UploadingFile = Omit<FileRow, "size" | "state" | "uploadId">;

const { key, accountId, uploadId } = columnsOf(files);
const DELETING_FILE = { key, accountId, uploadId };
// Literals, not parameters: SQLite uses a partial index only when it sees that the query implies its condition.
const isStored = sql`${files.state} = 'stored'`;
// Not only `uploading`: during a deployment the version before 0007_file_states may still write its own states.
const isUnsettled = sql`${files.state} <> 'stored' AND ${files.state} <> 'deleting'`;
const isDeleting = sql`${files.state} = 'deleting' AND ${files.state} <> 'stored'`;

const whereIs = ({ accountId }: Tenant, key: string) =>
  and(eq(files.accountId, accountId), eq(files.key, key));

/** Inserts a file before its first byte, if its room is active and, for a user's upload, the user is in it. */
export const insertUploading = (
  row: UploadingFile,
  uploader: "user" | "workflow",
): Statement<{ key: string }> => ({
  sql: `INSERT INTO files (key, account_id, room_id, filename, mime_type, media_type, size, uploaded_by, uploaded_at, state)
        SELECT ?, ?, ?, ?, ?, ?, 0, ?, ?, 'uploading'
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

/** Records R2's id of a multipart upload, so that its parts can be deleted after a crash. */
export const updateUploadId = (tenant: Tenant, key: string, uploadId: string): Statement =>
  statement(build.update(files).set({ uploadId }).where(whereIs(tenant, key)));

/**
 * Makes a complete file visible, unless it is being deleted, or its uploader or room was deleted meanwhile.
 * The colon in `workflow:` cannot be part of a user's id.
 */
export const markStored = (
  { accountId }: Tenant,
  key: string,
  size: number,
  now: number,
): Statement<{ key: string }> => ({
  sql: `UPDATE files SET state = 'stored', size = ?, uploaded_at = ?, upload_id = NULL
        WHERE key = ? AND account_id = ? AND state = 'uploading'
          AND (EXISTS (SELECT 1 FROM users
                       WHERE account_id = files.account_id AND room_id = files.room_id AND id = files.uploaded_by)
            OR (uploaded_by LIKE 'workflow:%'
                AND EXISTS (SELECT 1 FROM rooms WHERE account_id = files.account_id AND id = files.room_id)))
        RETURNING key`,
  params: [size, now, key, accountId],
});

/** The file, if it is stored. */
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

/** A wanted type that ends in a slash is a category; no media type ends in one. */
const isWantedType = sql`(${sql.placeholder("mediaTypes")} = '[]' OR EXISTS (
  SELECT 1 FROM json_each(${sql.placeholder("mediaTypes")}) AS wanted
  WHERE wanted.value = ${files.mediaType}
     OR wanted.value = substr(${files.mediaType}, 1, instr(${files.mediaType}, '/'))))`;

const order = ordering({
  table: files,
  by: { uploadedAt: "uploadedAt", filename: "filename", size: "size" },
  time: "uploadedAt",
  id: "key",
  ignoringCase: ["filename"],
});

/** Where a page of {@link selectFiles} ends that has this file last. */
export const positionOf = order.positionOf;

const filtered = (filter: Filter, placed: SQL) =>
  and(
    eq(files.accountId, sql.placeholder("accountId")),
    eq(files.roomId, sql.placeholder("roomId")),
    isStored,
    isWantedType,
    placed,
    filter === "all" ? undefined : eq(files.uploadedBy, sql.placeholder("uploadedBy")),
  );

const filePage = preparedByOrder((filter: Filter, ordered) =>
  build
    .select(columnsOf(files))
    .from(files)
    .where(filtered(filter, order.where(ordered)))
    .orderBy(...order.orderBy(ordered))
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset")),
);

const valuesOf = (
  { accountId }: Tenant,
  roomId: string,
  { mediaTypes, uploadedBy }: FileFilter,
  page: Page,
) => ({
  accountId,
  roomId,
  mediaTypes: JSON.stringify(mediaTypes),
  uploadedBy,
  ...pageValues(page),
});

export const selectFiles = (
  tenant: Tenant,
  roomId: string,
  filter: FileFilter,
  page: Page,
): Statement<FileRow> =>
  filePage(filterOf(filter), order.shapeOf(page), valuesOf(tenant, roomId, filter, page));

const fileCount = preparedByShape((filter: Filter) =>
  build
    .select({ total: count().as("total") })
    .from(files)
    .where(filtered(filter, order.dated)),
);

export const countFiles = (
  tenant: Tenant,
  roomId: string,
  filter: FileFilter,
  page: Page,
): Statement<{ total: number }> =>
  countOnce(page, () => fileCount(filterOf(filter), valuesOf(tenant, roomId, filter, page)));

/** How many files of a room are stored or on their way, and how many of them are the user's. */
export const countKept = (
  { accountId }: Tenant,
  roomId: string,
  userId: string,
): Statement<{ total: number; own: number }> => {
  const kept = (state: string) =>
    `SELECT uploaded_by FROM files WHERE account_id = ? AND room_id = ? AND state ${state}`;
  return {
    sql: `SELECT count(*) AS total, coalesce(sum(uploaded_by = ?), 0) AS own
          FROM (${kept("= 'stored'")} UNION ALL ${kept("<> 'stored' AND state <> 'deleting'")})`,
    params: [userId, accountId, roomId, accountId, roomId],
  };
};

/** Hides a stored file until its bytes are deleted; with `uploadedBy`, only if this user uploaded it. */
export const markFileForDeletion = (
  tenant: Tenant,
  key: string,
  uploadedBy: string | null,
): Statement<DeletingFile> =>
  statement(
    build
      .update(files)
      .set({ state: "deleting" })
      .where(
        and(
          whereIs(tenant, key),
          isStored,
          uploadedBy === null ? undefined : eq(files.uploadedBy, uploadedBy),
        ),
      )
      .returning(DELETING_FILE),
  );

/** Gives up an upload, unless it is stored already: then it has succeeded, even if its request failed. */
export const markUploadForDeletion = (tenant: Tenant, key: string): Statement<DeletingFile> =>
  statement(
    build
      .update(files)
      .set({ state: "deleting" })
      .where(and(whereIs(tenant, key), sql`${files.state} <> 'stored'`))
      .returning(DELETING_FILE),
  );

/** Hides all files of a room until their bytes are deleted. */
export const markFilesOfRoomForDeletion = ({ accountId }: Tenant, roomId: string): Statement =>
  statement(
    build
      .update(files)
      .set({ state: "deleting" })
      .where(and(eq(files.accountId, accountId), eq(files.roomId, roomId), isStored)),
  );

/** Hides up to `limit` files of a room until their bytes are deleted. */
export const markSomeFilesForDeletion = (
  { accountId }: Tenant,
  roomId: string,
  limit: number,
): Statement<{ key: string }> => ({
  sql: `UPDATE files SET state = 'deleting' WHERE key IN (
          SELECT key FROM files WHERE account_id = ? AND room_id = ? AND state = 'stored' LIMIT ?)
        RETURNING key`,
  params: [accountId, roomId, limit],
});

/** The same of those that a user uploaded. */
export const markSomeFilesOfUser = (
  { accountId }: Tenant,
  roomId: string,
  uploadedBy: string,
  limit: number,
): Statement<{ key: string }> => ({
  sql: `UPDATE files SET state = 'deleting' WHERE key IN (
          SELECT key FROM files WHERE account_id = ? AND room_id = ? AND state = 'stored' AND uploaded_by = ? LIMIT ?)
        RETURNING key`,
  params: [accountId, roomId, uploadedBy, limit],
});

/** Gives up the uploads that began before `before` (epoch ms) and have not ended. */
export const markAbandonedUploads = (before: number): Statement =>
  statement(
    build
      .update(files)
      .set({ state: "deleting" })
      .where(and(isUnsettled, lt(files.uploadedAt, before), isNotFenced(files.accountId))),
  );

export const selectDeleting = (limit: number): Statement<DeletingFile> =>
  statement(
    build
      .select(DELETING_FILE)
      .from(files)
      .where(and(isDeleting, isNotFenced(files.accountId)))
      .limit(limit),
  );

export const selectDeletingOfRoom = (
  { accountId }: Tenant,
  roomId: string,
  limit: number,
): Statement<DeletingFile> =>
  statement(
    build
      .select(DELETING_FILE)
      .from(files)
      .where(and(isDeleting, eq(files.accountId, accountId), eq(files.roomId, roomId)))
      .limit(limit),
  );

/** Deletes the rows of files whose bytes are deleted. */
export const deleteMarked = (keys: readonly string[]): Statement =>
  statement(
    build
      .delete(files)
      .where(
        and(
          sql`${files.key} IN (SELECT value FROM json_each(${JSON.stringify(keys)}))`,
          sql`${files.state} = 'deleting'`,
        ),
      ),
  );
