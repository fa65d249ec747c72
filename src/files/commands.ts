/** What can be done to files. */
import { type OperationContext, type RequestContext, requireRoomAccess } from "../context/context.ts";
import type { Form } from "../http/form/form.ts";
import { AppError, notFound } from "../platform/errors.ts";
import { findTokenBearer } from "../users/token-bearer.ts";
import { type BlobSink, BlobWriter } from "./blob-writer.ts";
import { createKey, parseKey, urlOf } from "./file-key.ts";
import { deleteBlobs, MAX_UPLOAD_MS } from "./garbage-collection.ts";
import { essenceOf } from "./media-type.ts";
import type { UploadResult } from "./schema.ts";
import {
  insertUploading,
  markFileForDeletion,
  markStored,
  markUploadForDeletion,
  selectFile,
  type UploadingFile,
  updateUploadId,
} from "./store.ts";
import { readUpload, type Upload } from "./upload.ts";

const forbidden = (why: string) => new AppError("Files", "FORBIDDEN", why);

/** A viewer may read and no more, and nobody acts as somebody else. */
function mayUpload(ctx: OperationContext, { roomId, userId }: Pick<Upload, "roomId" | "userId">): void {
  requireRoomAccess(ctx, roomId);
  if (ctx.actor.type !== "user") return;
  if (ctx.actor.userId !== userId) throw forbidden("A user uploads as itself: send its own id as userId");
  mayEdit(ctx);
}

function mayEdit({ actor }: OperationContext): void {
  if (actor.type === "user" && actor.role === "viewer") throw forbidden("A viewer may not change files");
}

/** A file on its way: its row stands before its first byte, so that nothing is ever in R2 that no row knows. */
class ArrivingFile {
  readonly #ctx: OperationContext;
  readonly #writer: BlobWriter;
  readonly #deadline: number;
  #row: UploadingFile | undefined;
  #admission: Promise<void> | undefined;

  /** There may be at most `maxBytes`. */
  constructor(ctx: OperationContext, maxBytes: number) {
    this.#ctx = ctx;
    this.#deadline = ctx.now() + MAX_UPLOAD_MS;
    const sink: BlobSink = {
      put: async (bytes) => {
        const row = await this.#admitted();
        await ctx.blobs.put(row, row.mimeType, bytes);
      },
      begin: async () => {
        const row = await this.#admitted();
        const parted = await ctx.blobs.begin(row, row.mimeType);
        await ctx.db.run([updateUploadId(ctx, row.key, parted.uploadId)]);
        return parted;
      },
    };
    this.#writer = new BlobWriter(sink, maxBytes);
  }

  /** The file's row, as soon as it is written: nothing goes to R2 before. */
  async #admitted(): Promise<UploadingFile> {
    await this.#admission;
    if (this.#row === undefined) throw new Error("An upload is admitted before its bytes go anywhere");
    return this.#row;
  }

  /** Refuses those who may not upload there; whether there is such a place, the first bytes that go out wait for. */
  admit(upload: Upload): void {
    const ctx = this.#ctx;
    mayUpload(ctx, upload);
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
    this.#admission = this.#announce(this.#row);
    this.#admission.catch(() => {}); // whoever waits for it hears of it
  }

  /** NOT_FOUND without the room or, unless a workflow uploads, the user; FORBIDDEN when the room is closed. */
  async #announce(row: UploadingFile): Promise<void> {
    const uploader = this.#ctx.actor.type === "workflow" ? "workflow" : "user";
    const insertion = insertUploading(row, uploader);
    const { room, user } = await findTokenBearer(this.#ctx, row.roomId, row.uploadedBy, [insertion]);
    if (room === null) throw notFound("Rooms", "Room");
    if (room.state === "closed") throw forbidden("The room is closed; open it again to upload");
    if (user === null && uploader === "user") throw notFound("Users", "User");
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#ctx.now() > this.#deadline) {
      throw new AppError("Files", "BAD_REQUEST", `An upload may take ${MAX_UPLOAD_MS / 60_000} minutes`);
    }
    await this.#writer.write(bytes);
  }

  /** Shows the file; NOT_FOUND when its room or its uploader was deleted meanwhile. */
  async finish(): Promise<{ file: UploadResult }> {
    const ctx = this.#ctx;
    const size = await this.#writer.finish();
    const { key } = await this.#admitted();
    const data = { file: { key, url: urlOf(ctx.origin, ctx.accountId, key) } };
    const [stored] = await ctx.commit([markStored(ctx, key, size, ctx.now())], data);
    if (stored.length === 0) throw notFound("Rooms", "Room");
    return data;
  }

  /** Leaves neither row nor bytes; what cannot be removed now, the sweep removes. */
  async giveUp(): Promise<void> {
    if (this.#row === undefined) return;
    const { db, blobs, log } = this.#ctx;
    try {
      await this.#admission?.catch(() => {});
      const [doomed] = await db.run([markUploadForDeletion(this.#ctx, this.#row.key)]);
      await deleteBlobs(db, blobs, doomed);
    } catch (error) {
      log("What came of a failed upload could not be removed yet", error);
    }
  }
}

/** Stores the file of a form. When it is refused, nothing of it is left. */
export async function uploadFile(ctx: RequestContext, form: Form): Promise<{ file: UploadResult }> {
  const file = new ArrivingFile(ctx, form.maxBytes);
  const work = readUpload(form, file).then(() => file.finish());
  const cleared = work.catch(() => file.giveUp());
  ctx.defer(cleared); // a client that hangs up ends its request, and with it all that nobody waits for
  try {
    return await work;
  } catch (error) {
    await cleared;
    throw error;
  }
}

/** Stores a file that is all there. When it is refused, nothing of it is left. */
export async function putFile(
  ctx: OperationContext,
  upload: Upload,
  bytes: Uint8Array,
): Promise<UploadResult> {
  const arriving = new ArrivingFile(ctx, bytes.byteLength);
  try {
    arriving.admit(upload);
    await arriving.write(bytes);
    return (await arriving.finish()).file;
  } catch (error) {
    await arriving.giveUp();
    throw error;
  }
}

/** Removes a file; of several at once, one finds it. A user removes what it has uploaded itself. */
export async function deleteFile(ctx: OperationContext, key: string): Promise<{ key: string }> {
  const parsed = parseKey(key);
  if (parsed !== null) requireRoomAccess(ctx, parsed.roomId);
  mayEdit(ctx);
  if (parsed === null) throw notFound("Files", "File");
  const uploader = ctx.actor.type === "user" ? ctx.actor.userId : null;
  const [[row], doomed] = await ctx.db.run([selectFile(ctx, key), markFileForDeletion(ctx, key, uploader)]);
  if (row === undefined) throw notFound("Files", "File");
  if (doomed.length === 0) throw forbidden("A user deletes its own files only");
  await deleteBlobs(ctx.db, ctx.blobs, doomed);
  return { key };
}
