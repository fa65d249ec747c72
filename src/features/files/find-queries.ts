/** Finds files by their names, read in chunks and compared here: SQLite folds the letters of ASCII only. */

import { encodePosition } from "../../http/lists/list-cursor.ts";
import type { RequestContext } from "../../platform/context/context.ts";
import type { Page, Tenant } from "../../platform/d1/d1.ts";
import { fold } from "../../platform/text.ts";
import { type FoundFile, presentFound } from "./schema.ts";
import {
  BEFORE_NEWEST,
  type FilePosition,
  type NamedFile,
  selectFound,
  selectNames,
} from "./storage/find-store.ts";

/** Names in one statement, and statements of one request: together the 5,000 that the API's description promises. */
const NAMES_AT_ONCE = 1_000;
const MAX_CHUNKS = 5;

/** Which files to find. */
export interface FileSearch {
  /** Null for all rooms. */
  readonly roomId: string | null;
  /** Null for all users and workflows. */
  readonly uploadedBy: string | null;
}

/** Files whose names have the page's text, newest first. A page may be short, or empty, before the search has ended. */
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

/** The names that match, at most a page of them, and behind which file the search goes on; null at its end. */
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
