/** The index of names that searches use. Triggers keep it (see the migration `search_from_an_index`); nothing else writes names. */
import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/** Lists with an index: those that have grown beyond ten thousand items. A search reads a shorter one directly. */
export const searchLists = sqliteTable(
  "search_lists",
  {
    /** The documents of the list have the numbers from `number << 40` on, and no other list ever has them. */
    number: integer().primaryKey({ autoIncrement: true }),
    accountId: text("account_id").notNull(),
    /** The room whose users it has; empty for the organization's rooms, `identities` or `groups` for these. */
    roomId: text("room_id").notNull(),
    /** `building` until the items from before are in the index; `removed` until nothing of the list is. */
    state: text({ enum: ["building", "complete", "removed"] }).notNull(),
    /** The progress of the index, from the newest item on: the last one's time (epoch ms) and ID. */
    builtTime: integer("built_time").notNull().default(9007199254740991),
    builtId: text("built_id").notNull().default(""),
  },
  (table) => [
    uniqueIndex("search_lists_kept").on(table.accountId, table.roomId).where(sql`state <> 'removed'`),
    index("search_lists_unfinished").on(table.number).where(sql`state <> 'complete'`),
  ],
);

/** The items of these lists. Two tables of FTS5, which drizzle does not know, have their names' parts: `search_names` and `search_grams`. */
export const searchItems = sqliteTable(
  "search_items",
  {
    doc: integer().primaryKey(),
    list: integer().notNull(),
    item: text().notNull(),
    /** The folded name. */
    name: text().notNull(),
  },
  (table) => [uniqueIndex("search_items_of_list").on(table.list, table.item)],
);
