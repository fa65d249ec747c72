/** People who sign in to the dashboard, their credentials and their sign-in sessions. */
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

export const people = sqliteTable("people", {
  id: text().primaryKey(),
  name: text().notNull(),
  /** Normalized by the `Email` schema: one spelling, one person. */
  email: text().notNull().unique(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

const personId = () =>
  text("person_id")
    .notNull()
    .references(() => people.id, { onDelete: "cascade" });

/** How `credentials` names the password among the ways to sign in. */
export const PASSWORD_PROVIDER = "credential";

export const credentials = sqliteTable(
  "credentials",
  {
    id: text().primaryKey(),
    personId: personId(),
    providerId: text("provider_id").notNull(),
    /** ID of the person at the provider; for a password, the person's own ID. */
    providerAccountId: text("provider_account_id").notNull(),
    /** The output of `hashPassword`. */
    password: text(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [
    uniqueIndex("credentials_of_provider").on(table.providerId, table.providerAccountId),
    index("credentials_person").on(table.personId),
  ],
);

/** Links that let a person choose a new password, once. */
export const passwordLinks = sqliteTable(
  "password_links",
  {
    /** SHA-256 of the link's token in hexadecimal. */
    tokenHash: text("token_hash").primaryKey(),
    personId: personId(),
    /** The organization that made it, which the person must be a member of; null for the operator of the service. */
    accountId: text("account_id"),
    /** The owner who made it; null for an API key and the operator. */
    createdBy: text("created_by").references(() => people.id, { onDelete: "cascade" }),
    /** The API key that made it; null for an owner and the operator. */
    createdByKey: text("created_by_key"),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [
    index("password_links_person").on(table.personId),
    index("password_links_oldest").on(table.expiresAt),
    index("password_links_maker").on(table.createdBy),
  ],
);

export const signInSessions = sqliteTable(
  "sessions",
  {
    id: text().primaryKey(),
    /** SHA-256 of the cookie's token in hexadecimal: a leaked table signs no one in. */
    tokenHash: text("token_hash").notNull().unique(),
    personId: personId(),
    /** The browser and its system, such as "Firefox on Linux"; null for unknown ones. */
    browser: text(),
    expiresAt: integer("expires_at").notNull(),
    createdAt: integer("created_at").notNull(),
    /** The latest use, to the hour. */
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [index("sessions_person").on(table.personId), index("sessions_oldest").on(table.expiresAt)],
);
