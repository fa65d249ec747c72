/** The users of all rooms. */

import type { RoomState } from "@atrium/contract/resources/room.ts";
import type { UserRecord } from "@atrium/contract/resources/user.ts";
import { ROLES, USER_KINDS } from "@atrium/contract/resources/user.ts";
import { sql } from "drizzle-orm";
import { foreignKey, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { rooms } from "../rooms/table.ts";

export const users = sqliteTable(
  "users",
  {
    id: text().primaryKey(),
    accountId: text("account_id").notNull(),
    roomId: text("room_id").notNull(),
    name: text().notNull(),
    /** `fold(name)`: SQLite folds ASCII only. */
    nameFolded: text("name_folded").notNull(),
    profilePicture: text("profile_picture"),
    customId: text("custom_id"),
    role: text({ enum: ROLES }).notNull(),
    createdAt: integer("created_at").notNull(),
    /** When the user's tokens were last ended, epoch ms; 0 before that. Grows with each ending, whatever the clock says. */
    tokenEpoch: integer("token_epoch").notNull().default(0),
    /** The identity of the user. It outlives the identity's row, so that the user of a deleted one has no access. */
    identityId: text("identity_id"),
    /** The identity's kind; null for a person. */
    kind: text({ enum: USER_KINDS }),
  },
  (table) => [
    // The key includes the account, so that the database refuses a user in another organization's room.
    foreignKey({
      columns: [table.accountId, table.roomId],
      foreignColumns: [rooms.accountId, rooms.id],
    }).onDelete("cascade"),
    uniqueIndex("users_custom_id")
      .on(table.accountId, table.roomId, table.customId)
      .where(sql`custom_id IS NOT NULL`),
    uniqueIndex("users_identity")
      .on(table.accountId, table.identityId, table.roomId)
      .where(sql`identity_id IS NOT NULL`),
    index("users_newest").on(table.accountId, table.roomId, sql`created_at DESC`, sql`id DESC`),
    index("users_by_name").on(table.accountId, table.roomId, table.nameFolded, table.id),
  ],
);

export type StoredUser = typeof users.$inferSelect;

/** A user's row, with the token epochs of its organization and its identity, which its tokens depend on as well. */
export interface UserRow extends StoredUser {
  readonly accountTokenEpoch: number;
  /** Null without an identity, and when it was deleted. */
  readonly identityEpoch: number | null;
}

/** A user as it acts. */
export interface BearerRow extends UserRow {
  /** The access of its identity, as JSON. */
  readonly access: string;
  readonly isGuest: 0 | 1;
  /** Null for a room that was deleted. */
  readonly roomState: RoomState | null;
}

/** The user without the columns that only the search, the tokens and its access need. */
export const recordOf = ({
  nameFolded: _,
  tokenEpoch: __,
  accountTokenEpoch: ___,
  identityId: ____,
  identityEpoch: _____,
  access: ______,
  isGuest: _______,
  roomState: ________,
  ...record
}: UserRow & Partial<BearerRow>): UserRecord => record;
