/** Limits the bytes and the number of a room's documents. */
import { AppError } from "../../platform/errors.ts";
import type { DocumentTable } from "../storage/storage-documents.ts";
import { bytesOf, type LoadedDocument, sumOf } from "./loaded-documents.ts";
import {
  MAX_DOCUMENT_BYTES,
  MAX_DOCUMENTS,
  MAX_ROOM_DOCUMENT_BYTES,
  MAX_STRETCHES,
} from "./updates/limits.ts";
import type { UpdateContent } from "./updates/update-reader.ts";

/** The organization's quota for the bytes of documents. */
export interface DocumentQuota {
  /** Checks the quota before the bytes change. FORBIDDEN when it is used up. */
  require(before: number, after: number): void;
  /** Counts bytes that have changed. */
  changed(before: number, after: number): void;
}

export class DocumentSpace {
  readonly #table: () => DocumentTable;
  readonly #quota: DocumentQuota;
  /** Bytes of all documents in storage; null until they are measured. */
  #bytes: number | null = null;
  #count: number | null = null;

  constructor(table: () => DocumentTable, quota: DocumentQuota) {
    this.#table = table;
    this.#quota = quota;
  }

  /** Bytes of all documents in storage, with their history. */
  get bytes(): number {
    this.#bytes ??= this.#measure();
    return this.#bytes;
  }

  #measure(): number {
    const table = this.#table();
    const folded = table.list().reduce((sum, row) => sum + sumOf(row.partBytes) + row.trailBytes, 0);
    return folded + table.tails().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Throws CONFLICT unless an update of this size has space, and FORBIDDEN when the quota is used up. */
  require(name: string, document: LoadedDocument, bytes: number, content: UpdateContent): void {
    if (bytesOf(document) + bytes > MAX_DOCUMENT_BYTES)
      throw full(`Document ${name} is full: a document has at most ${MAX_DOCUMENT_BYTES} bytes`);
    if (document.known.size + content.inserted.length + content.deleted.length > MAX_STRETCHES)
      throw full(`Document ${name} is full: its operations are too scattered`);
    if (this.bytes + bytes > MAX_ROOM_DOCUMENT_BYTES)
      throw full(`The room's documents have ${MAX_ROOM_DOCUMENT_BYTES} bytes: delete one first`);
    this.#count ??= this.#table().list().length;
    if (document.row === null && this.#count >= MAX_DOCUMENTS)
      throw full(`A room has at most ${MAX_DOCUMENTS} documents: delete one first`);
    this.#quota.require(this.bytes, this.bytes + bytes);
  }

  /** Counts a stored update, which may have created its document. */
  added(bytes: number, isNew: boolean): void {
    if (this.#bytes !== null) {
      this.#bytes += bytes;
      this.#quota.changed(this.#bytes - bytes, this.#bytes);
    }
    if (this.#count !== null && isNew) this.#count += 1;
  }

  /** Runs a change of storage, and measures again. */
  remeasure<T>(change: () => T): T {
    const before = this.bytes;
    const result = change();
    this.reset();
    this.#quota.changed(before, this.bytes);
    return result;
  }

  /** Forgets the measurements after storage was cleared. */
  reset(): void {
    this.#bytes = null;
    this.#count = null;
  }
}

const full = (why: string) => new AppError("Rooms", "CONFLICT", why);
