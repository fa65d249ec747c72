/** Compares two points of a document's history, and takes back what one user wrote between them. */
import { AppError, notFound } from "../../../platform/errors.ts";
import { type Change, compareType } from "../../../room/documents/compare/compare.ts";
import { rollbackUpdate } from "../../../room/documents/history/rollback.ts";
import type { SharedType } from "../../../room/documents/updates/built-document.ts";
import { type DocumentContext, requireEditor } from "./document-author.ts";
import { type DocumentPlace, describeDocument } from "./document-commands.ts";

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
 * no such document or version, or the document is deleted meanwhile; BAD_REQUEST when `to` is before `from`; CONFLICT
 * when the document is large, or too much differs.
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
    // Of the version, all that matters is that there is one.
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
