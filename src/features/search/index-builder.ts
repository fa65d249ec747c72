/** Indexes the lists that have grown long, and clears the index of those that are deleted, in chunks. */
import type { Database } from "../../platform/d1/d1.ts";
import { roundRobin } from "../../platform/flow/concurrency.ts";
import { WorkBudget } from "../../platform/flow/work-budget.ts";
import {
  deleteRemoved,
  deleteSomeItems,
  insertItems,
  selectUnbuilt,
  selectUnfinished,
  type UnfinishedList,
  updateBuilt,
} from "./store.ts";

/** An indexed name costs a millisecond of the database at most, and other statements wait for a chunk. */
const ITEMS_AT_ONCE = 200;
/** Limits of one run of the cron trigger: lists take turns of `chunks` each. */
const RUN = { lists: 20, turns: 50, concurrency: 1, chunks: 5 };

/**
 * Continues with lists whose index is incomplete, which searches read directly until then. A list that is long,
 * or cannot be written to now, delays no other: each run begins with the organization that follows another
 * random `firstId`.
 */
export async function continueIndexes(
  db: Database,
  firstId: string,
  log: (message: string, error: unknown) => void,
  limits = RUN,
  queries: WorkBudget | null = null,
): Promise<void> {
  const [unfinished] = await db.run([selectUnfinished(firstId, limits.lists)]);
  await roundRobin(unfinished, limits, (list) =>
    continueIndex(db, list, new WorkBudget(limits.chunks, queries)).catch((error: unknown) => {
      log("The index of a list could not be continued yet", error);
      return null;
    }),
  );
}

/** Returns how far the list is then; null when it is done. */
const continueIndex = (
  db: Database,
  list: UnfinishedList,
  budget: WorkBudget,
): Promise<UnfinishedList | null> =>
  list.state === "building" ? build(db, list, budget) : clear(db, list, budget);

async function build(db: Database, list: UnfinishedList, budget: WorkBudget): Promise<UnfinishedList | null> {
  let at = list;
  const isComplete = await budget.run(async () => {
    const [items] = await db.run([selectUnbuilt(at, ITEMS_AT_ONCE)]);
    const isFull = items.length === ITEMS_AT_ONCE;
    const last = items.at(-1);
    await db.run([insertItems(at, items), updateBuilt(at, (isFull && last) || null)]);
    if (last !== undefined) at = { ...at, builtTime: last.createdAt, builtId: last.id };
    return isFull;
  });
  return isComplete ? null : at;
}

async function clear(db: Database, list: UnfinishedList, budget: WorkBudget): Promise<UnfinishedList | null> {
  const isComplete = await budget.run(async () => {
    const [deleted] = await db.run([deleteSomeItems(list, ITEMS_AT_ONCE), deleteRemoved(list)]);
    return deleted.length === ITEMS_AT_ONCE;
  });
  return isComplete ? null : list;
}
