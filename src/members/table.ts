/** Memberships of people in organizations, and invitations to become a member. */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { accounts } from "../accounts/table.ts";
import { MEMBER_ROLES } from "../context/actor.ts";
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
    /** 1 while an owner wants mails about the organization's webhooks and workflows, else 0. */
    notices: integer().notNull().default(1),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.personId] }),
    index("memberships_person").on(table.personId, table.joinedAt),
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
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [
    index("invitations_account").on(table.accountId, table.createdAt),
    index("invitations_oldest").on(table.expiresAt),
    index("invitations_inviter").on(table.invitedBy),
  ],
);

type MembershipRow = typeof memberships.$inferSelect;
export type InvitationRow = typeof invitations.$inferSelect;
export type MemberRole = MembershipRow["role"];
