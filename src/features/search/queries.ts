/** Searches the index of a list, before the list itself is read. */
import type { Database } from "../../platform/d1/d1.ts";
import {
  isSearchable,
  MAX_FEW,
  type SearchedList,
  type SearchHits,
  type SearchTerm,
  selectHits,
} from "./statements.ts";

/** The index's result of a search. Null without a search, or without an index of the list. */
export async function findHits(
  db: Database,
  list: SearchedList,
  term: SearchTerm,
): Promise<SearchHits | null> {
  if (!isSearchable(term)) return null;
  const [[first]] = await db.run([selectHits(list, term)]);
  if (first === undefined) return null;
  const isFew = JSON.parse(first.ids).length <= MAX_FEW;
  return { list, term, ids: isFew ? first.ids : null };
}
