/** Searches the index of a list, before the list itself is read. */
import type { Database, Tenant } from "../../platform/d1/d1.ts";
import {
  isSearchable,
  MAX_FEW,
  type SearchedList,
  type SearchHits,
  type SearchTerm,
  selectHits,
  selectHitsOfRooms,
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
  return { list, term, ids: isFew(first) ? first.ids : null };
}

const isFew = ({ ids }: { readonly ids: string }): boolean => JSON.parse(ids).length <= MAX_FEW;

/** Rooms for which the index has all matching users; users of the other rooms have to be read. */
export async function findHitsOfRooms({ db, accountId }: Tenant, term: SearchTerm) {
  if (!isSearchable(term)) return [];
  const [rooms] = await db.run([selectHitsOfRooms(accountId, term)]);
  return rooms.filter(isFew);
}
