/** The tables of an organization's end users as identities, and of their groups. */

import { IDENTITY_KINDS } from "@atrium/contract/resources/identity.ts";
import { sql } from "drizzle-orm";
import {
  foreignKey,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { accounts } from "../../platform/d1/table.ts";
import { rooms } from "../rooms/table.ts";

const account = () =>
  text("account_id")
    .notNull()
    .references(() => accounts.id, { onDelete: "cascade" });

/** Links of rooms for guests. */
export const roomLinks = sqliteTable(
  "room_links",
  {
    accountId: text("account_id").notNull(),
    id: text().notNull(),
    roomId: text("room_id").notNull(),
    /** SHA-256 of the secret, in hexadecimal. */
    secretHash: text("secret_hash").notNull(),
    /** A JSON array of permissions. */
    permissions: text().notNull(),
    createdAt: integer("created_at").notNull(),
    /** Epoch ms, null for never. A revoked link has ended as well; the row goes once it has no guests. */
    expiresAt: integer("expires_at"),
    maxUses: integer("max_uses").notNull(),
    uses: integer().notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    foreignKey({
      columns: [table.accountId, table.roomId],
      foreignColumns: [rooms.accountId, rooms.id],
    }).onDelete("cascade"),
    uniqueIndex("room_links_secret").on(table.accountId, table.secretHash),
    index("room_links_newest").on(table.accountId, table.roomId, sql`created_at DESC`, sql`id DESC`),
    index("room_links_expiring").on(table.expiresAt).where(sql`expires_at IS NOT NULL`),
  ],
);

export type LinkRow = typeof roomLinks.$inferSelect;

export const identities = sqliteTable(
  "identities",
  {
    accountId: account(),
    id: text().notNull(),
    kind: text({ enum: IDENTITY_KINDS }).notNull(),
    name: text().notNull(),
    /** `fold(name)`: SQLite folds ASCII only. */
    nameFolded: text("name_folded").notNull(),
    customId: text("custom_id"),
    profilePicture: text("profile_picture"),
    email: text(),
    createdAt: integer("created_at").notNull(),
    /**
     * Time when the tokens of the identity and its users were last ended (epoch ms); 0 before that. Grows with
     * each ending.
     */
    tokenEpoch: integer("token_epoch").notNull().default(0),
    /** The link of a guest; null for others. */
    linkId: text("link_id"),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    foreignKey({
      columns: [table.accountId, table.linkId],
      foreignColumns: [roomLinks.accountId, roomLinks.id],
    }).onDelete("cascade"),
    index("identities_of_link").on(table.accountId, table.linkId, table.id).where(sql`link_id IS NOT NULL`),
    uniqueIndex("identities_custom_id").on(table.accountId, table.customId).where(sql`custom_id IS NOT NULL`),
    index("identities_newest").on(table.accountId, sql`created_at DESC`, sql`id DESC`),
    index("identities_by_name").on(table.accountId, table.nameFolded, table.id),
    index("identities_agents").on(table.accountId, table.id).where(sql`kind = 'agent'`),
  ],
);

export type IdentityRow = typeof identities.$inferSelect;

/** Not `groups`, which is a word of SQL. */
export const identityGroups = sqliteTable(
  "identity_groups",
  {
    accountId: account(),
    id: text().notNull(),
    name: text().notNull(),
    nameFolded: text("name_folded").notNull(),
    customId: text("custom_id"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    uniqueIndex("identity_groups_custom_id")
      .on(table.accountId, table.customId)
      .where(sql`custom_id IS NOT NULL`),
    index("identity_groups_newest").on(table.accountId, sql`created_at DESC`, sql`id DESC`),
    index("identity_groups_by_name").on(table.accountId, table.nameFolded, table.id),
  ],
);

export type GroupRow = typeof identityGroups.$inferSelect;

export const groupMembers = sqliteTable(
  "group_members",
  {
    accountId: text("account_id").notNull(),
    groupId: text("group_id").notNull(),
    identityId: text("identity_id").notNull(),
    addedAt: integer("added_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.groupId, table.identityId] }),
    // The keys include the account, so that the database refuses another organization's identity or group.
    foreignKey({
      columns: [table.accountId, table.groupId],
      foreignColumns: [identityGroups.accountId, identityGroups.id],
    }).onDelete("cascade"),
    foreignKey({
      columns: [table.accountId, table.identityId],
      foreignColumns: [identities.accountId, identities.id],
    }).onDelete("cascade"),
    index("group_members_of_identity").on(table.accountId, table.identityId, table.groupId),
    index("group_members_newest").on(
      table.accountId,
      table.groupId,
      sql`added_at DESC`,
      sql`identity_id DESC`,
    ),
  ],
);
