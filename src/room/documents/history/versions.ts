/** The versions of a document: points in its edit history, made by the room or named by someone. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import { AppError } from "@atrium/contract/errors.ts";
import type { RoomStorage } from "../../storage/storage.ts";
import { type Author, distinctAuthors, type VersionInfo } from "../../types/documents.ts";

/** Arrival of the first and the last update since the latest version (epoch ms); null for none. */
export type Unversioned = { readonly firstAt: number; readonly at: number } | null;

/** Tells whether the document becomes a version before the update that arrives now. */
export const isVersionDue = (unversioned: Unversioned, now: number): boolean =>
  unversioned !== null &&
  (now - unversioned.at >= DOCUMENT_LIMITS.versionQuietMs ||
    now - unversioned.firstAt >= DOCUMENT_LIMITS.versionEditingMs);

/** The edits since the latest version. */
export const findUnversioned = (storage: RoomStorage, documentId: number): Unversioned =>
  storage.documents.findTimes(documentId, seqBefore(storage, documentId, Number.MAX_SAFE_INTEGER));

/** The number of the version before an update; 0 for none. */
const seqBefore = ({ versions }: RoomStorage, documentId: number, before: number): number =>
  versions.list(documentId, { before, limit: 1 })[0]?.seq ?? 0;

/** Makes a version after the latest update, `seq`, unless there is one. */
export function makeVersion(storage: RoomStorage, documentId: number, seq: number, now: number): VersionInfo {
  const { documents, versions } = storage;
  const known = versions.find(documentId, seq);
  if (known !== null) return known;
  const authors = documents.listAuthors(documentId, seqBefore(storage, documentId, seq), seq);
  const version = {
    seq,
    name: null,
    at: documents.listTrail(documentId, { before: seq + 1, limit: 1 })[0]?.at ?? now,
    createdAt: now,
    namedBy: null,
    authors: authors.slice(0, DOCUMENT_LIMITS.authors),
  };
  versions.put(documentId, version);
  return version;
}

/** Names a version; CONFLICT when too many are named already. */
export function nameVersion(
  { versions }: RoomStorage,
  documentId: number,
  version: VersionInfo,
  name: string | null,
  by: Author,
): VersionInfo {
  const isOneMore = version.name === null && name !== null;
  if (isOneMore && versions.countNamed(documentId) >= DOCUMENT_LIMITS.namedVersions)
    throw new AppError(
      "Rooms",
      "CONFLICT",
      `A document has at most ${DOCUMENT_LIMITS.namedVersions} named versions: delete one first`,
    );
  const named = { ...version, name, namedBy: name === null ? null : by };
  versions.put(documentId, named);
  return named;
}

/** Deletes versions, given in order. The following version inherits their authors. */
export function deleteVersions(
  { versions }: RoomStorage,
  documentId: number,
  deleted: readonly VersionInfo[],
): void {
  let authors: readonly Author[] = [];
  for (const [index, version] of deleted.entries()) {
    authors = distinctAuthors([...authors, ...version.authors]);
    versions.delete(documentId, version.seq);
    const next = versions.findNext(documentId, version.seq);
    if (next?.seq === deleted[index + 1]?.seq) continue;
    if (next !== null) {
      const all = distinctAuthors([...authors, ...next.authors]);
      versions.put(documentId, { ...next, authors: all.slice(0, DOCUMENT_LIMITS.authors) });
    }
    authors = [];
  }
}
