/** Reads and changes the history of a room's documents, for the organization and for the room's own users. */
import { requireRoomAccess } from "../../../platform/context/context.ts";
import { notFound } from "../../../platform/errors.ts";
import { revertingUpdate } from "../../../room/documents/history/revert.ts";
import type { HistoryPage, TrailEntry, VersionInfo } from "../../../room/port/document-history.ts";
import { getRoomRow } from "../../rooms/queries.ts";
import { type DocumentContext, requireEditor } from "./document-author.ts";
import { type DocumentPlace, describeDocument, readDocument } from "./document-commands.ts";

/** Who wrote what in a document and when, newest first. NOT_FOUND when the room has no such document. */
export async function readTrail(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
  page: HistoryPage,
): Promise<readonly TrailEntry[]> {
  await requireReader(ctx, roomId);
  return required(await ctx.rooms.stub(roomId).readTrail(ctx.accountId, document, page));
}

/** The versions of a document, newest first. NOT_FOUND as for {@link readTrail}. */
export async function listVersions(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
  page: HistoryPage,
): Promise<readonly VersionInfo[]> {
  await requireReader(ctx, roomId);
  return required(await ctx.rooms.stub(roomId).listVersions(ctx.accountId, document, page));
}

/**
 * Names the document as it is. NOT_FOUND as for {@link readTrail}; CONFLICT when nothing has changed since a named
 * version, or too many are named; FORBIDDEN for viewers and, to users, in a closed room.
 */
export async function createVersion(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
  name: string,
): Promise<VersionInfo> {
  const by = await requireEditor(ctx, roomId);
  return ctx.rooms.changeVersion(roomId, ctx.accountId, document, { type: "create", name, by });
}

/** A document's version. */
export interface VersionPlace extends DocumentPlace {
  /** Its number, as the caller wrote it. */
  readonly version: string;
}

/** Renames a version; without a name it is as if the room had made it by itself. Fails as {@link createVersion} does. */
export async function renameVersion(
  ctx: DocumentContext,
  { roomId, document, version }: VersionPlace,
  name: string | null,
): Promise<VersionInfo> {
  const by = await requireEditor(ctx, roomId);
  const seq = parseVersion(version);
  return ctx.rooms.changeVersion(roomId, ctx.accountId, document, { type: "rename", seq, name, by });
}

/** Deletes a version, and nothing of what was written. Fails as {@link createVersion} does. */
export async function deleteVersion(
  ctx: DocumentContext,
  { roomId, document, version }: VersionPlace,
): Promise<void> {
  await requireEditor(ctx, roomId);
  const seq = parseVersion(version);
  await ctx.rooms.changeVersion(roomId, ctx.accountId, document, { type: "delete", seq });
}

/**
 * Brings a document back to a version by an edit of the actor's, which everyone receives who has it open. What others
 * write after the document has been read for it stays; an edit that arrives before that is taken back too. The document
 * as it was is a version, too. False if it shows what the version shows already. CONFLICT for a large document, or one
 * that was restored or rolled back at the same time; NOT_FOUND also for one that was deleted meanwhile, whatever has its
 * name now; fails as {@link createVersion} does.
 */
export async function restoreVersion(
  ctx: DocumentContext,
  { version, ...place }: VersionPlace,
): Promise<boolean> {
  const author = await requireEditor(ctx, place.roomId);
  const seq = parseVersion(version);
  const { id: documentId, seq: basedOn } = await describeDocument(ctx, place);
  const [before, current] = await Promise.all([
    readDocument(ctx, place, seq),
    readDocument(ctx, place, null),
  ]);
  const update = revertingUpdate(before, current);
  if (update === null) return false;
  const write = { author, onlyIfEmpty: false, keepsVersion: true, basedOn, documentId };
  return ctx.rooms.writeDocument(place.roomId, ctx.accountId, place.document, update, write);
}

async function requireReader(ctx: DocumentContext, roomId: string): Promise<void> {
  requireRoomAccess(ctx, roomId);
  await getRoomRow(ctx, roomId);
}

/** NOT_FOUND for what is no number. */
function parseVersion(version: string): number {
  if (!/^[0-9]{1,15}$/.test(version)) throw notFound("Rooms", "Version");
  return Number(version);
}

function required<T>(found: T | null): T {
  if (found === null) throw notFound("Rooms", "Document");
  return found;
}
