/** The rooms of all organizations. */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { accounts } from "../accounts/table.ts";

export const rooms = sqliteTable(
  "rooms",
  {
    accountId: text("account_id")
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    id: text().notNull(),
    name: text().notNull(),
    /** `fold(name)`: SQLite folds ASCII only. */
    nameFolded: text("name_folded").notNull(),
    customId: text("custom_id"),
    state: text({ enum: ["active", "closed"] }).notNull(),
    createdAt: integer("created_at").notNull(),
    /** When somebody first came to join, as far as that was asked; before, no live room needs to hear of changes. */
    firstJoinAt: integer("first_join_at"),
    totalUsersCreated: integer("total_users_created").notNull().default(0),
    /** The room object's figures, copied here for lists; the object owns them. */
    activeParticipants: integer("active_participants").notNull().default(0),
    /** Milliseconds in which somebody was online, without the running stretch. */
    occupiedMs: integer("occupied_ms").notNull().default(0),
    /** Since when somebody has been online; null while nobody is. */
    occupiedSince: integer("occupied_since"),
    /** The object's count of changes to these figures: an older copy never overwrites a newer one. */
    figuresVersion: integer("figures_version").notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    uniqueIndex("rooms_custom_id").on(table.accountId, table.customId).where(sql`custom_id IS NOT NULL`),
    index("rooms_newest").on(table.accountId, sql`created_at DESC`, sql`id DESC`),
  ],
);

export type RoomRow = typeof rooms.$inferSelect;
