/** The statements that build the index of lists, and clear it after them, in chunks. */
import { and, eq, sql } from "drizzle-orm";
import { build, type Statement, statement } from "../../platform/d1/d1.ts";
import { searchItems, searchLists } from "./table.ts";

/** A list whose index is not what it should be. */
export type UnfinishedList = Readonly<typeof searchLists.$inferSelect>;

interface BuiltItem {
  readonly id: string;
  readonly createdAt: number;
}

/** In the order of their organizations' IDs: those from `firstId` on, then others. */
export const selectUnfinished = (firstId: string, limit: number): Statement<UnfinishedList> => ({
  sql: `SELECT number, account_id AS accountId, room_id AS roomId, state, built_time AS builtTime, built_id AS builtId
        FROM search_lists INDEXED BY search_lists_unfinished WHERE state <> 'complete'
        ORDER BY account_id < ?, account_id, number LIMIT ?`,
  params: [firstId, limit],
});

/** The tables of the lists that an organization has one of each. */
const TABLES = new Map([
  ["", "rooms"],
  ["identities", "identities"],
  ["groups", "identity_groups"],
]);

/** The table and conditions of a list's items; `some` uses the primary key, or SQLite would walk through the list. */
function rowsOf({ accountId, roomId }: UnfinishedList) {
  const from = TABLES.get(roomId);
  const isKept = from === "rooms" ? " AND deleted_at IS NULL" : "";
  return from === undefined
    ? {
        from: "users",
        where: "account_id = ? AND room_id = ?",
        some: "+account_id = ? AND +room_id = ? AND id IN (SELECT value FROM json_each(?))",
        params: [accountId, roomId],
      }
    : {
        from,
        where: `account_id = ?${isKept}`,
        some: `(account_id, id) IN (SELECT ?, value FROM json_each(?))${isKept}`,
        params: [accountId],
      };
}

/** The items that follow those that are indexed. */
export function selectUnbuilt(list: UnfinishedList, limit: number): Statement<BuiltItem> {
  const { from, where, params } = rowsOf(list);
  return {
    sql: `SELECT id, created_at AS createdAt FROM ${from}
          WHERE ${where} AND created_at <= ? AND (created_at, id) < (?, ?)
          ORDER BY created_at DESC, id DESC LIMIT ?`,
    // No ID is behind the tilde: the first chunk begins with the newest item.
    params: [...params, list.builtTime, list.builtTime, list.builtId || "~", limit],
  };
}

const IS_BUILDING = "(SELECT 1 FROM search_lists WHERE number = ? AND state = 'building')";

/** Indexes these items, as they are by then, unless they are: triggers index what is new while a list is built. */
export function insertItems(list: UnfinishedList, items: readonly BuiltItem[]): Statement {
  const { from, some, params } = rowsOf(list);
  const { number } = list;
  return {
    sql: `INSERT INTO search_items (doc, list, item, name)
          SELECT row_number() OVER (ORDER BY created_at, id)
              + coalesce((SELECT max(doc) FROM search_items WHERE doc BETWEEN ? << 40 AND (? << 40) - 1), ? << 40),
            ?, id, name_folded
          FROM ${from} WHERE ${some} AND EXISTS ${IS_BUILDING}
            AND NOT EXISTS (SELECT 1 FROM search_items WHERE list = ? AND item = id)`,
    params: [
      ...[number, number + 1, number, number],
      ...params,
      ...[JSON.stringify(items.map(({ id }) => id)), number, number],
    ],
  };
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
export const deleteRemoved = ({ number }: UnfinishedList): Statement => ({
  sql: `DELETE FROM search_lists WHERE number = ? AND state = 'removed'
        AND NOT EXISTS (SELECT 1 FROM search_items WHERE list = ?)`,
  params: [number, number],
});
