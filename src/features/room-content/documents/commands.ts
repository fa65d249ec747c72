/** Reads and changes the documents of a room, for the organization and for the users of the room. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import { AppError, notFound } from "@atrium/contract/errors.ts";
import { suggestionIn } from "@atrium/contract/suggestion-limits.ts";
import { fits } from "@atrium/contract/text.ts";
import type { RequestContext } from "../../../platform/d1/context.ts";
import { writerOf } from "../../../platform/d1/rights.ts";
import {
  type Rendered,
  type Rendering,
  renderContent,
} from "../../../room/documents/content/render-content.ts";

import { mergeMany } from "../../../room/documents/updates/known-content.ts";
import type { Author, DocumentDetails, ListedDocument } from "../../../room/types/documents.ts";
import type { LiveRoomContext } from "../../rooms/context.ts";
import { getRoomRow, requireOpenRoom } from "../../rooms/queries.ts";

export type DocumentContext = RequestContext & LiveRoomContext;

/** Returns the author. NOT_FOUND without the room, FORBIDDEN to users in a closed one, CONFLICT for a suggestion's fork. */
export async function requireEditor(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
): Promise<Author> {
  requireOrdinary(document);
  return requireAuthor(ctx, roomId);
}

async function requireAuthor(ctx: DocumentContext, roomId: string): Promise<Author> {
  await requireOpenRoom(ctx, roomId);
  return authorOf(ctx.actor);
}

/** The author of what an actor writes. FORBIDDEN without a credential of the room. */
export function authorOf(actor: LiveRoomContext["actor"]): Author {
  switch (actor.type) {
    case "workflow":
      return { type: "workflow", id: actor.workflowId };
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

interface RenderedVersion extends Rendering {
  /** Null for the document as it is. */
  readonly version: number | null;
}

export async function listDocuments(
  ctx: LiveRoomContext,
  roomId: string,
): Promise<readonly ListedDocument[]> {
  await getRoomRow(ctx, roomId);
  return ctx.rooms.stub(roomId).listDocuments(ctx.accountId);
}

export async function describeDocument(
  ctx: LiveRoomContext,
  { roomId, document }: DocumentPlace,
): Promise<DocumentDetails> {
  await getRoomRow(ctx, roomId);
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
  await getRoomRow(ctx, roomId);
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
  { version, ...rendering }: RenderedVersion,
): Promise<Rendered> {
  return renderContent(await readDocument(ctx, place, version), rendering);
}

/** BAD_REQUEST for a name that is too long, CONFLICT for that of a suggestion's fork. */
export function requireOrdinary(document: string): void {
  if (suggestionIn(document) !== null)
    throw new AppError(
      "Rooms",
      "CONFLICT",
      "The name is that of a suggestion: edit it by the suggestion's own endpoints",
    );
  if (!fits(document, DOCUMENT_LIMITS.documentNameLength))
    throw new AppError(
      "Rooms",
      "BAD_REQUEST",
      `The document's name is too long: at most ${DOCUMENT_LIMITS.documentNameLength} characters`,
    );
}

/** Applies an update; false without news. `onlyIfEmpty` lets exactly one of concurrent seeds win. */
export async function writeDocument(
  ctx: DocumentContext,
  place: DocumentPlace,
  update: Uint8Array,
  onlyIfEmpty: boolean,
): Promise<boolean> {
  const { roomId, document } = place;
  const author = await requireEditor(ctx, place);
  return ctx.rooms.writeDocument(roomId, ctx.accountId, document, update, {
    author,
    onlyIfEmpty,
    keepsVersion: false,
    writer: writerOf(ctx),
  });
}

/**
 * Deletes a document with its history. NOT_FOUND when there is none, FORBIDDEN to users in a closed room, CONFLICT for a
 * suggestion's fork.
 */
export async function deleteDocument(ctx: DocumentContext, place: DocumentPlace): Promise<void> {
  const { roomId, document } = place;
  await requireAuthor(ctx, roomId);
  if (!(await ctx.rooms.deleteDocument(roomId, ctx.accountId, document, writerOf(ctx))))
    throw notFound("Rooms", "Document");
}
