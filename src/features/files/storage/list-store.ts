/** The SQL that lists and counts stored files. */
import { and, eq, type SQL, sql } from "drizzle-orm";
import {
  columnsOf,
  listed,
  type Page,
  type Statement,
  statement,
  type Tenant,
} from "../../../platform/d1/d1.ts";
import { countOnce, ordering } from "../../../platform/d1/ordering.ts";
import { isStored } from "./statements.ts";
import { type FileRow, files } from "./table.ts";

export interface FileFilter {
  readonly mediaTypes: readonly string[];
  readonly uploadedBy: string | null;
}

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

const filePage = order.pages(columnsOf(files), filtered);

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
  page: Page,
): Statement<FileRow> => filePage(filterOf(filter), page, valuesOf(tenant, roomId, filter));

const countOfRoom = ({ accountId }: Tenant, roomId: string): Statement<{ total: number }> =>
  statement`SELECT file_count AS total FROM rooms WHERE account_id = ${accountId} AND id = ${roomId}`;

const fileCount = order.counts(filtered);

/** Triggers count a room's files; a filtered list counts its matches. */
export const countFiles = (
  tenant: Tenant,
  roomId: string,
  filter: FileFilter,
  page: Page,
): Statement<{ total: number }> =>
  countOnce(page, () =>
    filter.uploadedBy === null && filter.mediaTypes.length === 0
      ? countOfRoom(tenant, roomId)
      : fileCount(filterOf(filter), page, valuesOf(tenant, roomId, filter)),
  );

export type NamedFile = Pick<FileRow, "key" | "filename" | "uploadedBy" | "uploadedAt">;

/** Behind which file the names go on. */
export type FilePosition = Pick<FileRow, "key" | "uploadedAt">;

export function selectNames(
  { accountId }: Tenant,
  roomId: string | null,
  { uploadedAt, key }: FilePosition,
  limit: number,
): Statement<NamedFile> {
  const inRoom = roomId === null ? sql`TRUE` : sql`room_id = ${roomId}`;
  return statement`SELECT key, filename, uploaded_by AS uploadedBy, uploaded_at AS uploadedAt FROM files
      WHERE account_id = ${accountId} AND ${inRoom} AND state = 'stored'
        AND uploaded_at <= ${uploadedAt} AND (uploaded_at, key) < (${uploadedAt}, ${key})
      ORDER BY uploaded_at DESC, key DESC LIMIT ${limit}`;
}

export interface FoundRow extends FileRow {
  readonly roomName: string;
  /** Null for a file of a workflow. */
  readonly uploaderName: string | null;
}

/** These files as they are now, newest first; those that were deleted meanwhile are missing. */
export const selectFound = (
  { accountId }: Tenant,
  keys: readonly string[],
): Statement<FoundRow> => statement`SELECT files.key, files.account_id AS accountId,
    files.room_id AS roomId,
    files.filename,
      files.mime_type AS mimeType, files.media_type AS mediaType, files.size, files.uploaded_by AS uploadedBy,
      files.uploaded_at AS uploadedAt, files.state, files.upload_id AS uploadId,
      rooms.name AS roomName, users.name AS uploaderName
    FROM files JOIN rooms ON rooms.account_id = files.account_id AND rooms.id = files.room_id
      LEFT JOIN users ON users.id = files.uploaded_by
    WHERE files.key IN ${listed(keys)} AND +files.account_id = ${accountId}
      AND files.state = 'stored'
      AND rooms.deleted_at IS NULL
    ORDER BY files.uploaded_at DESC, files.key DESC`;
