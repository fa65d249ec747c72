/** People who sign in to the dashboard, how they prove who they are, and where they are signed in. */
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

export const people = sqliteTable("people", {
  id: text().primaryKey(),
  name: text().notNull(),
  /** As `normalizeEmail` makes it: one spelling, one person. */
  email: text().notNull().unique(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

const personId = () =>
  text("person_id")
    .notNull()
    .references(() => people.id, { onDelete: "cascade" });

export const credentials = sqliteTable(
  "credentials",
  {
    id: text().primaryKey(),
    personId: personId(),
    /** `credential` for a password; the library keeps other ways to sign in beside it. */
    providerId: text("provider_id").notNull(),
    /** The person's name with the provider: for a password, the person's own id. */
    providerAccountId: text("provider_account_id").notNull(),
    /** As `hashPassword` makes it. */
    password: text(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [
    uniqueIndex("credentials_of_provider").on(table.providerId, table.providerAccountId),
    index("credentials_person").on(table.personId),
  ],
);

export const sessions = sqliteTable(
  "sessions",
  {
    id: text().primaryKey(),
    /** SHA-256 of the cookie's token in hexadecimal: who reads this table can sign in as nobody. */
    tokenHash: text("token_hash").notNull().unique(),
    personId: personId(),
    expiresAt: integer("expires_at").notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [index("sessions_person").on(table.personId), index("sessions_oldest").on(table.expiresAt)],
);
