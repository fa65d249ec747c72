/** Indexes the lists that have grown long, and clears the index of those that are deleted, in bounded slices. */
import type { Database } from "../platform/d1.ts";
import { Slices } from "../platform/slices.ts";
import {
  deleteRemoved,
  deleteSomeItems,
  insertItems,
  selectUnbuilt,
  selectUnfinished,
  type UnfinishedList,
  updateBuilt,
} from "./store.ts";

/** An indexed name costs a millisecond of the database at most, and other statements wait for a slice. */
const ITEMS_AT_ONCE = 200;
const SLICES_PER_RUN = 250;
const LISTS_PER_RUN = 10;

/** Continues with the lists whose index is not complete. Until then, a search reads the list itself. */
export async function continueIndexes(
  db: Database,
  slices: Slices = new Slices(SLICES_PER_RUN),
): Promise<void> {
  const [unfinished] = await db.run([selectUnfinished(LISTS_PER_RUN)]);
  for (const list of unfinished) {
    if (list.state === "building") await build(db, list, slices);
    else await clear(db, list, slices);
  }
}

async function build(db: Database, list: UnfinishedList, slices: Slices): Promise<void> {
  let at = list;
  await slices.finish(async () => {
    const [items] = await db.run([selectUnbuilt(at, ITEMS_AT_ONCE)]);
    const isFull = items.length === ITEMS_AT_ONCE;
    const last = items.at(-1);
    await db.run([insertItems(at, items), updateBuilt(at, (isFull && last) || null)]);
    if (last !== undefined) at = { ...at, builtTime: last.createdAt, builtId: last.id };
    return { isFull };
  });
}

async function clear(db: Database, list: UnfinishedList, slices: Slices): Promise<void> {
  await slices.finish(async () => {
    const [deleted] = await db.run([deleteSomeItems(list, ITEMS_AT_ONCE), deleteRemoved(list)]);
    return { isFull: deleted.length === ITEMS_AT_ONCE };
  });
}
