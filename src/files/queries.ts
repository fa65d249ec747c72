/** What can be asked about files. */
import { type Ctx, mayUseRoom } from "../context.ts";
import type { Page } from "../database.ts";
import { notFound } from "../errors.ts";
import { type PageShown, pageShown } from "../http/paginate.ts";
import { selectRoom } from "../rooms/queries.ts";
import { presentFile, type StorageFile } from "./schema.ts";
import { countFiles, type FileFilter, selectFiles } from "./store.ts";

/** A room's files, newest first. NOT_FOUND without the room. One round trip; R2 is not asked. */
export async function listFiles(
  ctx: Ctx,
  roomId: string,
  filter: FileFilter,
  page: Page,
): Promise<{ files: StorageFile[] } & PageShown> {
  mayUseRoom(ctx, roomId);
  const [rooms, rows, counted] = await ctx.db.run([
    selectRoom(ctx, { id: roomId }),
    selectFiles(ctx, roomId, filter, page),
    countFiles(ctx, roomId, filter),
  ]);
  if (rooms.length === 0) throw notFound("Rooms", "Room");
  return { files: rows.map((row) => presentFile(row, ctx.origin)), ...pageShown(page, counted) };
}
