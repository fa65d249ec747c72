/** Tables of access: of groups and identities in rooms, and the defaults. */
import { foreignKey, index, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "../../platform/d1/table.ts";
import { rooms } from "../rooms/table.ts";

export const SUBJECT_KINDS = ["default", "group", "identity"] as const;

export const roomAccess = sqliteTable(
  "room_access",
  {
    accountId: text("account_id").notNull(),
    roomId: text("room_id").notNull(),
    kind: text({ enum: SUBJECT_KINDS }).notNull(),
    /** The ID of the group or identity, whose deletion removes the row by a trigger; empty for the default. */
    subjectId: text("subject_id").notNull(),
    /** A JSON array of permissions, which is never empty. */
    permissions: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.roomId, table.kind, table.subjectId] }),
    foreignKey({
      columns: [table.accountId, table.roomId],
      foreignColumns: [rooms.accountId, rooms.id],
    }).onDelete("cascade"),
    index("room_access_of_subject").on(table.accountId, table.kind, table.subjectId, table.roomId),
  ],
);

/** The default of new rooms. An absent row is an empty default, which lets no identity enter. */
export const accessDefaults = sqliteTable("access_defaults", {
  accountId: text("account_id")
    .primaryKey()
    .references(() => accounts.id, { onDelete: "cascade" }),
  permissions: text().notNull(),
});
