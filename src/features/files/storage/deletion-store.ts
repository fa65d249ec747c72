/** The SQL by which files are marked for deletion, and deleted. */
import { and, eq, inArray, lt, sql } from "drizzle-orm";
import {
  build,
  columnsOf,
  isNotFenced,
  type Statement,
  statement,
  type Tenant,
} from "../../../platform/d1/d1.ts";
import { HAS_ROOM, isStored, isUploading, whereIs } from "./store.ts";
import { type FileRow, files } from "./table.ts";

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
          sql.raw(HAS_ROOM),
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

/** Hides up to `limit` files of a room until their bytes are deleted. */
export const markSomeFilesForDeletion = (
  { accountId }: Tenant,
  roomId: string,
  limit: number,
): Statement<DeletingFile> => ({
  sql: `UPDATE files SET state = 'deleting' WHERE key IN (
          SELECT key FROM files WHERE account_id = ? AND room_id = ? AND state = 'stored' LIMIT ?)
        RETURNING key, account_id AS accountId, upload_id AS uploadId`,
  params: [accountId, roomId, limit],
});

/** The same of those that a user uploaded. */
export const markSomeFilesOfUser = (
  { accountId }: Tenant,
  roomId: string,
  uploadedBy: string,
  limit: number,
): Statement<DeletingFile> => ({
  sql: `UPDATE files SET state = 'deleting' WHERE key IN (
          SELECT key FROM files WHERE account_id = ? AND room_id = ? AND state = 'stored' AND uploaded_by = ? LIMIT ?)
        RETURNING key, account_id AS accountId, upload_id AS uploadId`,
  params: [accountId, roomId, uploadedBy, limit],
});

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
    build
      .delete(files)
      .where(
        and(
          sql`${files.key} IN (SELECT value FROM json_each(${JSON.stringify(keys)}))`,
          sql`${files.state} = 'deleting'`,
        ),
      ),
  );
