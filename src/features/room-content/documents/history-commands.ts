/** Reads the history of a document, compares versions, restores one, and takes back the edits of a user. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import type { SharedType } from "@atrium/contract/shared-types.ts";
import { writerOf } from "../../../platform/d1/rights.ts";
import { type Change, compareType } from "../../../room/documents/compare/compare.ts";
import { revertingUpdate, rollbackUpdate } from "../../../room/documents/history/rollback.ts";

import type { Author, HistoryPage, TrailEntry, VersionInfo } from "../../../room/types/documents.ts";
import { getRoomRow } from "../../rooms/queries.ts";
import {
  type DocumentContext,
  type DocumentPlace,
  describeDocument,
  readDocument,
  requireEditor,
} from "./commands.ts";

export async function readTrail(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
  page: HistoryPage,
): Promise<readonly TrailEntry[]> {
  await getRoomRow(ctx, roomId);
  return required(await ctx.rooms.stub(roomId).readTrail(ctx.accountId, document, page));
}

export async function listVersions(
  ctx: DocumentContext,
  { roomId, document }: DocumentPlace,
  page: HistoryPage,
): Promise<readonly VersionInfo[]> {
  await getRoomRow(ctx, roomId);
  return required(await ctx.rooms.stub(roomId).listVersions(ctx.accountId, document, page));
}

export async function createVersion(
  ctx: DocumentContext,
  place: DocumentPlace,
  name: string,
): Promise<VersionInfo> {
  const { roomId, document } = place;
  const by = await requireEditor(ctx, place);
  return ctx.rooms.changeVersion(
    roomId,
    ctx.accountId,
    document,
    { type: "create", name, by },
    writerOf(ctx),
  );
}

interface VersionPlace extends DocumentPlace {
  readonly version: string;
}

export async function renameVersion(
  ctx: DocumentContext,
  place: VersionPlace,
  name: string | null,
): Promise<VersionInfo> {
  const { roomId, document, version } = place;
  const by = await requireEditor(ctx, place);
  const seq = parseVersion(version);
  return ctx.rooms.changeVersion(
    roomId,
    ctx.accountId,
    document,
    { type: "rename", seq, name, by },
    writerOf(ctx),
  );
}

export async function deleteVersion(ctx: DocumentContext, place: VersionPlace): Promise<void> {
  const { roomId, document, version } = place;
  await requireEditor(ctx, place);
  const seq = parseVersion(version);
  await ctx.rooms.changeVersion(roomId, ctx.accountId, document, { type: "delete", seq }, writerOf(ctx));
}

/**
 * Restores a version by an edit, after the document became a version. False for no difference; CONFLICT for
 * a large document or a concurrent restore.
 */
export async function restoreVersion(
  ctx: DocumentContext,
  { version, ...place }: VersionPlace,
): Promise<boolean> {
  const author = await requireEditor(ctx, place);
  const seq = parseVersion(version);
  const { id: documentId, seq: basedOn } = await describeDocument(ctx, place);
  const [before, current] = await Promise.all([
    readDocument(ctx, place, seq),
    readDocument(ctx, place, null),
  ]);
  const update = revertingUpdate(before, current);
  if (update === null) return false;
  const write = {
    author,
    onlyIfEmpty: false,
    keepsVersion: true,
    basedOn,
    documentId,
    writer: writerOf(ctx),
  };
  return ctx.rooms.writeDocument(place.roomId, ctx.accountId, place.document, update, write);
}

function parseVersion(version: string): number {
  if (!/^[0-9]{1,15}$/.test(version)) throw notFound("Rooms", "Version");
  return Number(version);
}

function required<T>(found: T | null): T {
  if (found === null) throw notFound("Rooms", "Document");
  return found;
}

interface Compared {
  readonly from: number;
  readonly to: number | null;
  readonly type: SharedType;
  readonly root: string;
}

/** BAD_REQUEST when `to` is before `from`; CONFLICT for a large document or difference. */
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

interface RolledBack extends Pick<Compared, "from" | "to"> {
  readonly author: Author;
}

/** Takes back an author's edits by an edit. False for nothing to take back; CONFLICT as for a restore. */
export async function rollBackAuthor(
  ctx: DocumentContext,
  place: DocumentPlace,
  { author: rolledBack, from, to }: RolledBack,
): Promise<boolean> {
  const { roomId, document } = place;
  const author = await requireEditor(ctx, place);
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
  const update = rollbackUpdate(before, since, { author: rolledBack, upTo });
  if (update === null) return false;
  const basedOn = since.at(-1)?.seq ?? from;
  const write = {
    author,
    onlyIfEmpty: false,
    keepsVersion: true,
    basedOn,
    documentId,
    writer: writerOf(ctx),
  };
  return ctx.rooms.writeDocument(roomId, ctx.accountId, document, update, write);
}

function requireOrder(from: number, to: number | null): void {
  if (to !== null && to < from)
    throw new AppError("Rooms", "BAD_REQUEST", "to: must be no earlier version than from");
}
