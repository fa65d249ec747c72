/** The SQL that inserts files as their upload begins, completes them, and reads one. */
import { and, eq, sql } from "drizzle-orm";
import { build, columnsOf, type Statement, statement, type Tenant } from "../../../platform/d1/d1.ts";
import { type FileRow, files } from "./table.ts";

export type UploadingFile = Omit<FileRow, "size" | "state" | "uploadId">;

// Literals, not parameters: SQLite uses a partial index only when it sees that the query implies its condition.
export const isStored = sql`${files.state} = 'stored'`;
export const isUploading = sql`${files.state} <> 'stored' AND ${files.state} = 'uploading'`;

/** A room that was deleted may still have stored files. */
export const HAS_ROOM = `EXISTS (
  SELECT 1 FROM rooms WHERE rooms.account_id = files.account_id AND rooms.id = files.room_id AND rooms.deleted_at IS NULL)`;

export const whereIs = ({ accountId }: Tenant, key: string) =>
  and(eq(files.accountId, accountId), eq(files.key, key));

/** Inserts a file before its first byte, if its room is active and, for a user's upload, the user is in it. */
export const insertUploading = (
  row: UploadingFile,
  uploader: "user" | "workflow",
): Statement<{ key: string }> => ({
  sql: `INSERT INTO files (key, account_id, room_id, filename, mime_type, media_type, size, uploaded_by, uploaded_at, state)
        SELECT ?, ?, ?, ?, ?, ?, 0, ?, ?, 'uploading'
        WHERE EXISTS (SELECT 1 FROM rooms WHERE account_id = ? AND id = ? AND state = 'active' AND deleted_at IS NULL)
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

/** Shows a complete file whose room and uploader exist. No user ID contains the colon of `workflow:`. */
export const markStored = (
  { accountId }: Tenant,
  key: string,
  size: number,
  now: number,
): Statement<{ key: string }> => ({
  sql: `UPDATE files SET state = 'stored', size = ?, uploaded_at = ?, upload_id = NULL
        WHERE key = ? AND account_id = ? AND state = 'uploading'
          AND ${HAS_ROOM}
          AND (uploaded_by LIKE 'workflow:%' OR EXISTS (SELECT 1 FROM users
                       WHERE account_id = files.account_id AND room_id = files.room_id AND id = files.uploaded_by))
        RETURNING key`,
  params: [size, now, key, accountId],
});

export const selectFile = (tenant: Tenant, key: string): Statement<FileRow> =>
  statement(
    build
      .select(columnsOf(files))
      .from(files)
      .where(and(whereIs(tenant, key), isStored, sql.raw(HAS_ROOM)))
      .limit(1),
  );

/** Files that are stored or uploading: of the room, and of the user. */
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
