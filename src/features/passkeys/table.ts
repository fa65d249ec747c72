/** Passkeys that people sign in with. */
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { people } from "../people/table.ts";

export const passkeys = sqliteTable(
  "passkeys",
  {
    id: text().primaryKey(),
    personId: text("person_id")
      .notNull()
      .references(() => people.id, { onDelete: "cascade" }),
    name: text().notNull(),
    /** The authenticator's ID of it, in base64url. */
    credentialId: text("credential_id").notNull().unique(),
    /** COSE key in base64url. */
    publicKey: text("public_key").notNull(),
    /** The authenticator's count of signatures at the latest use; 0 stays 0 where it counts none. */
    counter: integer().notNull(),
    /** JSON: the ways to reach the authenticator. */
    transports: text().notNull(),
    /** When the latest challenge that it answered was made (epoch milliseconds): earlier ones sign no one in. */
    challengedAt: integer("challenged_at").notNull(),
    createdAt: integer("created_at").notNull(),
    lastUsedAt: integer("last_used_at"),
  },
  (table) => [index("passkeys_person").on(table.personId)],
);
