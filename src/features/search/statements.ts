/** The statements that searches begin with: which items of a list have a text in their names, by the index. */
import type { Statement } from "../../platform/d1/d1.ts";
import { codePoints } from "../../platform/text.ts";

/** A list that may be indexed: the organization's rooms, its identities or groups, or the users of a room. */
export type SearchedList =
  | { readonly accountId: string; readonly of: "rooms" | "identities" | "groups" }
  | { readonly accountId: string; readonly roomId: string }
  | { readonly accountId: string; readonly roomCustomId: string };

export interface SearchTerm {
  /** Folded. */
  readonly text: string;
  /** Whether items match by the beginning of their IDs, too. */
  readonly withIds: boolean;
}

/** The index's result of a search. */
export interface SearchHits {
  readonly list: SearchedList;
  readonly term: SearchTerm;
  /** A JSON array of the items that match; null when they are many: a page of them is soon found in the list itself. */
  readonly ids: string | null;
}

/** Up to this many items are read one by one; with more, the list itself soon fills a page. */
export const MAX_FEW = 1_000;

/** The matching documents of the list with this number. */
interface Match {
  readonly sql: string;
  readonly params: readonly string[];
}

const DOCS_OF_LIST = "BETWEEN number << 40 AND ((number + 1) << 40) - 1";
/** SQLite's trigrams do not tell these from each other. */
const INDISTINCT = /[\uFFFD\uFFFE\uFFFF]/u;
/** The folded prefix of an item's ID. */
const ID_PART = /^[0-9A-F-]{1,36}$/;

const encoder = new TextEncoder();
/** One or two characters as `search_grams` has them: the hexadecimal numbers of their bytes. */
const gramOf = (text: string): string =>
  Array.from(encoder.encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");

const byName = (text: string): Match =>
  codePoints(text) < 3
    ? {
        sql: `SELECT rowid AS doc FROM search_grams WHERE search_grams MATCH ? AND rowid ${DOCS_OF_LIST}`,
        params: [gramOf(text)],
      }
    : {
        sql: `SELECT rowid AS doc FROM search_names WHERE search_names MATCH ? AND rowid ${DOCS_OF_LIST}`,
        params: [`"${text.replaceAll('"', '""')}"`],
      };

/** Whether the index can tell what matches. */
export const isSearchable = ({ text }: SearchTerm): boolean => text !== "" && !INDISTINCT.test(text);

function matchOf({ text, withIds }: SearchTerm): Match {
  const names = byName(text);
  if (!withIds || !ID_PART.test(text)) return names;
  const prefix = text.toLowerCase();
  const ids = `SELECT doc FROM search_items WHERE list = number AND item >= ? AND item < ? AND instr(name, ?) = 0`;
  // No character of an ID comes behind the tilde.
  return { sql: `${names.sql} UNION ALL ${ids}`, params: [...names.params, prefix, `${prefix}~`, text] };
}

function listOf(list: SearchedList): Match {
  if ("roomId" in list) return { sql: "room_id = ?", params: [list.roomId] };
  if ("of" in list) return { sql: "room_id = ?", params: [list.of === "rooms" ? "" : list.of] };
  return {
    sql: "room_id = (SELECT id FROM rooms WHERE account_id = ? AND custom_id = ?)",
    params: [list.accountId, list.roomCustomId],
  };
}

/** A value about a list, if its index is complete. The first condition is that of the index of these lists. */
function ofComplete<Row>(list: SearchedList, value: string, params: readonly string[]): Statement<Row> {
  const of = listOf(list);
  return {
    sql: `SELECT ${value} FROM search_lists
          WHERE account_id = ? AND ${of.sql} AND state <> 'removed' AND state = 'complete'`,
    params: [...params, list.accountId, ...of.params],
  };
}

const idsOf = (matches: string): string =>
  `SELECT json_group_array(item) FROM search_items WHERE doc IN (SELECT doc FROM (${matches}) LIMIT ${MAX_FEW + 1})`;

/**
 * The IDs of the matching items as a JSON array, one more than {@link MAX_FEW} when there are more; no row when the list is
 * not indexed.
 */
export function selectHits(list: SearchedList, term: SearchTerm): Statement<{ ids: string }> {
  const { sql, params } = matchOf(term);
  return ofComplete(list, `(${idsOf(sql)}) AS ids`, params);
}

/** The same for each room of the organization whose users are indexed. */
export function selectHitsOfRooms(
  accountId: string,
  term: SearchTerm,
): Statement<{ roomId: string; ids: string }> {
  const { sql, params } = matchOf(term);
  return {
    sql: `SELECT room_id AS roomId, (${idsOf(sql)}) AS ids FROM search_lists
          WHERE account_id = ? AND room_id NOT IN ('', 'identities', 'groups') AND state <> 'removed' AND state = 'complete'`,
    params: [...params, accountId],
  };
}

export function countHits({ list, term }: SearchHits): Statement<{ total: number }> {
  const { sql, params } = matchOf(term);
  return ofComplete(list, `(SELECT count(*) FROM (${sql})) AS total`, params);
}
