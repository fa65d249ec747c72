/** The commands on files: upload, put, delete. */

import { notFound } from "@atrium/contract/errors.ts";
import type { UploadResult } from "@atrium/contract/resources/file.ts";
import { newEvent } from "../../delivery/outbox/event-store.ts";
import type { Form } from "../../http/form/form.ts";
import { causeOf } from "../../platform/d1/context.ts";
import { requireRoom } from "../../platform/d1/rights.ts";
import { commitAs } from "../users/queries.ts";
import type { FileContext, FileOperationContext } from "./context.ts";
import { insertFileEvent } from "./file-event-store.ts";
import { parseKey } from "./file-name.ts";
import { forbidden, PendingUpload } from "./pending-upload.ts";
import { deleteBlobs } from "./storage/garbage-collection.ts";
import { markFileForDeletion, selectFile } from "./storage/statements.ts";
import { readUpload, type Upload } from "./upload.ts";

/** Stores the file of a form. When this fails, it leaves nothing behind. */
export async function uploadFile(ctx: FileContext, form: Form): Promise<{ file: UploadResult }> {
  const file = new PendingUpload(ctx, form.maxBytes);
  const work = readUpload(form, file).then(() => file.finish());
  const cleanup = work.catch(() => file.abort());
  ctx.defer(cleanup); // a client that disconnects ends its request, and with it all work that was not deferred
  try {
    return await work;
  } catch (error) {
    await cleanup;
    throw error;
  }
}

/** Stores a file that is in memory. When this fails, it leaves nothing behind. */
export async function putFile(
  ctx: FileOperationContext,
  upload: Upload,
  bytes: Uint8Array,
): Promise<UploadResult> {
  const file = new PendingUpload(ctx, bytes.byteLength);
  try {
    file.begin(upload);
    await file.write(bytes);
    return (await file.finish()).file;
  } catch (error) {
    await file.abort();
    throw error;
  }
}

/** Deletes a file. Of several deletions at once, one succeeds. A user deletes only files they uploaded. */
export async function deleteFile(ctx: FileOperationContext, key: string): Promise<{ key: string }> {
  const parsed = parseKey(key);
  if (parsed !== null) requireRoom(ctx, parsed.roomId);
  if (parsed === null) throw notFound("Files", "File");
  const uploader = ctx.actor.type === "user" ? ctx.actor.userId : null;
  const deleted = insertFileEvent(ctx, newEvent(ctx, "file.deleted", parsed.roomId), {
    key,
    origin: ctx.origin,
    uploadedBy: uploader,
    userId: uploader,
    cause: causeOf(ctx.actor),
  });
  const [, events, [row], deleting] = await commitAs(ctx, "files", (guard) =>
    ctx.commit([guard, deleted, selectFile(ctx, key), markFileForDeletion(ctx, key, uploader)]),
  );
  if (row === undefined) throw notFound("Files", "File");
  if (deleting.length === 0) throw forbidden("You can only delete files that you uploaded");
  await Promise.all([deleteBlobs(ctx.db, ctx.blobs, deleting), ctx.relayEvents(ctx, events)]);
  return { key };
}
