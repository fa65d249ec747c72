/** Removes the bytes of files that are doomed, at once and, after a crash, by a sweep; what is removed twice does no harm. */
import type { RequestContext } from "../context/context.ts";
import type { Database, Statement, Tenant } from "../platform/d1.ts";
import { type Blobs, MAX_REMOVED } from "./blobs.ts";
import {
  type DeletingFile,
  deleteMarked,
  markAbandonedUploads,
  markFilesOfRoomForDeletion,
  selectDeleting,
  selectDeletingOfRoom,
} from "./store.ts";

/** An upload may take this long. */
export const MAX_UPLOAD_MS = 30 * 60 * 1000;

/** One that began so long ago has not lived to its end: none that lives is this old. */
const LOST_AFTER_MS = 2 * MAX_UPLOAD_MS;

/** More than a sweep of one minute should do. */
const MAX_BATCHES = 50;

/** First the bytes, then the row: whatever dies in between, the row says what is left to do. */
export async function deleteBlobs(
  db: Database,
  blobs: Blobs,
  doomed: readonly DeletingFile[],
): Promise<void> {
  if (doomed.length === 0) return;
  await blobs.remove(doomed);
  await db.run([deleteMarked(doomed.map(({ key }) => key))]);
}

async function clearInBatches(db: Database, blobs: Blobs, select: Statement<DeletingFile>): Promise<void> {
  for (let batch = 0, isFull = true; isFull && batch < MAX_BATCHES; batch += 1) {
    const [doomed] = await db.run([select]);
    await deleteBlobs(db, blobs, doomed);
    isFull = doomed.length === MAX_REMOVED;
  }
}

/** For the batch that deletes a room: dooms its files, and gives those that {@link deleteRoomFiles} begins with. */
export const markRoomFilesForDeletion = (
  tenant: Tenant,
  roomId: string,
): readonly [Statement, Statement<DeletingFile>] => [
  markFilesOfRoomForDeletion(tenant, roomId),
  selectDeletingOfRoom(tenant, roomId, MAX_REMOVED),
];

/**
 * Removes the files of a room that is gone. The first thousand cannot be read any more when this settles;
 * the rest goes after the answer. It never rejects: what it could not remove, {@link collectGarbage} does.
 */
export async function deleteRoomFiles(
  ctx: RequestContext,
  roomId: string,
  first: readonly DeletingFile[],
): Promise<void> {
  const { db, blobs } = ctx;
  try {
    await deleteBlobs(db, blobs, first);
    if (first.length < MAX_REMOVED) return;
    ctx.defer(clearInBatches(db, blobs, selectDeletingOfRoom(ctx, roomId, MAX_REMOVED)));
  } catch (error) {
    ctx.log("The files of a deleted room could not all be removed yet", error);
  }
}

/** Removes what crashed requests left behind: doomed files, and uploads that never ended. */
export async function collectGarbage(db: Database, blobs: Blobs, now: number): Promise<void> {
  await db.run([markAbandonedUploads(now - LOST_AFTER_MS)]);
  await clearInBatches(db, blobs, selectDeleting(MAX_REMOVED));
}
