/** The storage of a room's documents: what their authors wrote, and the parts that it was folded into. */
import type { Author, HistoryPage, TrailEntry } from "../port/room-documents.ts";

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

/** What one author wrote: one update, or several in a row that were folded. */
export interface StoredUpdate {
  /** The sequence number of the last of them. */
  readonly seq: number;
  /** How many they are. */
  readonly updates: number;
  /** When the first and the last arrived (epoch ms). */
  readonly firstAt: number;
  readonly at: number;
  readonly author: Author;
  readonly data: Uint8Array;
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
  /** Those after a sequence number, in order. */
  listUpdates(documentId: number, afterSeq: number): StoredUpdate[];
  deleteUpdates(documentId: number, fromSeq: number, toSeq: number): void;
  /** Newest first, without what they hold. */
  listTrail(documentId: number, page: HistoryPage): TrailEntry[];
  /** Of all documents that have one, or of one. */
  tails(documentId?: number): DocumentTail[];

  /** Parts are numbered from 0. */
  readPart(documentId: number, part: number): Uint8Array;
  writePart(documentId: number, part: number, data: Uint8Array): void;
  deletePart(documentId: number, part: number): void;
}
