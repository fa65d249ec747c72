/** The rooms of all organizations. */
import type { RoomLimitName } from "@atrium/contract/resources/room-limits.ts";
import { fold } from "@atrium/contract/text.ts";
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { rowOf } from "../../platform/d1/d1.ts";
import { accounts } from "../../platform/d1/table.ts";

/** Later than all times: see `lastActiveAt`. */
export const STILL_ACTIVE = 1_000_000_000_000_000;

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
    /**
     * When the cron trigger deletes the room, epoch ms; null for a room that stays. Links have an `expires_at`, which
     * statements that join them leave unqualified.
     */
    expiresAt: integer("ends_at"),
    /** Its own limits as JSON, by their names in requests; null for none. */
    limits: text(),
    /** The first join, epoch ms. Until then the room's object is empty, and changes are not sent to it. */
    firstJoinAt: integer("first_join_at"),
    totalUsersCreated: integer("total_users_created").notNull().default(0),
    /** The number of users now, which triggers count. */
    userCount: integer("user_count").notNull().default(0),
    /** A copy of the room's live stats, for lists. The room's object owns them. */
    activeParticipants: integer("active_participants").notNull().default(0),
    /** Total time with at least one user online, in milliseconds, without the current occupancy period. */
    occupiedMs: integer("occupied_ms").notNull().default(0),
    /** Start of the current occupancy period, epoch ms; null while no user is online. */
    occupiedSince: integer("occupied_since"),
    /**
     * Epoch ms; 0 before the first join. While users are online, {@link STILL_ACTIVE} plus the start, which
     * sorts first.
     */
    lastActiveAt: integer("last_active_at").notNull().default(0),
    /** A copy of what the room's stores have together, for the quota of the organization. Late by up to a MiB. */
    storeBytes: integer("store_bytes").notNull().default(0),
    /** The number of files and their bytes, which triggers count. */
    fileCount: integer("file_count").notNull().default(0),
    fileBytes: integer("file_bytes").notNull().default(0),
    /** When the room was deleted, epoch ms. From then on the row only says what is left to remove: {@link IS_LIVE}. */
    deletedAt: integer("deleted_at"),
    /** Increases with every change of the stats, so that an older copy never overwrites a newer one. */
    statsVersion: integer("stats_version").notNull().default(0),
    /** Epoch ms: until then a join may go on that `activeParticipants` does not show yet. Joins of identities renew it. */
    joiningUntil: integer("joining_until").notNull().default(0),
    /** The end of the latest token that watches the room, epoch ms; 0 before the first. Watchers are not counted anywhere. */
    watchedUntil: integer("watched_until").notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    uniqueIndex("rooms_custom_id").on(table.accountId, table.customId).where(sql`custom_id IS NOT NULL`),
    index("rooms_newest").on(table.accountId, sql`created_at DESC`, sql`id DESC`),
    index("rooms_by_name").on(table.accountId, table.nameFolded, table.id),
    index("rooms_last_active").on(table.accountId, table.lastActiveAt, table.id),
    index("rooms_closed")
      .on(table.accountId, sql`created_at DESC`, sql`id DESC`)
      .where(sql`state = 'closed'`),
    index("rooms_online")
      .on(table.accountId, sql`created_at DESC`, sql`id DESC`)
      .where(sql`active_participants > 0`),
    index("rooms_expiring").on(table.expiresAt).where(sql`ends_at IS NOT NULL AND deleted_at IS NULL`),
    index("rooms_deleted").on(table.deletedAt).where(sql`deleted_at IS NOT NULL`),
    index("rooms_joined").on(table.accountId, table.firstJoinAt).where(sql`first_join_at IS NOT NULL`),
    index("rooms_watched").on(table.accountId, table.watchedUntil).where(sql`watched_until > 0`),
  ],
);

/** The condition of every statement that is about a room's row: a deleted room is not there, and goes in slices. */
export const IS_LIVE = sql`rooms.deleted_at IS NULL`;

export type RoomRow = typeof rooms.$inferSelect;

/** The limits of a room that D1 holds, with the columns that count for them. */
export const ROOM_COUNTERS = {
  users: "userCount",
  files: "fileCount",
  fileBytes: "fileBytes",
} as const satisfies Partial<Record<RoomLimitName, keyof RoomRow>>;
export type CountedLimit = keyof typeof ROOM_COUNTERS;

/** A room that no one has joined yet. */
export const newRoomRow = (fields: Omit<typeof rooms.$inferInsert, "nameFolded" | "state">): RoomRow =>
  rowOf(rooms, { ...fields, nameFolded: fold(fields.name), state: "active" });
