/** The second factors of people: the secret that an authenticator app has too, and recovery codes. */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { people } from "../people/table.ts";

export const secondFactors = sqliteTable(
  "second_factors",
  {
    personId: text("person_id")
      .primaryKey()
      .references(() => people.id, { onDelete: "cascade" }),
    /** The key that sealed the secret. */
    keyId: text("key_id").notNull(),
    sealed: text().notNull(),
    /** The time step of the latest accepted code: neither this code nor an earlier one works again. */
    lastStep: integer("last_step").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [index("second_factors_key").on(table.keyId)],
);

/** The unused recovery codes. */
export const recoveryCodes = sqliteTable(
  "recovery_codes",
  {
    personId: text("person_id")
      .notNull()
      .references(() => secondFactors.personId, { onDelete: "cascade" }),
    /** SHA-256 of the code in hexadecimal: 80 random bits need no slower hash. */
    codeHash: text("code_hash").notNull(),
  },
  (table) => [primaryKey({ columns: [table.personId, table.codeHash] })],
);
