/** Reads and changes the history of a room's documents, for the organization and for the room's own users. */
import { requireRoomAccess } from "../context/context.ts";
import { AppError, notFound } from "../platform/errors.ts";
import { getRoomRow } from "../rooms/queries.ts";
import {
  type DocumentContext,
  type DocumentPlace,
  readDocument,
  requireEditor,
} from "./document-commands.ts";
import { type Change, compareType } from "./documents/compare/compare.ts";
import { revertingUpdate } from "./documents/revert.ts";
import { rollbackUpdate } from "./documents/rollback.ts";
import type { SharedType } from "./documents/shared-types.ts";
import type { HistoryPage, TrailEntry, VersionInfo } from "./port/document-history.ts";

/** Who wrote what in a document and when, newest first. NOT_FOUND when the room has no such document. */
export async function readTrail(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
  page: HistoryPage,
): Promise<readonly TrailEntry[]> {
  await requireReader(ctx, roomId);
  return required(await ctx.rooms.readTrail(roomId, ctx.accountId, document, page));
}

/** The versions of a document, newest first. NOT_FOUND as for {@link readTrail}. */
export async function listVersions(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
  page: HistoryPage,
): Promise<readonly VersionInfo[]> {
  await requireReader(ctx, roomId);
  return required(await ctx.rooms.listVersions(roomId, ctx.accountId, document, page));
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
 * Brings a document back to a version by an edit of the actor's, which everyone receives who has it open: what others
 * write meanwhile stays. The document as it was is a version, too. False if it shows what the version shows already.
 * CONFLICT for a large document, or one that was restored or rolled back at the same time; fails as {@link createVersion} does.
 */
export async function restoreVersion(
  ctx: DocumentContext,
  { version, ...place }: VersionPlace,
): Promise<boolean> {
  const author = await requireEditor(ctx, place.roomId);
  const latest = { before: Number.MAX_SAFE_INTEGER, limit: 1 };
  const [trail, before, current] = await Promise.all([
    ctx.rooms.readTrail(place.roomId, ctx.accountId, place.document, latest),
    readDocument(ctx, place, parseVersion(version)),
    readDocument(ctx, place, null),
  ]);
  const update = revertingUpdate(before, current);
  if (update === null) return false;
  const write = { author, onlyIfEmpty: false, keepsVersion: true, basedOn: trail?.[0]?.seq ?? 0 };
  return ctx.rooms.writeDocument(place.roomId, ctx.accountId, place.document, update, write);
}

/** What to compare of a document. */
interface Compared {
  /** The number of a version; 0 for the document before anything was written. */
  readonly from: number;
  /** Null for the document as it is. */
  readonly to: number | null;
  readonly type: SharedType;
  /** The name of the shared type. */
  readonly root: string;
}

/**
 * What differs in a shared type between two versions of a document, and whose change it is. NOT_FOUND when the room has
 * no such document or version; BAD_REQUEST when `to` is before `from`; CONFLICT when the document is large, or too
 * much differs.
 */
export async function compareVersions(
  ctx: DocumentContext,
  place: DocumentPlace,
  { from, to, type, root }: Compared,
): Promise<readonly Change[]> {
  requireOrder(from, to);
  await requireReader(ctx, place.roomId);
  const range = { after: from, upTo: to };
  const [before, written] = await Promise.all([
    from === 0 ? [] : ctx.rooms.readVersion(place.roomId, ctx.accountId, place.document, from),
    ctx.rooms.readWritten(place.roomId, ctx.accountId, place.document, range),
  ]);
  if (before === null) throw notFound("Rooms", "Version");
  return compareType(before, written, type, root);
}

/** What to take back in a document: what a user wrote between two versions of it. */
interface RolledBack extends Pick<Compared, "from" | "to"> {
  readonly userId: string;
}

/**
 * Takes back what a user wrote between two versions, by an edit of the actor's, which everyone receives who has the
 * document open: what others have written stays. The document as it was is a version, too. False if there is nothing to
 * take back. CONFLICT when the document is large, or was rolled back at the same time; fails as {@link compareVersions}
 * and {@link createVersion} do.
 */
export async function rollBackUser(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
  { userId, from, to }: RolledBack,
): Promise<boolean> {
  const author = await requireEditor(ctx, roomId);
  requireOrder(from, to);
  const [before, since] = await Promise.all([
    from === 0 ? [] : ctx.rooms.readVersion(roomId, ctx.accountId, document, from),
    ctx.rooms.readWritten(roomId, ctx.accountId, document, { after: from, upTo: null }),
    // Of the version, all that matters is that there is one.
    to === null ? null : ctx.rooms.readWritten(roomId, ctx.accountId, document, { after: to, upTo: to }),
  ]);
  if (before === null) throw notFound("Rooms", "Version");
  const upTo = to ?? Number.MAX_SAFE_INTEGER;
  const update = rollbackUpdate(before, since, { author: { type: "user", id: userId }, upTo });
  if (update === null) return false;
  const write = { author, onlyIfEmpty: false, keepsVersion: true, basedOn: since.at(-1)?.seq ?? from };
  return ctx.rooms.writeDocument(roomId, ctx.accountId, document, update, write);
}

function requireOrder(from: number, to: number | null): void {
  if (to !== null && to < from)
    throw new AppError("Rooms", "BAD_REQUEST", "to: must be no earlier version than from");
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
