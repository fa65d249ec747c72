/** What a room says of its documents, without what is in them. */
import type { DocumentDetails, DocumentInfo } from "../port/room-documents.ts";
import type { RoomStorage } from "../storage/storage.ts";
import type { DocumentTable, DocumentTail, StoredDocument } from "../storage/storage-documents.ts";
import { sumOf } from "./loaded-documents.ts";

/** What storage knows of a document: all but who has it open. */
export type StoredInfo = Omit<DocumentDetails, "userIds">;

/** By name. */
export function listDocuments(table: DocumentTable): DocumentInfo[] {
  const tails = new Map(table.tails().map((tail) => [tail.documentId, tail]));
  return table.list().map((row) => infoOf(table, row, tails.get(row.id)));
}

/** One document, with what it has of history; null if there is none of this name. */
export function describeDocument({ documents, versions }: RoomStorage, name: string): StoredInfo | null {
  const row = documents.find(name);
  if (row === null) return null;
  const info = infoOf(documents, row, documents.tails(row.id)[0]);
  return { ...info, id: row.id, versions: versions.count(row.id), storedBytes: info.bytes + row.trailBytes };
}

const infoOf = (table: DocumentTable, row: StoredDocument, tail: DocumentTail | undefined): DocumentInfo => ({
  name: row.name,
  bytes: sumOf(row.partBytes) + (tail?.bytes ?? 0),
  seq: tail?.seq ?? row.foldedSeq,
  createdAt: row.createdAt,
  updatedAt: tail?.at ?? table.findTimes(row.id, row.foldedSeq - 1)?.at ?? row.createdAt,
});
