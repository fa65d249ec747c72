/** The queries about files. */

import { type PresentedScroll, presentScroll } from "../../http/lists/presented-page.ts";
import { requireRoomAccess } from "../../platform/context/context.ts";
import type { Page } from "../../platform/d1/d1.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import { presentFile, type StorageFile } from "../../wire/file.ts";
import { selectRoom } from "../rooms/shared-store.ts";
import type { FileOperationContext } from "./context.ts";
import { countFiles, type FileFilter, positionOf, selectFiles } from "./storage/list-store.ts";
import { selectFile } from "./storage/store.ts";

/** A page of a room's files, in one D1 trip without R2. NOT_FOUND without the room. */
export async function listFiles(
  ctx: FileOperationContext,
  roomId: string,
  filter: FileFilter,
  page: Page,
): Promise<{ files: StorageFile[] } & PresentedScroll> {
  requireRoomAccess(ctx, roomId);
  const [rooms, rows, counted] = await ctx.db.run([
    selectRoom(ctx, { id: roomId }),
    selectFiles(ctx, roomId, filter, page),
    countFiles(ctx, roomId, filter, page),
  ]);
  if (rooms.length === 0) throw notFound("Rooms", "Room");
  return {
    files: rows.map((row) => presentFile(row, ctx.origin)),
    ...presentScroll(page, counted, rows, positionOf(page)),
  };
}

/** A file of this room with its bytes, or null. BAD_REQUEST when it has more than `maxBytes`. */
export async function readFile(
  ctx: FileOperationContext,
  roomId: string,
  key: string,
  maxBytes: number,
): Promise<{ file: StorageFile; bytes: ArrayBuffer } | null> {
  requireRoomAccess(ctx, roomId);
  const [[row]] = await ctx.db.run([selectFile(ctx, key)]);
  if (row === undefined || row.roomId !== roomId) return null;
  if (row.size > maxBytes) {
    throw new AppError(
      "Files",
      "BAD_REQUEST",
      `The file is too large to read: it has more than ${maxBytes} bytes`,
    );
  }
  const blob = await ctx.blobs.get({ accountId: ctx.accountId, key }, null);
  if (blob === null) return null;
  return { file: presentFile(row, ctx.origin), bytes: await new Response(blob.body).arrayBuffer() };
}
