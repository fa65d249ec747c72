/** The SQL that looks for files by their names, in all rooms of an organization or in one. */
import type { Statement, Tenant } from "../../../platform/d1/d1.ts";
import type { FileRow } from "./table.ts";

/** What a search looks at. */
export type NamedFile = Pick<FileRow, "key" | "filename" | "uploadedBy" | "uploadedAt">;

/** Behind which file the names go on. */
export type FilePosition = Pick<FileRow, "key" | "uploadedAt">;

/** The newest files. No key is behind the tilde. */
export const BEFORE_NEWEST: FilePosition = { uploadedAt: Number.MAX_SAFE_INTEGER, key: "~" };

/** The names of files, newest first, at most so many. */
export function selectNames(
  { accountId }: Tenant,
  roomId: string | null,
  { uploadedAt, key }: FilePosition,
  limit: number,
): Statement<NamedFile> {
  const room = roomId === null ? "" : " AND room_id = ?";
  return {
    sql: `SELECT key, filename, uploaded_by AS uploadedBy, uploaded_at AS uploadedAt FROM files
          WHERE account_id = ?${room} AND state = 'stored' AND uploaded_at <= ? AND (uploaded_at, key) < (?, ?)
          ORDER BY uploaded_at DESC, key DESC LIMIT ?`,
    params: [accountId, ...(roomId === null ? [] : [roomId]), uploadedAt, uploadedAt, key, limit],
  };
}

/** A file with the names of what it belongs to. */
export interface FoundRow extends FileRow {
  readonly roomName: string;
  /** Null for a file of a workflow. */
  readonly uploaderName: string | null;
}

/** These files as they are now, newest first; those that were deleted meanwhile are missing. */
export const selectFound = ({ accountId }: Tenant, keys: readonly string[]): Statement<FoundRow> => ({
  sql: `SELECT files.key, files.account_id AS accountId, files.room_id AS roomId, files.filename,
          files.mime_type AS mimeType, files.media_type AS mediaType, files.size, files.uploaded_by AS uploadedBy,
          files.uploaded_at AS uploadedAt, files.state, files.upload_id AS uploadId,
          rooms.name AS roomName, users.name AS uploaderName
        FROM files JOIN rooms ON rooms.account_id = files.account_id AND rooms.id = files.room_id
          LEFT JOIN users ON users.id = files.uploaded_by
        WHERE files.key IN (SELECT value FROM json_each(?)) AND +files.account_id = ? AND files.state = 'stored'
          AND rooms.deleted_at IS NULL
        ORDER BY files.uploaded_at DESC, files.key DESC`,
  params: [JSON.stringify(keys), accountId],
});
