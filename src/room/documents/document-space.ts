/** How much a room's documents have, and how much more they may have. */
import { AppError } from "../../platform/errors.ts";
import type { DocumentTable } from "../storage/storage-documents.ts";
import { bytesOf, type LoadedDocument, sumOf } from "./loaded-documents.ts";
import {
  MAX_DOCUMENT_BYTES,
  MAX_DOCUMENTS,
  MAX_ROOM_DOCUMENT_BYTES,
  MAX_STRETCHES,
} from "./updates/limits.ts";
import type { UpdateContent } from "./updates/update-scan.ts";

/** The organization's quota, for what the room's documents have. */
export interface DocumentQuota {
  /** They are to have `after` instead of `before` bytes. FORBIDDEN when it is used up. */
  require(before: number, after: number): void;
  /** They have `after` instead of `before` bytes. */
  changed(before: number, after: number): void;
}

export class DocumentSpace {
  readonly #table: () => DocumentTable;
  readonly #quota: DocumentQuota;
  /** What all of them have in storage, once it is known. */
  #bytes: number | null = null;
  #count: number | null = null;

  constructor(table: () => DocumentTable, quota: DocumentQuota) {
    this.#table = table;
    this.#quota = quota;
  }

  /** What all documents of the room have in storage, with their history. */
  get bytes(): number {
    this.#bytes ??= this.#measure();
    return this.#bytes;
  }

  #measure(): number {
    const table = this.#table();
    const folded = table.list().reduce((sum, row) => sum + sumOf(row.partBytes) + row.trailBytes, 0);
    return folded + table.tails().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Throws CONFLICT unless there is space for an update of so many bytes, and FORBIDDEN when the quota is used up. */
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

  /** An update was stored, which may have created its document. */
  added(bytes: number, isNew: boolean): void {
    if (this.#bytes !== null) {
      this.#bytes += bytes;
      this.#quota.changed(this.#bytes - bytes, this.#bytes);
    }
    if (this.#count !== null && isNew) this.#count += 1;
  }

  /** Does what changes storage in another way, after which it is measured again. */
  remeasure<T>(change: () => T): T {
    const before = this.bytes;
    const result = change();
    this.reset();
    this.#quota.changed(before, this.bytes);
    return result;
  }

  /** Storage was cleared. */
  reset(): void {
    this.#bytes = null;
    this.#count = null;
  }
}

const full = (why: string) => new AppError("Rooms", "CONFLICT", why);
