/** The documents of a room in storage, with their versions. */
import type { Author, HistoryPage, TrailEntry, VersionInfo } from "../types/documents.ts";

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

/** A document's row. */
export interface StoredDocument {
  /** Its number in the storage; a document of the same name that is created later has another one. */
  readonly id: number;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** The parts hold the updates up to this sequence number. */
  readonly foldedSeq: number;
  /** How many bytes each part has, oldest first. */
  readonly partBytes: readonly number[];
  /** What the kept updates have that are folded already, in bytes. */
  readonly trailBytes: number;
}

/** What was written: one update, or several in a row that were folded. */
export interface StoredUpdate {
  /** The sequence number of the last of them. */
  readonly seq: number;
  /** How many they are. */
  readonly updates: number;
  /** When the first and the last arrived (epoch ms). */
  readonly firstAt: number;
  readonly at: number;
  /** At least one; several once it is older than the trail is kept. */
  readonly authors: readonly Author[];
  readonly data: Uint8Array;
}

/** Stretches of a document's trail. */
export interface StretchRange {
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
}

/** The updates of a document that are not folded yet. */
export interface DocumentTail {
  readonly documentId: number;
  readonly updates: number;
  readonly bytes: number;
  /** Of the last one. */
  readonly seq: number;
  readonly at: number;
}

/** Data of any size: the driver cuts it into pieces. Reading never creates anything. */
export interface DocumentTable {
  find(name: string): StoredDocument | null;
  /** By name. */
  list(): StoredDocument[];
  /** Creates a document without content. Throws if there is one of this name. */
  insert(name: string, createdAt: number): StoredDocument;
  update(document: StoredDocument): void;
  /** With all that it has. */
  delete(id: number): void;

  appendUpdate(documentId: number, update: StoredUpdate): void;
  /** Those after a sequence number and, with another one, up to that; in order. */
  listUpdates(documentId: number, afterSeq: number, upToSeq?: number): StoredUpdate[];
  deleteUpdates(documentId: number, fromSeq: number, toSeq: number): void;
  /** Newest first, without what they hold. */
  listTrail(documentId: number, page: HistoryPage): TrailEntry[];
  /** The same in order, those after a sequence number and up to another. */
  listStretches(documentId: number, range: StretchRange): TrailEntry[];
  /** Who wrote them, of those after a sequence number and up to another. */
  listAuthors(documentId: number, afterSeq: number, upToSeq: number): Author[];
  /** When the first and the last of those after a sequence number arrived; null if there is none. */
  findTimes(documentId: number, afterSeq: number): { readonly firstAt: number; readonly at: number } | null;
  /** Of the latest update; 0 if there is none. */
  lastSeq(documentId: number): number;
  /** Of all documents that have one, or of one. */
  tails(documentId?: number): DocumentTail[];

  /** Parts are numbered from 0. */
  readPart(documentId: number, part: number): Uint8Array;
  writePart(documentId: number, part: number, data: Uint8Array): void;
  deletePart(documentId: number, part: number): void;
}
