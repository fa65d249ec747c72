/** A file being uploaded, from its row before the first byte to its event after the last. */

import { newEvent } from "../../delivery/outbox/event-store.ts";
import { causeOf, requireRoomAccess } from "../../platform/d1/context.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import { fileUrl, type UploadResult } from "../../wire/file.ts";
import { requireWrite } from "../../wire/permissions.ts";
import { guardQuota } from "../quotas/guard.ts";
import type { RoomRow } from "../rooms/table.ts";
import { commitAs, findUserInRoom } from "../users/queries.ts";
import { type BlobSink, BlobWriter, PART_BYTES } from "./blob-writer.ts";
import type { FileOperationContext, UploadBounds } from "./context.ts";
import { insertFileEvent } from "./file-event-store.ts";
import { createKey } from "./file-name.ts";
import { deleteBlobs, MAX_UPLOAD_MS } from "./storage/garbage-collection.ts";
import { essenceOf } from "./storage/media-type.ts";
import {
  countKept,
  insertUploading,
  markStored,
  markUploadForDeletion,
  type UploadingFile,
  updateUploadId,
} from "./storage/statements.ts";
import type { Upload } from "./upload.ts";

export class PendingUpload {
  readonly #ctx: FileOperationContext;
  readonly #writer: BlobWriter;
  readonly #deadline: number;
  #row: UploadingFile | undefined;
  #insertion: Promise<void> | undefined;
  #bounds: UploadBounds | null = null;

  constructor(ctx: FileOperationContext, maxBytes: number) {
    this.#ctx = ctx;
    this.#deadline = ctx.now() + MAX_UPLOAD_MS;
    const sink: BlobSink = {
      put: async (bytes) => {
        const row = await this.#insertedRow();
        requireSize(this.#bounds, bytes.byteLength);
        await ctx.blobs.put(row, row.mimeType, bytes);
      },
      begin: async () => {
        const row = await this.#insertedRow();
        requireSize(this.#bounds, PART_BYTES);
        const multipart = await ctx.blobs.begin(row, row.mimeType);
        await ctx.db.run([updateUploadId(ctx, row.key, multipart.uploadId)]);
        return multipart;
      },
    };
    this.#writer = new BlobWriter(sink, maxBytes);
  }

  /** The file's row once it is written: nothing goes to R2 before. */
  async #insertedRow(): Promise<UploadingFile> {
    await this.#insertion;
    if (this.#row === undefined) throw new Error("An upload must begin before its bytes are written");
    return this.#row;
  }

  /** Throws when the actor may not upload here. The look-up of room and user runs on; the first write waits for it. */
  begin(upload: Upload): void {
    const ctx = this.#ctx;
    requireUploadAccess(ctx, upload);
    const { roomId, userId: uploadedBy, filename, mimeType } = upload;
    this.#row = {
      key: createKey(roomId, filename),
      accountId: ctx.accountId,
      roomId,
      filename,
      mimeType,
      mediaType: essenceOf(mimeType),
      uploadedBy,
      uploadedAt: ctx.now(),
    };
    this.#insertion = this.#insert(this.#row);
    this.#insertion.catch(() => {}); // the first write or `finish` throws it
  }

  /** NOT_FOUND without the room or, unless a workflow uploads, the user; FORBIDDEN when the room is closed. */
  async #insert(row: UploadingFile): Promise<void> {
    const uploader = this.#ctx.actor.type === "workflow" ? "workflow" : "user";
    const insertion = insertUploading(row, uploader);
    // At least one byte must fit. The file's bytes are counted when it is complete.
    const quota = guardQuota(this.#ctx, "file_bytes", { sql: "1", params: [] });
    const batch = [insertion, quota.statement];
    const { room, user } = await findUserInRoom(this.#ctx, row.roomId, row.uploadedBy, batch).catch(
      quota.refuse,
    );
    if (room === null) throw notFound("Rooms", "Room");
    if (room.state === "closed") throw forbidden("The room is closed; reopen it to upload files");
    if (user === null && uploader === "user") throw notFound("Users", "User");
    if (this.#ctx.actor.type === "user") this.#bounds = await requireBounds(this.#ctx, room, row.uploadedBy);
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#ctx.now() > this.#deadline) {
      throw new AppError(
        "Files",
        "BAD_REQUEST",
        `The upload took more than ${MAX_UPLOAD_MS / 60_000} minutes; send it again`,
      );
    }
    await this.#writer.write(bytes);
  }

  /** Makes the file visible. NOT_FOUND when its room or its uploader was deleted meanwhile, FORBIDDEN beyond the quota. */
  async finish(): Promise<{ file: UploadResult }> {
    const ctx = this.#ctx;
    const size = await this.#writer.finish();
    const { key, roomId, uploadedBy } = await this.#insertedRow();
    const data = { file: { key, url: fileUrl(ctx.origin, ctx.accountId, key) } };
    const quota = guardQuota(ctx, "file_bytes");
    const cause = causeOf(ctx.actor);
    const uploaded = insertFileEvent(ctx, newEvent(ctx, "file.uploaded", roomId), {
      key,
      origin: ctx.origin,
      uploadedBy,
      cause,
      userId: cause === null ? uploadedBy : null,
    });
    const [, stored, events] = await commitAs(ctx, "files", (guard) =>
      ctx.commit([guard, markStored(ctx, key, size, ctx.now()), uploaded, quota.statement], data),
    ).catch(quota.refuse);
    if (stored.length === 0) throw notFound("Rooms", "Room");
    if (events.length > 0) await ctx.relayEvents(ctx, events);
    return data;
  }

  async abort(): Promise<void> {
    this.#writer.end();
    if (this.#row === undefined) return;
    const { db, blobs, log } = this.#ctx;
    try {
      await this.#insertion?.catch(() => {});
      const [deleting] = await db.run([markUploadForDeletion(this.#ctx, this.#row.key)]);
      await deleteBlobs(db, blobs, deleting);
    } catch (error) {
      log("The remains of a failed upload could not be deleted; garbage collection will retry", error);
    }
  }
}

export const forbidden = (why: string) => new AppError("Files", "FORBIDDEN", why);

function requireUploadAccess(
  ctx: FileOperationContext,
  { roomId, userId }: Pick<Upload, "roomId" | "userId">,
): void {
  requireRoomAccess(ctx, roomId);
  if (ctx.actor.type !== "user") return;
  if (ctx.actor.userId !== userId) throw forbidden("userId must be the token's user");
  requireWrite(ctx, "files", "Files");
}

/** Null for no bounds. FORBIDDEN when the room or the user has too many files. */
async function requireBounds(
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

function requireSize(bounds: UploadBounds | null, bytes: number): void {
  const { maxFileBytes } = bounds ?? { maxFileBytes: Number.POSITIVE_INFINITY };
  if (bytes > maxFileBytes)
    throw new AppError(
      "Files",
      "BAD_REQUEST",
      `file is larger than ${maxFileBytes} bytes; send a smaller one`,
    );
}
