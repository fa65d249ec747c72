/** Reads and changes the documents of a room, for the organization and for the users of the room. */

import {
  type Actor,
  type RequestContext,
  requireRoomAccess,
  writerOf,
} from "../../../platform/d1/context.ts";
import { AppError, notFound } from "../../../platform/errors.ts";
import { fits } from "../../../platform/text.ts";
import { type Rendered, renderContent } from "../../../room/documents/content/render-content.ts";
import type { SharedType } from "../../../room/documents/updates/built-document.ts";
import { mergeMany } from "../../../room/documents/updates/known-content.ts";
import { DOCUMENT_LIMITS } from "../../../room/documents/updates/limits.ts";
import type { Author, DocumentDetails, ListedDocument } from "../../../room/types/documents.ts";
import { requireWrite } from "../../../wire/permissions.ts";
import type { LiveRoomContext } from "../../rooms/context.ts";
import { getRoomRow, requireOpenRoom } from "../../rooms/queries.ts";

export type DocumentContext = RequestContext & LiveRoomContext;

/** NOT_FOUND without the room. */
export async function requireReader(ctx: LiveRoomContext, roomId: string): Promise<void> {
  requireRoomAccess(ctx, roomId);
  await getRoomRow(ctx, roomId);
}

/** Returns the author. FORBIDDEN for viewers and, to users, in a closed room. */
export async function requireEditor(ctx: DocumentContext, roomId: string): Promise<Author> {
  requireRoomAccess(ctx, roomId);
  requireWrite(ctx, "documents");
  await requireOpenRoom(ctx, roomId);
  return authorOf(ctx.actor);
}

function authorOf(actor: Actor): Author {
  switch (actor.type) {
    case "user":
      return { type: "user", id: actor.userId };
    case "key":
      return { type: "key", id: actor.keyId };
    case "person":
      return { type: "person", id: actor.personId };
    case "identity":
    case "anyone":
      throw new AppError("Rooms", "FORBIDDEN", "Documents can be changed with a credential only");
  }
}

export interface DocumentPlace {
  readonly roomId: string;
  readonly document: string;
}

interface Rendering {
  /** Null for the document as it is. */
  readonly version: number | null;
  readonly type: SharedType;
  readonly root: string;
  readonly maxLength: number | null;
}

export async function listDocuments(
  ctx: LiveRoomContext,
  roomId: string,
): Promise<readonly ListedDocument[]> {
  await requireReader(ctx, roomId);
  return ctx.rooms.stub(roomId).listDocuments(ctx.accountId);
}

export async function describeDocument(
  ctx: LiveRoomContext,
  { roomId, document }: DocumentPlace,
): Promise<DocumentDetails> {
  await requireReader(ctx, roomId);
  const details = await ctx.rooms.stub(roomId).describeDocument(ctx.accountId, document);
  if (details === null) throw notFound("Rooms", "Document");
  return details;
}

/** Reads a document, or a version of it, as one update. NOT_FOUND when there is none. */
export async function readDocument(
  ctx: LiveRoomContext,
  { roomId, document }: DocumentPlace,
  version: number | null,
): Promise<Uint8Array> {
  await requireReader(ctx, roomId);
  const updates =
    version === null
      ? await ctx.rooms.readDocument(roomId, ctx.accountId, document)
      : await ctx.rooms.readVersion(roomId, ctx.accountId, document, version);
  if (updates === null) throw notFound("Rooms", version === null ? "Document" : "Version");
  return mergeMany(updates);
}

/** Renders one shared type as text or JSON. CONFLICT when the document or its content is too large. */
export async function renderDocument(
  ctx: LiveRoomContext,
  place: DocumentPlace,
  { version, ...rendering }: Rendering,
): Promise<Rendered> {
  return renderContent(await readDocument(ctx, place, version), rendering);
}

/** Applies an update; false without news. `onlyIfEmpty` lets exactly one of concurrent seeds win. */
export async function writeDocument(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
  update: Uint8Array,
  onlyIfEmpty: boolean,
): Promise<boolean> {
  if (!fits(document, DOCUMENT_LIMITS.documentNameLength))
    throw new AppError(
      "Rooms",
      "BAD_REQUEST",
      `The document's name is too long: at most ${DOCUMENT_LIMITS.documentNameLength} characters`,
    );
  const author = await requireEditor(ctx, roomId);
  return ctx.rooms.writeDocument(roomId, ctx.accountId, document, update, {
    author,
    onlyIfEmpty,
    keepsVersion: false,
    writer: writerOf(ctx.actor),
  });
}

/** Deletes a document with its history. NOT_FOUND when there is none; fails as {@link requireEditor} does. */
export async function deleteDocument(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
): Promise<void> {
  await requireEditor(ctx, roomId);
  if (!(await ctx.rooms.deleteDocument(roomId, ctx.accountId, document, writerOf(ctx.actor))))
    throw notFound("Rooms", "Document");
}
