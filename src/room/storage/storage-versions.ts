/** The storage of the versions of a room's documents: points in what their authors wrote. */
import type { HistoryPage, VersionInfo } from "../port/document-history.ts";

/** A version has no content of its own: the updates up to its number are kept, and folded on neither side of it. */
export interface VersionTable {
  find(documentId: number, seq: number): VersionInfo | null;
  /** Newest first. */
  list(documentId: number, page: HistoryPage): VersionInfo[];
  /** The numbers of those after an update, in order. */
  listSeqs(documentId: number, afterSeq: number): number[];
  /** The first one after an update; null if there is none. */
  findNext(documentId: number, afterSeq: number): VersionInfo | null;
  /** Those without a name that were made before a time (epoch ms), in order. */
  listUnnamed(documentId: number, madeBefore: number, limit: number): VersionInfo[];
  count(documentId: number): number;
  countNamed(documentId: number): number;
  /** Creates a version, or replaces it. */
  put(documentId: number, version: VersionInfo): void;
  delete(documentId: number, seq: number): void;
  /** All of a document. */
  deleteAll(documentId: number): void;
}
