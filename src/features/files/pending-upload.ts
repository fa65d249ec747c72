/** A file being uploaded, from its row before the first byte to its event after the last. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { fileUrl, type UploadResult } from "@atrium/contract/resources/file.ts";
import { newEvent } from "../../delivery/outbox/event-store.ts";
import { causeOf } from "../../platform/d1/context.ts";
import { requireRoom, userOf } from "../../platform/d1/rights.ts";
import { guardQuota } from "../quotas/guard.ts";
import { guardRoomLimit, refusalInRoom } from "../rooms/limits.ts";
import type { RoomRow } from "../rooms/table.ts";
import { commitAs, findUserInRoom } from "../users/queries.ts";
import { type BlobSink, BlobWriter } from "./blob-writer.ts";
import type { FileOperationContext } from "./context.ts";
import { insertFileEvent } from "./file-event-store.ts";
import { createKey } from "./file-name.ts";
import { deleteBlobs, MAX_UPLOAD_MS } from "./storage/garbage-collection.ts";
import { essenceOf } from "./storage/media-type.ts";
import {
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
  #receivedBytes = 0;
  /** The room as the upload began; null until it is read. */
  #room: RoomRow | null = null;

  constructor(ctx: FileOperationContext, maxBytes: number) {
    this.#ctx = ctx;
    this.#deadline = ctx.now() + MAX_UPLOAD_MS;
    const sink: BlobSink = {
      put: async (bytes) => {
        const row = await this.#insertedRow();
        this.#requireSpace();
        await ctx.blobs.put(row, row.mimeType, bytes);
      },
      begin: async () => {
        const row = await this.#insertedRow();
        this.#requireSpace();
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

  /** Throws when the actor may not upload here, or there is no storage. The look-up of room and user runs on; the first write waits for it. */
  begin(upload: Upload): void {
    const ctx = this.#ctx;
    const { roomId, filename, mimeType } = upload;
    requireRoom(ctx, roomId);
    const uploadedBy = userOf(ctx, upload.userId);
    ctx.blobs.requireStorage();
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
    const quota = guardQuota(this.#ctx, "file_bytes", 1);
    const place = guardRoomLimit(this.#ctx, row.roomId, "files", 1);
    const space = guardRoomLimit(this.#ctx, row.roomId, "fileBytes", 1);
    const batch = [insertion, quota.statement, place.statement, space.statement];
    const { room, user } = await findUserInRoom(this.#ctx, row.roomId, row.uploadedBy, batch)
      .catch(quota.refuse)
      .catch(place.refuse)
      .catch(space.refuse);
    if (room === null) throw notFound("Rooms", "Room");
    if (room.state === "closed") throw forbidden("The room is closed; reopen it to upload files");
    if (user === null && uploader === "user") throw notFound("Users", "User");
    this.#room = room;
  }

  /** FORBIDDEN as soon as the received bytes exceed the room's own limit: the rest is not written. */
  #requireSpace(): void {
    const refusal = this.#room && refusalInRoom(this.#room, "fileBytes", this.#receivedBytes);
    if (refusal !== null) throw refusal;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#ctx.now() > this.#deadline) {
      throw new AppError(
        "Files",
        "BAD_REQUEST",
        `The upload took more than ${MAX_UPLOAD_MS / 60_000} minutes; send it again`,
      );
    }
    this.#receivedBytes += bytes.byteLength;
    this.#requireSpace();
    await this.#writer.write(bytes);
  }

  /** Makes the file visible. NOT_FOUND when its room or its uploader was deleted meanwhile, FORBIDDEN beyond the quota or the room's limit. */
  async finish(): Promise<{ file: UploadResult }> {
    const ctx = this.#ctx;
    const size = await this.#writer.finish();
    const { key, roomId, uploadedBy } = await this.#insertedRow();
    const data = { file: { key, url: fileUrl(ctx.origin, ctx.accountId, key) } };
    const quota = guardQuota(ctx, "file_bytes");
    const place = guardRoomLimit(ctx, roomId, "files");
    const space = guardRoomLimit(ctx, roomId, "fileBytes");
    const limits = [quota.statement, place.statement, space.statement];
    const cause = causeOf(ctx.actor);
    const uploaded = insertFileEvent(ctx, newEvent(ctx, "file.uploaded", roomId), {
      key,
      origin: ctx.origin,
      uploadedBy,
      cause,
      userId: cause === null ? uploadedBy : null,
    });
    const [, stored, events] = await commitAs(ctx, "files", (guard) =>
      ctx.commit([guard, markStored(ctx, key, size, ctx.now()), uploaded, ...limits], data),
    )
      .catch(quota.refuse)
      .catch(place.refuse)
      .catch(space.refuse);
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
