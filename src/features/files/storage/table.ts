/** The index of all files. R2 holds their bytes, and never any without a row here. */
import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const files = sqliteTable(
  "files",
  {
    key: text().primaryKey(),
    accountId: text("account_id").notNull(),
    // No foreign key: the rows of a deleted room must outlive it until their bytes are deleted.
    roomId: text("room_id").notNull(),
    filename: text().notNull(),
    mimeType: text("mime_type").notNull(),
    /** `mimeType` in lower case without its parameters, for filters. */
    mediaType: text("media_type").notNull(),
    /** Bytes; 0 while it is uploading. */
    size: integer().notNull(),
    uploadedBy: text("uploaded_by").notNull(),
    /** When the upload began; once it is stored, when it ended. */
    uploadedAt: integer("uploaded_at").notNull(),
    /** `uploading` from before the first byte; only `stored` is visible; `deleting` until R2 holds none of it. */
    state: text({ enum: ["uploading", "stored", "deleting"] }).notNull(),
    /** R2's id of a multipart upload that is not complete. */
    uploadId: text("upload_id"),
  },
  (table) => [
    index("files_newest")
      .on(table.accountId, table.roomId, sql`uploaded_at DESC`, sql`key DESC`)
      .where(sql`state = 'stored'`),
    index("files_by_name")
      .on(table.accountId, table.roomId, sql`filename COLLATE NOCASE`, table.key)
      .where(sql`state = 'stored'`),
    index("files_by_size")
      .on(table.accountId, table.roomId, table.size, table.key)
      .where(sql`state = 'stored'`),
    index("files_of_account")
      .on(table.accountId, sql`uploaded_at DESC`, sql`key DESC`)
      .where(sql`state = 'stored'`),
    index("files_unsettled").on(table.state, table.uploadedAt).where(sql`state <> 'stored'`),
  ],
);

export type FileRow = typeof files.$inferSelect;
