/** Who may upload a file, and how much. */
import { requireRoomAccess } from "../../platform/context/context.ts";
import { AppError } from "../../platform/errors.ts";
import type { RoomRow } from "../rooms/table.ts";
import type { FileOperationContext, UploadBounds } from "./context.ts";
import { countKept } from "./storage/store.ts";
import type { Upload } from "./upload.ts";

export const forbidden = (why: string) => new AppError("Files", "FORBIDDEN", why);

/** Users upload as themselves only, and viewers only read. */
export function requireUploadAccess(
  ctx: FileOperationContext,
  { roomId, userId }: Pick<Upload, "roomId" | "userId">,
): void {
  requireRoomAccess(ctx, roomId);
  if (ctx.actor.type !== "user") return;
  if (ctx.actor.userId !== userId) throw forbidden("userId must be the token's user");
  requireEditor(ctx);
}

export function requireEditor({ actor }: FileOperationContext): void {
  if (actor.type === "user" && actor.role === "viewer")
    throw forbidden("A viewer cannot change files; use the token of an editor");
}

/** What the actor may upload to the room; null for any. FORBIDDEN when the room or the user has too many files. */
export async function requireBounds(
  ctx: FileOperationContext,
  room: RoomRow,
  uploadedBy: string,
): Promise<UploadBounds | null> {
  const bounds = ctx.uploadBounds?.(room) ?? null;
  if (bounds === null) return null;
  // Each of several uploads at once counts the others.
  const [[counted]] = await ctx.db.run([countKept(ctx, room.id, uploadedBy)]);
  if ((counted?.total ?? 0) > bounds.maxPerRoom)
    throw forbidden(`This room keeps at most ${bounds.maxPerRoom} files; try again tomorrow`);
  if ((counted?.own ?? 0) > bounds.maxPerUser)
    throw forbidden(`You can keep at most ${bounds.maxPerUser} files in this room; delete one of them`);
  return bounds;
}

export function requireSize(bounds: UploadBounds | null, bytes: number): void {
  const { maxFileBytes } = bounds ?? { maxFileBytes: Number.POSITIVE_INFINITY };
  if (bytes > maxFileBytes)
    throw new AppError(
      "Files",
      "BAD_REQUEST",
      `file is larger than ${maxFileBytes} bytes; send a smaller one`,
    );
}
