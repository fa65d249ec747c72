/** Indexes the lists that have grown long, and clears the index of those that are deleted, in bounded slices. */
import type { Database } from "../../platform/d1/d1.ts";
import { Slices } from "../../platform/flow/slices.ts";
import { takeTurns } from "../../platform/flow/turns.ts";
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
/** What one run of the cron trigger may do: lists take turns, of so many slices each. */
const RUN = { lists: 20, turns: 50, concurrency: 1, slices: 5 };

/**
 * Continues with the lists whose index is not complete. Until then, a search reads the list itself. A long list, or one
 * that cannot be written to now, holds up no other one, also because each run begins with the organization that follows
 * another random `firstId`.
 */
export async function continueIndexes(
  db: Database,
  firstId: string,
  log: (message: string, error: unknown) => void,
  limits = RUN,
): Promise<void> {
  const [unfinished] = await db.run([selectUnfinished(firstId, limits.lists)]);
  await takeTurns(unfinished, limits, (list) =>
    continueIndex(db, list, new Slices(limits.slices)).catch((error: unknown) => {
      log("The index of a list could not be continued yet", error);
      return null;
    }),
  );
}

/** Returns how far the list is then; null when it is done. */
const continueIndex = (db: Database, list: UnfinishedList, slices: Slices): Promise<UnfinishedList | null> =>
  list.state === "building" ? build(db, list, slices) : clear(db, list, slices);

async function build(db: Database, list: UnfinishedList, slices: Slices): Promise<UnfinishedList | null> {
  let at = list;
  const isComplete = await slices.finish(async () => {
    const [items] = await db.run([selectUnbuilt(at, ITEMS_AT_ONCE)]);
    const isFull = items.length === ITEMS_AT_ONCE;
    const last = items.at(-1);
    await db.run([insertItems(at, items), updateBuilt(at, (isFull && last) || null)]);
    if (last !== undefined) at = { ...at, builtTime: last.createdAt, builtId: last.id };
    return { isFull };
  });
  return isComplete ? null : at;
}

async function clear(db: Database, list: UnfinishedList, slices: Slices): Promise<UnfinishedList | null> {
  const isComplete = await slices.finish(async () => {
    const [deleted] = await db.run([deleteSomeItems(list, ITEMS_AT_ONCE), deleteRemoved(list)]);
    return { isFull: deleted.length === ITEMS_AT_ONCE };
  });
  return isComplete ? null : list;
}
