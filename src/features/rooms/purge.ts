/** Removes what deleted rooms leave behind, in chunks: one with the deletion itself, the others by the cron trigger. */

import type { Database, Tenant } from "../../platform/d1/d1.ts";
import { isFenced } from "../../platform/d1/d1-errors.ts";
import { WorkBudget } from "../../platform/flow/work-budget.ts";
import { MAX_DELETED } from "../files/storage/blobs.ts";
import { deleteSome, selectDeletedRooms } from "./purge-store.ts";

/** Users, and files, in one chunk: the most that the batch of a deletion removes, and as many files as R2 deletes at once. */
const ROWS_AT_ONCE = MAX_DELETED;
/** Limits of one run, of which no room takes all: the next one follows within a minute. */
const CHUNKS_PER_RUN = 200;
const CHUNKS_PER_ROOM = 20;
const ROOMS_PER_RUN = 100;

/** For the batch that deletes the room, behind the statement that marks it: all of it, unless it is large. */
export const purgeChunk = (tenant: Tenant, roomId: string) => deleteSome(tenant, roomId, ROWS_AT_ONCE);

/** Removes more of a deleted room, and returns true once nothing is left. The row goes last, so that a crash costs nothing. */
export const purgeRoom = (tenant: Tenant, roomId: string, budget: WorkBudget): Promise<boolean> =>
  budget.run(async () => {
    const [users, files] = await tenant.db.run(purgeChunk(tenant, roomId));
    return users.length === ROWS_AT_ONCE || files.length === ROWS_AT_ONCE;
  });

/**
 * Continues the deletions of large rooms. One that fails holds up no other; rejects in the end with the first failure. One
 * whose organization has begun to move is continued where it arrives.
 */
export async function purgeDeletedRooms(
  db: Database,
  budget: WorkBudget = new WorkBudget(CHUNKS_PER_RUN),
): Promise<void> {
  const [deleted] = await db.run([selectDeletedRooms(ROOMS_PER_RUN)]);
  const failures: unknown[] = [];
  for (const { accountId, id } of deleted) {
    const purge = purgeRoom({ db, accountId }, id, new WorkBudget(CHUNKS_PER_ROOM, budget));
    await purge.catch((error: unknown) => (isFenced(error) ? undefined : failures.push(error)));
  }
  if (failures.length > 0) throw failures[0];
}
