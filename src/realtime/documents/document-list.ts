/** The list of a room's documents. */
import type { DocumentInfo } from "../port/room-documents.ts";
import type { DocumentTable, StoredDocument } from "../storage/storage-documents.ts";
import { sumOf } from "./loaded-documents.ts";

/** By name. */
export function listDocuments(table: DocumentTable): DocumentInfo[] {
  const tails = new Map(table.tails().map((tail) => [tail.documentId, tail]));
  return table.list().map((row) => {
    const tail = tails.get(row.id);
    return {
      name: row.name,
      bytes: sumOf(row.partBytes) + (tail?.bytes ?? 0),
      seq: tail?.seq ?? row.foldedSeq,
      createdAt: row.createdAt,
      updatedAt: tail?.at ?? lastChangeOf(table, row),
    };
  });
}

const lastChangeOf = (table: DocumentTable, { id, createdAt, foldedSeq }: StoredDocument): number =>
  table.listUpdates(id, foldedSeq - 1).at(-1)?.at ?? createdAt;
