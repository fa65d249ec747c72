/** Reads and changes the documents of a room, for the organization and for the room's own users. */
import { requireRoomAccess } from "../../../platform/context/context.ts";
import { AppError, notFound } from "../../../platform/errors.ts";
import { type Rendered, renderContent } from "../../../room/documents/content/render-content.ts";
import type { SharedType } from "../../../room/documents/updates/built-document.ts";
import { MAX_DOCUMENT_NAME_LENGTH } from "../../../room/documents/updates/limits.ts";
import { mergeMany } from "../../../room/documents/updates/merge-many.ts";
import type { DocumentDetails, ListedDocument } from "../../../room/port/room-documents.ts";
import type { LiveRoomContext } from "../../rooms/context.ts";
import { getRoomRow } from "../../rooms/queries.ts";
import { type DocumentContext, requireEditor } from "./document-author.ts";

/** Which document of which room. */
export interface DocumentPlace {
  readonly roomId: string;
  readonly document: string;
}

/** What to render of a document. */
interface Rendering {
  /** Null for the document as it is. */
  readonly version: number | null;
  readonly type: SharedType;
  /** The name of the shared type. */
  readonly root: string;
  /** Of the content, in characters; null for all of it. */
  readonly maxLength: number | null;
}

/** By name. NOT_FOUND when the room does not exist. */
export async function listDocuments(
  ctx: LiveRoomContext,
  roomId: string,
): Promise<readonly ListedDocument[]> {
  requireRoomAccess(ctx, roomId);
  await getRoomRow(ctx, roomId);
  return ctx.rooms.stub(roomId).listDocuments(ctx.accountId);
}

/** One document without what is in it. NOT_FOUND when the room has no such document. */
export async function describeDocument(
  ctx: LiveRoomContext,
  { roomId, document }: DocumentPlace,
): Promise<DocumentDetails> {
  requireRoomAccess(ctx, roomId);
  await getRoomRow(ctx, roomId);
  const details = await ctx.rooms.stub(roomId).describeDocument(ctx.accountId, document);
  if (details === null) throw notFound("Rooms", "Document");
  return details;
}

/** The whole document, or a version of it, as one update. NOT_FOUND when the room has no such document or version. */
export async function readDocument(
  ctx: LiveRoomContext,
  place: DocumentPlace,
  version: number | null,
): Promise<Uint8Array> {
  return mergeMany(await readUpdates(ctx, place, version));
}

/** The content of one of its shared types, as text or JSON. CONFLICT when the document, or all of its content, is too large. */
export async function renderDocument(
  ctx: LiveRoomContext,
  place: DocumentPlace,
  { version, ...rendering }: Rendering,
): Promise<Rendered> {
  return renderContent(await readDocument(ctx, place, version), rendering);
}

async function readUpdates(
  ctx: LiveRoomContext,
  { roomId, document }: DocumentPlace,
  version: number | null,
): Promise<readonly Uint8Array[]> {
  requireRoomAccess(ctx, roomId);
  await getRoomRow(ctx, roomId);
  const updates =
    version === null
      ? await ctx.rooms.readDocument(roomId, ctx.accountId, document)
      : await ctx.rooms.readVersion(roomId, ctx.accountId, document, version);
  if (updates === null) throw notFound("Rooms", version === null ? "Document" : "Version");
  return updates;
}

/**
 * Applies an update, with `onlyIfEmpty` unless the document has content: of concurrent ones, exactly one is applied.
 * Returns whether it was, and had news. FORBIDDEN for viewers and, to users, in a closed room.
 */
export async function writeDocument(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
  update: Uint8Array,
  onlyIfEmpty: boolean,
): Promise<boolean> {
  requireName(document);
  const author = await requireEditor(ctx, roomId);
  return ctx.rooms.writeDocument(roomId, ctx.accountId, document, update, {
    author,
    onlyIfEmpty,
    keepsVersion: false,
  });
}

/** Deletes a document with its history. NOT_FOUND when there is none; FORBIDDEN as for {@link writeDocument}. */
export async function deleteDocument(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
): Promise<void> {
  await requireEditor(ctx, roomId);
  if (!(await ctx.rooms.stub(roomId).deleteDocument(ctx.accountId, document)))
    throw notFound("Rooms", "Document");
}

function requireName(name: string): void {
  if (name.length > MAX_DOCUMENT_NAME_LENGTH)
    throw new AppError(
      "Rooms",
      "BAD_REQUEST",
      `The document's name is too long: at most ${MAX_DOCUMENT_NAME_LENGTH} characters`,
    );
}
