/** The index of all files: R2 holds their bytes, and nothing stands there that has no row here. */
import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const files = sqliteTable(
  "files",
  {
    key: text().primaryKey(),
    accountId: text("account_id").notNull(),
    // No foreign key: when a room goes, its rows must stay until their bytes are gone.
    roomId: text("room_id").notNull(),
    filename: text().notNull(),
    mimeType: text("mime_type").notNull(),
    /** `mimeType` without its parameters, in lower case: what filters compare. */
    mediaType: text("media_type").notNull(),
    /** Bytes; 0 while it is arriving. */
    size: integer().notNull(),
    uploadedBy: text("uploaded_by").notNull(),
    /** When its upload began, and once it is stored, when that was. */
    uploadedAt: integer("uploaded_at").notNull(),
    /** Written before the first byte as `arriving`; only `stored` is shown; `doomed` until R2 has none of it. */
    state: text({ enum: ["arriving", "stored", "doomed"] }).notNull(),
    /** R2's name for an upload in several parts, as long as it is not completed. */
    uploadId: text("upload_id"),
  },
  (table) => [
    index("files_newest")
      .on(table.accountId, table.roomId, sql`uploaded_at DESC`, sql`key DESC`)
      .where(sql`state = 'stored'`),
    index("files_unsettled").on(table.state, table.uploadedAt).where(sql`state <> 'stored'`),
  ],
);

export type FileRow = typeof files.$inferSelect;
