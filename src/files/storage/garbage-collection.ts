/** Deletes the bytes of files in the state `deleting`: at once, and after a crash by garbage collection. Idempotent. */
import type { RequestContext } from "../../context/context.ts";
import type { Database, Statement, Tenant } from "../../platform/d1.ts";
import type { Slices } from "../../platform/slices.ts";
import { type Blobs, MAX_DELETED } from "./blobs.ts";
import {
  type DeletingFile,
  deleteMarked,
  markAbandonedUploads,
  markFilesOfRoomForDeletion,
  markSomeFilesForDeletion,
  markSomeFilesOfUser,
  selectDeleting,
  selectDeletingOfRoom,
} from "./deletion-store.ts";

/** The longest that an upload may take. */
export const MAX_UPLOAD_MS = 30 * 60 * 1000;

/** An upload that began this long ago was cut off: none that still runs is so old. */
const ABANDONED_AFTER_MS = 2 * MAX_UPLOAD_MS;

/** Bounds the work of one run, which the cron trigger starts each minute. */
const MAX_BATCHES = 50;

/** Deletes the bytes first and the row last: after a crash in between, the row says what is left to do. */
export async function deleteBlobs(
  db: Database,
  blobs: Blobs,
  deleting: readonly DeletingFile[],
): Promise<void> {
  if (deleting.length === 0) return;
  await blobs.delete(deleting);
  await db.run([deleteMarked(deleting.map(({ key }) => key))]);
}

async function deleteInBatches(db: Database, blobs: Blobs, select: Statement<DeletingFile>): Promise<void> {
  for (let batch = 0, isFull = true; isFull && batch < MAX_BATCHES; batch += 1) {
    const [deleting] = await db.run([select]);
    await deleteBlobs(db, blobs, deleting);
    isFull = deleting.length === MAX_DELETED;
  }
}

/** For the batch that deletes a room: marks its files, and selects those that {@link deleteRoomFiles} begins with. */
export const markRoomFilesForDeletion = (
  tenant: Tenant,
  roomId: string,
): readonly [Statement, Statement<DeletingFile>] => [
  markFilesOfRoomForDeletion(tenant, roomId),
  selectDeletingOfRoom(tenant, roomId, MAX_DELETED),
];

/**
 * Deletes the files of a deleted room: the first thousand before this settles, the rest after the response.
 * Never rejects: {@link collectGarbage} deletes what this could not.
 */
export async function deleteRoomFiles(
  ctx: Pick<RequestContext, "db" | "accountId" | "log" | "defer"> & { readonly blobs: Blobs },
  roomId: string,
  first: readonly DeletingFile[],
): Promise<void> {
  const { db, blobs } = ctx;
  try {
    await deleteBlobs(db, blobs, first);
    if (first.length < MAX_DELETED) return;
    ctx.defer(deleteInBatches(db, blobs, selectDeletingOfRoom(ctx, roomId, MAX_DELETED)));
  } catch (error) {
    ctx.log("Some files of a deleted room could not be deleted; garbage collection will retry", error);
  }
}

/** Hides up to `limit` files of a room, and returns how many; {@link collectGarbage} deletes them. */
export async function hideSomeFiles(tenant: Tenant, roomId: string, limit: number): Promise<number> {
  const [hidden] = await tenant.db.run([markSomeFilesForDeletion(tenant, roomId, limit)]);
  return hidden.length;
}

/** Hides the files that a user uploaded, in slices; true when none is left. {@link collectGarbage} deletes them. */
export const hideFilesOfUser = (
  tenant: Tenant,
  roomId: string,
  userId: string,
  slices: Slices,
): Promise<boolean> =>
  slices.finish(async () => {
    const [hidden] = await tenant.db.run([markSomeFilesOfUser(tenant, roomId, userId, MAX_DELETED)]);
    return { isFull: hidden.length === MAX_DELETED };
  });

/** Deletes what crashed requests left behind: files in the state `deleting`, and uploads that never ended. */
export async function collectGarbage(db: Database, blobs: Blobs, now: number): Promise<void> {
  await db.run([markAbandonedUploads(now - ABANDONED_AFTER_MS)]);
  await deleteInBatches(db, blobs, selectDeleting(MAX_DELETED));
}
