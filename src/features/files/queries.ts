/** The queries about files. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { presentFile, type StorageFile } from "@atrium/contract/resources/file.ts";
import type { FoundFile } from "@atrium/contract/rest/files.ts";
import { fold } from "@atrium/contract/text.ts";
import { encodePosition, type PresentedScroll, presentScroll } from "../../http/lists.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { Page, Tenant } from "../../platform/d1/d1.ts";
import { requireRoom } from "../../platform/d1/rights.ts";
import { selectRoom } from "../rooms/statements.ts";
import type { FileOperationContext } from "./context.ts";
import { presentFound } from "./present.ts";
import {
  countFiles,
  type FileFilter,
  type FilePosition,
  type NamedFile,
  positionOf,
  selectFiles,
  selectFound,
  selectNames,
} from "./storage/list-store.ts";
import { selectFile } from "./storage/statements.ts";

/** A page of a room's files, in one D1 trip without R2. NOT_FOUND without the room. */
export async function listFiles(
  ctx: FileOperationContext,
  roomId: string,
  filter: FileFilter,
  page: Page,
): Promise<{ files: StorageFile[] } & PresentedScroll> {
  requireRoom(ctx, roomId);
  const [rooms, rows, counted] = await ctx.db.run([
    selectRoom(ctx, { id: roomId }),
    selectFiles(ctx, roomId, filter, page),
    countFiles(ctx, roomId, filter, page),
  ]);
  if (rooms.length === 0) throw notFound("Rooms", "Room");
  return {
    files: rows.map((row) => presentFile(row, ctx.origin)),
    ...presentScroll(page, counted, rows, positionOf(page)),
  };
}

export async function readFile(
  ctx: FileOperationContext,
  roomId: string,
  key: string,
  maxBytes: number,
): Promise<{ file: StorageFile; bytes: ArrayBuffer } | null> {
  requireRoom(ctx, roomId);
  const [[row]] = await ctx.db.run([selectFile(ctx, key)]);
  if (row === undefined || row.roomId !== roomId) return null;
  if (row.size > maxBytes) {
    throw new AppError(
      "Files",
      "BAD_REQUEST",
      `The file is too large to read: it has more than ${maxBytes} bytes`,
    );
  }
  const blob = await ctx.blobs.get({ accountId: ctx.accountId, key }, null);
  if (blob === null) return null;
  return { file: presentFile(row, ctx.origin), bytes: await new Response(blob.body).arrayBuffer() };
}

/** Names in one statement, and statements of one request: together the 5,000 that the API's description promises. */
const NAMES_AT_ONCE = 1_000;
const MAX_CHUNKS = 5;

interface FileSearch {
  readonly roomId: string | null;
  readonly uploadedBy: string | null;
}

/** Matching files, newest first. A page may be short or empty before the search has ended. */
export async function findFiles(
  ctx: RequestContext,
  search: FileSearch,
  page: Page,
): Promise<{ files: FoundFile[]; cursor: string | null }> {
  const { found, next } = await readNames(ctx, search, page);
  const [rows] = await ctx.db.run([
    selectFound(
      ctx,
      found.map(({ key }) => key),
    ),
  ]);
  return {
    files: rows.map((row) => presentFound(row, ctx.origin)),
    cursor:
      next === null ? null : encodePosition({ key: next.uploadedAt, id: next.key, offset: 0, total: 0 }),
  };
}

/** The newest files. No key is behind the tilde. */
const BEFORE_NEWEST: FilePosition = { uploadedAt: Number.MAX_SAFE_INTEGER, key: "~" };

/** Up to a page of matches, and the position of the next read; null at the end. */
async function readNames(
  tenant: Tenant,
  { roomId, uploadedBy }: FileSearch,
  { search, limit, after }: Page,
): Promise<{ readonly found: readonly NamedFile[]; readonly next: FilePosition | null }> {
  const atOnce = search === "" && uploadedBy === null ? limit + 1 : NAMES_AT_ONCE;
  const found: NamedFile[] = [];
  let at: FilePosition =
    after === undefined ? BEFORE_NEWEST : { uploadedAt: Number(after.key), key: after.id };
  for (let chunk = 0; chunk < MAX_CHUNKS; chunk += 1) {
    const [names] = await tenant.db.run([selectNames(tenant, roomId, at, atOnce)]);
    const matches = names.filter(
      (file) =>
        (uploadedBy === null || file.uploadedBy === uploadedBy) && fold(file.filename).includes(search),
    );
    found.push(...matches);
    if (found.length > limit) return { found: found.slice(0, limit), next: found[limit - 1] ?? null };
    if (names.length < atOnce) return { found, next: null };
    at = names.at(-1) ?? at;
  }
  return { found, next: at };
}
