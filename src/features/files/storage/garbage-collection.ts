/** Deletes the bytes of files in the state `deleting`: at once, and after a crash by garbage collection. Idempotent. */
import type { RequestContext } from "../../../platform/d1/context.ts";
import type { Database, Statement, Tenant } from "../../../platform/d1/d1.ts";
import { newCallBudget, WorkBudget } from "../../../platform/flow/work-budget.ts";
import { type Blobs, MAX_DELETED } from "./blobs.ts";
import {
  type DeletingFile,
  deleteMarked,
  markAbandonedUploads,
  markFilesOfUsers,
  markSomeFilesForDeletion,
  selectDeleting,
  type Uploader,
} from "./statements.ts";

export const MAX_UPLOAD_MS = 30 * 60 * 1000;

const ABANDONED_AFTER_MS = 2 * MAX_UPLOAD_MS;

const CHUNKS_PER_RUN = 50;

/** Deletes bytes, then rows. Without storage the rows stay: the bucket may come back, and it has their bytes. */
export async function deleteBlobs(
  db: Database,
  blobs: Blobs,
  deleting: readonly DeletingFile[],
): Promise<void> {
  if (deleting.length === 0 || !blobs.hasStorage) return;
  await blobs.delete(deleting);
  await db.run([deleteMarked(deleting.map(({ key }) => key))]);
}

/** Deletes hidden files at once and the rest after the response. Never rejects: the cron trigger retries. */
export async function deleteRoomFiles(
  ctx: Pick<RequestContext, "db" | "accountId" | "log" | "defer"> & { readonly blobs: Blobs },
  roomId: string,
  hidden: readonly DeletingFile[],
): Promise<void> {
  try {
    await deleteBlobs(ctx.db, ctx.blobs, hidden);
    if (hidden.length === MAX_DELETED)
      ctx.defer(
        deleteInChunks(
          ctx,
          (limit) => markSomeFilesForDeletion(ctx, roomId, limit),
          new WorkBudget(CHUNKS_PER_RUN),
        ),
      );
  } catch (error) {
    ctx.log("Some files of a deleted room could not be deleted; garbage collection will retry", error);
  }
}

type Marking = (limit: number) => Statement<DeletingFile>;

const deleteInChunks = (tenant: Tenant & { readonly blobs: Blobs }, mark: Marking, budget: WorkBudget) =>
  budget.run(async () => {
    const [hidden] = await tenant.db.run([mark(MAX_DELETED)]);
    await deleteBlobs(tenant.db, tenant.blobs, hidden);
    return hidden.length === MAX_DELETED;
  });

/** Deletes the files of users, each in its room, until none is left (true) or the budget is spent. */
export const deleteFilesOfUsers = (
  tenant: Tenant & { readonly blobs: Blobs },
  users: readonly Uploader[],
  budget: WorkBudget,
): Promise<boolean> => deleteInChunks(tenant, (limit) => markFilesOfUsers(tenant, users, limit), budget);

/** Deletes what crashed requests left behind: files in the state `deleting`, and uploads that never ended. */
export async function collectGarbage(
  db: Database,
  blobs: Blobs,
  now: number,
  { calls, queries } = newCallBudget("paid"),
): Promise<void> {
  if (!blobs.hasStorage) return;
  await new WorkBudget(CHUNKS_PER_RUN, queries).run(async () => {
    const [given] = await db.run([markAbandonedUploads(now - ABANDONED_AFTER_MS, MAX_DELETED)]);
    return given.length === MAX_DELETED;
  });
  await new WorkBudget(CHUNKS_PER_RUN, queries).run(async () => {
    const [deleting] = await db.run([selectDeleting(MAX_DELETED)]);
    const affordable = deleting.filter(({ uploadId }) => {
      if (uploadId === null) return true;
      if (!calls.hasLeft) return false;
      calls.spend(); // each upload is aborted by itself
      return true;
    });
    await deleteBlobs(db, blobs, affordable);
    return deleting.length === MAX_DELETED;
  });
}
