/** Memberships of people in organizations, and invitations to become a member. */
import { MEMBER_ROLES } from "@atrium/contract/rest/people.ts";
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

import { accounts } from "../../platform/d1/table.ts";
import { people } from "../people/table.ts";

const accountId = () =>
  text("account_id")
    .notNull()
    .references(() => accounts.id, { onDelete: "cascade" });
const role = () => text({ enum: MEMBER_ROLES }).notNull();

export const memberships = sqliteTable(
  "memberships",
  {
    accountId: accountId(),
    personId: text("person_id")
      .notNull()
      .references(() => people.id, { onDelete: "cascade" }),
    role: role(),
    joinedAt: integer("joined_at").notNull(),
    /** The person's, which triggers copy: so the members are found in their order by an index. */
    name: text().notNull().default(""),
    email: text().notNull().default(""),
    /** 1 while an owner wants mails about the organization's webhooks and workflows, else 0. */
    notices: integer().notNull().default(1),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.personId] }),
    index("memberships_person").on(table.personId, table.joinedAt),
    index("memberships_joined").on(table.accountId, table.joinedAt, table.personId),
    index("memberships_by_name").on(table.accountId, sql`name COLLATE NOCASE`, table.personId),
    index("memberships_by_email").on(table.accountId, table.email, table.personId),
    index("memberships_by_role").on(table.accountId, table.role, table.personId),
  ],
);

export const invitations = sqliteTable(
  "invitations",
  {
    id: text().primaryKey(),
    accountId: accountId(),
    role: role(),
    /** The only address that can accept it, in lower case; null for any. */
    email: text(),
    /** SHA-256 of the link's token in hexadecimal. */
    tokenHash: text("token_hash").notNull().unique(),
    /** The person who invited; null for an API key, or when the person was deleted. */
    invitedBy: text("invited_by").references(() => people.id, { onDelete: "set null" }),
    /** The API key that invited; null for a person. */
    invitedByKey: text("invited_by_key"),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [
    index("invitations_newest").on(table.accountId, table.createdAt, table.id),
    index("invitations_oldest").on(table.expiresAt),
    index("invitations_inviter").on(table.invitedBy),
  ],
);

export type MembershipRow = typeof memberships.$inferSelect;
export type InvitationRow = typeof invitations.$inferSelect;
export type MemberRole = MembershipRow["role"];
