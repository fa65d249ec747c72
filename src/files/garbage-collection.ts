/** Removes the bytes of files that are doomed, at once and, after a crash, by a sweep; what is removed twice does no harm. */
import type { Ctx } from "../context/context.ts";
import type { Database, Statement, Tenant } from "../platform/d1.ts";
import { type Blobs, MAX_REMOVED } from "./blobs.ts";
import {
  type DoomedFile,
  deleteDoomed,
  doomFilesOf,
  doomLostUploads,
  selectDoomed,
  selectDoomedOf,
} from "./store.ts";

/** An upload may take this long. */
export const MAX_UPLOAD_MS = 30 * 60 * 1000;

/** One that began so long ago has not lived to its end: none that lives is this old. */
const LOST_AFTER_MS = 2 * MAX_UPLOAD_MS;

/** More than a sweep of one minute should do. */
const MAX_BATCHES = 50;

/** First the bytes, then the row: whatever dies in between, the row says what is left to do. */
export async function clear(db: Database, blobs: Blobs, doomed: readonly DoomedFile[]): Promise<void> {
  if (doomed.length === 0) return;
  await blobs.remove(doomed);
  await db.run([deleteDoomed(doomed.map(({ key }) => key))]);
}

async function clearInBatches(db: Database, blobs: Blobs, select: Statement<DoomedFile>): Promise<void> {
  for (let batch = 0, isFull = true; isFull && batch < MAX_BATCHES; batch += 1) {
    const [doomed] = await db.run([select]);
    await clear(db, blobs, doomed);
    isFull = doomed.length === MAX_REMOVED;
  }
}

/** For the batch that deletes a room: dooms its files, and gives those that {@link clearRoom} begins with. */
export const doomRoom = (tenant: Tenant, roomId: string): readonly [Statement, Statement<DoomedFile>] => [
  doomFilesOf(tenant, roomId),
  selectDoomedOf(tenant, roomId, MAX_REMOVED),
];

/**
 * Removes the files of a room that is gone. The first thousand cannot be read any more when this settles;
 * the rest goes after the answer. It never rejects: what it could not remove, {@link sweepFiles} does.
 */
export async function clearRoom(ctx: Ctx, roomId: string, first: readonly DoomedFile[]): Promise<void> {
  const { db, blobs } = ctx;
  try {
    await clear(db, blobs, first);
    if (first.length < MAX_REMOVED) return;
    ctx.defer(clearInBatches(db, blobs, selectDoomedOf(ctx, roomId, MAX_REMOVED)));
  } catch (error) {
    ctx.log("The files of a deleted room could not all be removed yet", error);
  }
}

/** Removes what crashed requests left behind: doomed files, and uploads that never ended. */
export async function sweepFiles(db: Database, blobs: Blobs, now: number): Promise<void> {
  await db.run([doomLostUploads(now - LOST_AFTER_MS)]);
  await clearInBatches(db, blobs, selectDoomed(MAX_REMOVED));
}
