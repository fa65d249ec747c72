/** How much the visitors of the demo may upload: anyone can become one. */
import { demoAccountId, type Settings } from "../config.ts";
import type { UploadBounds } from "../files/context.ts";
import { expireFilesOfRoom } from "../files/storage/garbage-collection.ts";
import type { Database } from "../platform/d1.ts";
import type { RoomRow } from "../rooms/table.ts";

/** The custom ID of the demo room, in the demo organization. */
export const DEMO_ROOM_ID = "demo";

const MEBIBYTE = 1024 * 1024;

/** With these, the files of the demo take 100 MiB at most. */
export const DEMO_UPLOADS: UploadBounds = { maxFileBytes: MEBIBYTE, maxPerUser: 10, maxPerRoom: 100 };

/** Files of the demo are deleted after this time. */
export const DEMO_FILE_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** What users may upload in a room; null for no bounds beyond those of every file. */
export const demoUploadBounds =
  (settings: Settings) =>
  ({ accountId, customId }: RoomRow): UploadBounds | null =>
    customId === DEMO_ROOM_ID && accountId === demoAccountId(settings) ? DEMO_UPLOADS : null;

/** Marks the demo's old files for deletion, which garbage collection completes. */
export async function expireDemoFiles(settings: Settings, db: Database, now: number): Promise<void> {
  const accountId = demoAccountId(settings);
  if (accountId === undefined) return;
  await expireFilesOfRoom({ db, accountId }, DEMO_ROOM_ID, now - DEMO_FILE_LIFETIME_MS);
}
