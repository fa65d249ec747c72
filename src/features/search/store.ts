/** The statements that build the index of lists, and clear it after them, in chunks. */
import { and, eq, sql } from "drizzle-orm";
import { build, type Statement, statement } from "../../platform/d1/d1.ts";
import { searchItems, searchLists } from "./table.ts";

/** A list whose index is being built or cleared. */
export type UnfinishedList = Readonly<typeof searchLists.$inferSelect>;

interface BuiltItem {
  readonly id: string;
  readonly createdAt: number;
}

/** Lists in the order of their organizations' IDs, from `firstId` on, then wrapped around. */
export const selectUnfinished = (
  firstId: string,
  limit: number,
): Statement<UnfinishedList> => statement`SELECT number, account_id AS accountId, room_id AS roomId, state,
    built_time AS builtTime, built_id AS builtId
    FROM search_lists INDEXED BY search_lists_unfinished WHERE state <> 'complete'
    ORDER BY account_id < ${firstId}, account_id, number LIMIT ${limit}`;

/** The tables of the lists that an organization has one of each. */
const TABLES = new Map([
  ["", "rooms"],
  ["identities", "identities"],
  ["groups", "identity_groups"],
]);

/** The table and conditions of a list's items; `isAmong` uses the primary key, or SQLite would walk through the list. */
function rowsOf({ accountId, roomId }: UnfinishedList) {
  const from = TABLES.get(roomId);
  const isKept = from === "rooms" ? sql`deleted_at IS NULL` : sql`TRUE`;
  return from === undefined
    ? {
        from: sql`users`,
        where: sql`account_id = ${accountId} AND room_id = ${roomId}`,
        isAmong: (ids: string) =>
          sql`+account_id = ${accountId} AND +room_id = ${roomId} AND id IN (SELECT value FROM json_each(${ids}))`,
      }
    : {
        from: sql.identifier(from),
        where: sql`account_id = ${accountId} AND ${isKept}`,
        isAmong: (ids: string) =>
          sql`(account_id, id) IN (SELECT ${accountId}, value FROM json_each(${ids})) AND ${isKept}`,
      };
}

/** The items that follow those that are indexed. */
export function selectUnbuilt(list: UnfinishedList, limit: number): Statement<BuiltItem> {
  const { from, where } = rowsOf(list);
  // No ID is behind the tilde: the first chunk begins with the newest item.
  return statement`SELECT id, created_at AS createdAt FROM ${from}
      WHERE ${where} AND created_at <= ${list.builtTime}
        AND (created_at, id) < (${list.builtTime}, ${list.builtId || "~"})
      ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
}

/** Indexes the present state of items that are not indexed yet. Triggers index new ones while a list is built. */
export function insertItems(list: UnfinishedList, items: readonly BuiltItem[]): Statement {
  const { from, isAmong } = rowsOf(list);
  const { number } = list;
  return statement`INSERT INTO search_items (doc, list, item, name)
      SELECT row_number() OVER (ORDER BY created_at, id) + coalesce(
          (SELECT max(doc) FROM search_items WHERE doc BETWEEN ${number} << 40
            AND (${number + 1} << 40) - 1), ${number} << 40),
        ${number}, id, name_folded
      FROM ${from} WHERE ${isAmong(JSON.stringify(items.map(({ id }) => id)))}
        AND EXISTS (SELECT 1 FROM search_lists WHERE number = ${number} AND state = 'building')
        AND NOT EXISTS (SELECT 1 FROM search_items WHERE list = ${number} AND item = id)`;
}

/** Notes that the list is indexed up to its item; null for all of it. */
export const updateBuilt = ({ number }: UnfinishedList, last: BuiltItem | null): Statement =>
  statement(
    build
      .update(searchLists)
      .set(last === null ? { state: "complete" } : { builtTime: last.createdAt, builtId: last.id })
      .where(and(eq(searchLists.number, number), eq(searchLists.state, "building"))),
  );

/** Deletes some items of a list from the index, and returns a row for each. */
export const deleteSomeItems = ({ number }: UnfinishedList, limit: number): Statement<{ deleted: number }> =>
  statement(
    build
      .delete(searchItems)
      .where(sql`${searchItems.doc} IN (SELECT doc FROM search_items WHERE list = ${number} LIMIT ${limit})`)
      .returning({ deleted: searchItems.doc }),
  );

/** Forgets a removed list of which the index has nothing. */
export const deleteRemoved = ({ number }: UnfinishedList): Statement => statement`DELETE FROM search_lists
    WHERE number = ${number} AND state = 'removed'
    AND NOT EXISTS (SELECT 1 FROM search_items WHERE list = ${number})`;
