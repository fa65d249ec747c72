/** The SQL about single files: their upload and their deletion. */
import { and, eq, inArray, lt, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  isNotFenced,
  listed,
  type Statement,
  statement,
  type Tenant,
} from "../../../platform/d1/d1.ts";
import { type FileRow, files } from "./table.ts";

export type UploadingFile = Omit<FileRow, "size" | "state" | "uploadId">;

// Literals, not parameters: SQLite uses a partial index only when it sees that the query implies its condition.
export const isStored = sql`${files.state} = 'stored'`;
const isUploading = sql`${files.state} <> 'stored' AND ${files.state} = 'uploading'`;

/** A room that was deleted may still have stored files. */
const HAS_ROOM = sql`EXISTS (
    SELECT 1 FROM rooms WHERE rooms.account_id = files.account_id AND rooms.id = files.room_id
      AND rooms.deleted_at IS NULL)`;

const whereIs = ({ accountId }: Tenant, key: string) =>
  and(eq(files.accountId, accountId), eq(files.key, key));

/** Inserts a file before its first byte, if its room is active and, for a user's upload, the user is in it. */
export const insertUploading = (
  { key, accountId, roomId, filename, mimeType, mediaType, uploadedBy, uploadedAt }: UploadingFile,
  uploader: "user" | "workflow",
): Statement<{ key: string }> =>
  statement`INSERT INTO files (key, account_id, room_id, filename, mime_type, media_type, size, uploaded_by,
      uploaded_at, state)
      SELECT ${key}, ${accountId}, ${roomId}, ${filename}, ${mimeType}, ${mediaType}, 0, ${uploadedBy}, ${uploadedAt},
        'uploading'
      WHERE EXISTS (SELECT 1 FROM rooms
          WHERE account_id = ${accountId} AND id = ${roomId} AND state = 'active' AND deleted_at IS NULL)
        AND (${uploader} = 'workflow' OR EXISTS (SELECT 1 FROM users
          WHERE account_id = ${accountId} AND room_id = ${roomId} AND id = ${uploadedBy}))
      RETURNING key`;

/** Records R2's id of a multipart upload, so that its parts can be deleted after a crash. */
export const updateUploadId = (tenant: Tenant, key: string, uploadId: string): Statement =>
  statement(build.update(files).set({ uploadId }).where(whereIs(tenant, key)));

/** Shows a complete file whose room and uploader exist. No user ID contains the colon of `workflow:`. */
export const markStored = (
  { accountId }: Tenant,
  key: string,
  size: number,
  now: number,
): Statement<{ key: string }> => statement`UPDATE files
    SET state = 'stored', size = ${size}, uploaded_at = ${now}, upload_id = NULL
    WHERE key = ${key} AND account_id = ${accountId} AND state = 'uploading'
      AND ${HAS_ROOM}
      AND (uploaded_by LIKE 'workflow:%' OR EXISTS (SELECT 1 FROM users
                   WHERE account_id = files.account_id AND room_id = files.room_id AND id = files.uploaded_by))
    RETURNING key`;

export const selectFile = (tenant: Tenant, key: string): Statement<FileRow> =>
  statement(
    build
      .select(columnsOf(files))
      .from(files)
      .where(and(whereIs(tenant, key), isStored, HAS_ROOM))
      .limit(1),
  );

export type DeletingFile = Pick<FileRow, "key" | "accountId" | "uploadId">;

const { key, accountId, uploadId } = columnsOf(files);
const DELETING_FILE = { key, accountId, uploadId };
const isDeleting = sql`${files.state} = 'deleting' AND ${files.state} <> 'stored'`;

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
          HAS_ROOM,
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

const RETURNED = sql`RETURNING key, account_id AS accountId, upload_id AS uploadId`;

/** Hides up to `limit` files of a room until their bytes are deleted. */
export const markSomeFilesForDeletion = (
  { accountId }: Tenant,
  roomId: string,
  limit: number,
): Statement<DeletingFile> => statement`UPDATE files SET state = 'deleting' WHERE key IN (
    SELECT key FROM files WHERE account_id = ${accountId} AND room_id = ${roomId} AND state = 'stored'
      LIMIT ${limit}) ${RETURNED}`;

/** A user in a room. */
export interface Uploader {
  readonly id: string;
  readonly roomId: string;
}

/** The same for the files of these users, each in its room. */
export const markFilesOfUsers = (
  { accountId }: Tenant,
  users: readonly Uploader[],
  limit: number,
): Statement<DeletingFile> => statement`UPDATE files SET state = 'deleting' WHERE key IN (
    SELECT files.key FROM json_each(${JSON.stringify(users)}) AS uploader
      CROSS JOIN files ON account_id = ${accountId} AND state = 'stored'
      AND room_id = uploader.value ->> 'roomId' AND uploaded_by = uploader.value ->> 'id'
        LIMIT ${limit}) ${RETURNED}`;

/** Gives up up to `limit` uploads that began before `before` (epoch ms) and have not ended. Returns a row for each. */
export const markAbandonedUploads = (before: number, limit: number): Statement<{ key: string }> =>
  statement(
    build
      .update(files)
      .set({ state: "deleting" })
      .where(
        inArray(
          files.key,
          build
            .select({ key: files.key })
            .from(files)
            .where(and(isUploading, lt(files.uploadedAt, before), isNotFenced(files.accountId)))
            .limit(limit),
        ),
      )
      .returning({ key: files.key }),
  );

export const selectDeleting = (limit: number): Statement<DeletingFile> =>
  statement(
    build
      .select(DELETING_FILE)
      .from(files)
      .where(and(isDeleting, isNotFenced(files.accountId)))
      .limit(limit),
  );

export const deleteMarked = (keys: readonly string[]): Statement =>
  statement(
    build.delete(files).where(and(sql`${files.key} IN ${listed(keys)}`, sql`${files.state} = 'deleting'`)),
  );
