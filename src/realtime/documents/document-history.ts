/** The history of a room's documents, as people see it. Reading it changes nothing. */
import type { HistoryPage, TrailEntry } from "../port/room-documents.ts";
import type { RoomStorage } from "../storage/storage.ts";
import type { DocumentTable } from "../storage/storage-documents.ts";
import { foldEntries } from "./trail.ts";

export class DocumentHistory {
  readonly #storage: RoomStorage;

  constructor(storage: RoomStorage) {
    this.#storage = storage;
  }

  get #table(): DocumentTable {
    return this.#storage.documents;
  }

  /** Who wrote what and when, newest first; null when there is no such document. */
  trail(name: string, { before, limit }: HistoryPage): TrailEntry[] | null {
    const row = this.#table.find(name);
    if (row === null) return null;
    const entries = this.#table.listTrail(row.id, { before, limit: limit + this.#unfolded(row.id) });
    const isTail = ({ seq }: TrailEntry): boolean => seq > row.foldedSeq;
    const tail = foldEntries(entries.filter(isTail).reverse()).reverse();
    return [...tail, ...entries.filter((entry) => !isTail(entry))].slice(0, limit);
  }

  /** Updates that have yet to be folded are shown as if they were. */
  #unfolded(documentId: number): number {
    return this.#table.tails(documentId)[0]?.updates ?? 0;
  }
}
