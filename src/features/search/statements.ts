/** Statements that begin searches: the items of a list with a text in their names, by the index. */

import { codePoints } from "@atrium/contract/text.ts";
import { type SQL, sql } from "drizzle-orm";
import { type Statement, statement } from "../../platform/d1/d1.ts";

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

/** Number of items up to which they are read one by one; with more, the list itself soon fills a page. */
export const MAX_FEW = 1_000;

const IS_IN_LIST = sql`rowid BETWEEN number << 40 AND ((number + 1) << 40) - 1`;
/** SQLite's trigrams do not tell these from each other. */
const INDISTINCT = /[\uFFFD\uFFFE\uFFFF]/u;
/** The folded prefix of an item's ID. */
const ID_PART = /^[0-9A-F-]{1,36}$/;

const encoder = new TextEncoder();
/** One or two characters as `search_grams` has them: the hexadecimal numbers of their bytes. */
const gramOf = (text: string): string =>
  Array.from(encoder.encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");

const byName = (text: string): SQL =>
  codePoints(text) < 3
    ? sql`SELECT rowid AS doc FROM search_grams WHERE search_grams MATCH ${gramOf(text)} AND ${IS_IN_LIST}`
    : sql`SELECT rowid AS doc FROM search_names
        WHERE search_names MATCH ${`"${text.replaceAll('"', '""')}"`} AND ${IS_IN_LIST}`;

/** Whether the index can find matches of the text. */
export const isSearchable = ({ text }: SearchTerm): boolean => text !== "" && !INDISTINCT.test(text);

/** The query of the documents that match, of the list with the `number` of the row around it. */
function matchOf({ text, withIds }: SearchTerm): SQL {
  const names = byName(text);
  if (!withIds || !ID_PART.test(text)) return names;
  const prefix = text.toLowerCase();
  // No character of an ID comes behind the tilde.
  return sql`${names} UNION ALL SELECT doc FROM search_items
      WHERE list = number AND item >= ${prefix} AND item < ${`${prefix}~`} AND instr(name, ${text}) = 0`;
}

const IS_COMPLETE = sql`state <> 'removed' AND state = 'complete'`;

/** The row of a list whose index is complete. The condition about the account is that of the index of these lists. */
function completeList(list: SearchedList): SQL {
  const roomId =
    "roomId" in list
      ? list.roomId
      : "of" in list
        ? list.of === "rooms"
          ? ""
          : list.of
        : sql`(SELECT id FROM rooms WHERE account_id = ${list.accountId} AND custom_id = ${list.roomCustomId})`;
  return sql`search_lists WHERE account_id = ${list.accountId} AND room_id = ${roomId} AND ${IS_COMPLETE}`;
}

const idsOf = (term: SearchTerm): SQL =>
  sql`(SELECT json_group_array(item) FROM search_items
      WHERE doc IN (SELECT doc FROM (${matchOf(term)}) LIMIT ${MAX_FEW + 1}))`;

/**
 * The IDs of the matching items as a JSON array, one more than {@link MAX_FEW} when there are more; no row when the list is
 * not indexed.
 */
export const selectHits = (list: SearchedList, term: SearchTerm): Statement<{ ids: string }> =>
  statement`SELECT ${idsOf(term)} AS ids FROM ${completeList(list)}`;

/** The same for each room of the organization whose users are indexed. */
export const selectHitsOfRooms = (
  accountId: string,
  term: SearchTerm,
): Statement<{ roomId: string; ids: string }> =>
  statement`SELECT room_id AS roomId, ${idsOf(term)} AS ids FROM search_lists
      WHERE account_id = ${accountId} AND room_id NOT IN ('', 'identities', 'groups') AND ${IS_COMPLETE}`;

export const countHits = ({ list, term }: SearchHits): Statement<{ total: number }> =>
  statement`SELECT (SELECT count(*) FROM (${matchOf(term)})) AS total FROM ${completeList(list)}`;
