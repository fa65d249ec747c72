/** Reads the history of a document, compares versions, restores one, and takes back the edits of a user. */
import { requireRoomAccess } from "../../../platform/d1/context.ts";
import { AppError, notFound } from "../../../platform/errors.ts";
import { type Change, compareType } from "../../../room/documents/compare/compare.ts";
import { revertingUpdate, rollbackUpdate } from "../../../room/documents/history/rollback.ts";
import type { SharedType } from "../../../room/documents/updates/built-document.ts";
import type { HistoryPage, TrailEntry, VersionInfo } from "../../../room/types/documents.ts";
import { getRoomRow } from "../../rooms/queries.ts";
import {
  type DocumentContext,
  type DocumentPlace,
  describeDocument,
  readDocument,
  requireEditor,
} from "./commands.ts";

/** Lists the edit history, newest first. NOT_FOUND when there is no such document. */
export async function readTrail(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
  page: HistoryPage,
): Promise<readonly TrailEntry[]> {
  await requireReader(ctx, roomId);
  return required(await ctx.rooms.stub(roomId).readTrail(ctx.accountId, document, page));
}

/** Lists the versions, newest first. NOT_FOUND as for {@link readTrail}. */
export async function listVersions(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
  page: HistoryPage,
): Promise<readonly VersionInfo[]> {
  await requireReader(ctx, roomId);
  return required(await ctx.rooms.stub(roomId).listVersions(ctx.accountId, document, page));
}

/**
 * Names the document as it is. NOT_FOUND as for {@link readTrail}; CONFLICT when a named version is the same, or too
 * many have names; FORBIDDEN as for {@link requireEditor}.
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

/** Renames a version; without a name it is as if the room had made it. Fails as {@link createVersion} does. */
export async function renameVersion(
  ctx: DocumentContext,
  { roomId, document, version }: VersionPlace,
  name: string | null,
): Promise<VersionInfo> {
  const by = await requireEditor(ctx, roomId);
  const seq = parseVersion(version);
  return ctx.rooms.changeVersion(roomId, ctx.accountId, document, { type: "rename", seq, name, by });
}

/** Deletes a version, but no edit. Fails as {@link createVersion} does. */
export async function deleteVersion(
  ctx: DocumentContext,
  { roomId, document, version }: VersionPlace,
): Promise<void> {
  await requireEditor(ctx, roomId);
  const seq = parseVersion(version);
  await ctx.rooms.changeVersion(roomId, ctx.accountId, document, { type: "delete", seq });
}

/**
 * Brings a document back to a version by an edit of the actor, which everyone with the document open receives. The
 * document before it becomes a version. Edits that arrive after the document was read stay. False if the document
 * shows the same already. CONFLICT for a large document, or one that was restored or rolled back at the same time;
 * NOT_FOUND for one that was deleted meanwhile; fails as {@link createVersion} does.
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

/** Parses the number of a version; NOT_FOUND for anything else. */
function parseVersion(version: string): number {
  if (!/^[0-9]{1,15}$/.test(version)) throw notFound("Rooms", "Version");
  return Number(version);
}

function required<T>(found: T | null): T {
  if (found === null) throw notFound("Rooms", "Document");
  return found;
}

/** A comparison of two versions. */
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
 * Compares a shared type of two versions, and names the authors. NOT_FOUND when there is no such document or version,
 * or the document was deleted meanwhile; BAD_REQUEST when `to` is before `from`; CONFLICT when the document or the
 * difference is large.
 */
export async function compareVersions(
  ctx: DocumentContext,
  place: DocumentPlace,
  { from, to, type, root }: Compared,
): Promise<readonly Change[]> {
  requireOrder(from, to);
  const { id: documentId } = await describeDocument(ctx, place);
  const range = { after: from, upTo: to, documentId };
  const [before, written] = await Promise.all([
    from === 0 ? [] : ctx.rooms.readVersion(place.roomId, ctx.accountId, place.document, from, documentId),
    ctx.rooms.readWritten(place.roomId, ctx.accountId, place.document, range),
  ]);
  if (before === null) throw notFound("Rooms", "Version");
  return compareType(before, written, type, root);
}

/** The edits of a user between two versions. */
interface RolledBack extends Pick<Compared, "from" | "to"> {
  readonly userId: string;
}

/**
 * Takes back the edits of a user between two versions, by an edit of the actor, which everyone with the document open
 * receives. The document before it becomes a version. False if there is nothing to take back. CONFLICT when the
 * document is large, or was rolled back at the same time; fails as {@link compareVersions} and {@link createVersion}
 * do.
 */
export async function rollBackUser(
  ctx: DocumentContext,
  place: DocumentPlace,
  { userId, from, to }: RolledBack,
): Promise<boolean> {
  const { roomId, document } = place;
  const author = await requireEditor(ctx, roomId);
  requireOrder(from, to);
  const { id: documentId } = await describeDocument(ctx, place);
  const [before, since] = await Promise.all([
    from === 0 ? [] : ctx.rooms.readVersion(roomId, ctx.accountId, document, from, documentId),
    ctx.rooms.readWritten(roomId, ctx.accountId, document, { after: from, upTo: null, documentId }),
    // Only checks that the version exists.
    to === null ? null : ctx.rooms.readWritten(roomId, ctx.accountId, document, { after: to, upTo: to }),
  ]);
  if (before === null) throw notFound("Rooms", "Version");
  const upTo = to ?? Number.MAX_SAFE_INTEGER;
  const update = rollbackUpdate(before, since, { author: { type: "user", id: userId }, upTo });
  if (update === null) return false;
  const basedOn = since.at(-1)?.seq ?? from;
  const write = { author, onlyIfEmpty: false, keepsVersion: true, basedOn, documentId };
  return ctx.rooms.writeDocument(roomId, ctx.accountId, document, update, write);
}

function requireOrder(from: number, to: number | null): void {
  if (to !== null && to < from)
    throw new AppError("Rooms", "BAD_REQUEST", "to: must be no earlier version than from");
}
