/** Caches the state of documents in use: known operations and unfolded updates. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import { AppError } from "@atrium/contract/errors.ts";
import { suggestionIn } from "@atrium/contract/suggestion-limits.ts";
import type { StoredDocument } from "../storage/sqlite-documents.ts";
import type { RoomStorage } from "../storage/storage.ts";
import { findUnversioned, type Unversioned } from "./history/versions.ts";
import { weightOf } from "./updates/built-document.ts";
import { KnownContent } from "./updates/known-content.ts";
import { scanUpdate, type UpdateContent } from "./updates/update-reader.ts";

/** The part with a document's {@link KnownContent}. Content is in the parts from 0 on. */
export const KNOWN_PART = -1;

/** Progress in joining old history. */
interface Aged {
  /** Older entries are joined (epoch ms). */
  readonly horizon: number;
  /** The last update that was joined; `Infinity` when none is left. */
  readonly seq: number;
}

export interface LoadedDocument {
  /** Null until its first update. */
  row: StoredDocument | null;
  readonly known: KnownContent;
  /** The number of the latest update. */
  seq: number;
  /** Unfolded updates, and their bytes. */
  tailUpdates: number;
  tailBytes: number;
  /** Edits since the latest version. */
  unversioned: Unversioned;
  /** Progress in joining old history; null when it is not known. */
  readonly aged: Aged | null;
  /** Items that its stored updates would be built from, counted for the forks of suggestions; null until then. */
  weight: number | null;
}

/** Bytes of a document, encoded, without its history. */
export const bytesOf = ({ row, tailBytes }: LoadedDocument): number =>
  sumOf(row?.partBytes ?? []) + tailBytes;

export const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

export class LoadedDocuments {
  readonly #storage: RoomStorage;
  readonly #loaded = new Map<string, LoadedDocument>();

  constructor(storage: RoomStorage) {
    this.#storage = storage;
  }

  /** Returns the state of a document, which need not exist. */
  get(name: string): LoadedDocument {
    const loaded = this.#loaded.get(name) ?? this.#read(name);
    this.#loaded.set(name, loaded);
    return loaded;
  }

  replace(name: string, document: LoadedDocument): void {
    this.#loaded.set(name, document);
  }

  #read(name: string): LoadedDocument {
    const { documents } = this.#storage;
    const row = documents.find(name);
    if (row === null)
      return {
        row,
        known: new KnownContent(),
        seq: 0,
        tailUpdates: 0,
        tailBytes: 0,
        unversioned: null,
        aged: null,
        weight: null,
      };
    const known =
      row.partBytes.length === 0
        ? new KnownContent()
        : KnownContent.decode(documents.readPart(row.id, KNOWN_PART));
    const tail = documents.listUpdates(row.id, row.foldedSeq);
    for (const { data } of tail) known.add(scanUpdate(data));
    return {
      row,
      known,
      seq: tail.at(-1)?.seq ?? row.foldedSeq,
      tailUpdates: tail.reduce((sum, { updates }) => sum + updates, 0),
      tailBytes: tail.reduce((sum, { data }) => sum + data.length, 0),
      unversioned: findUnversioned(this.#storage, row.id),
      aged: null,
      weight: null,
    };
  }

  /** Runs a transaction that changes a document, which is unloaded when it fails. */
  attempt<T>(name: string, work: () => T): T {
    try {
      return this.#storage.transaction(work);
    } catch (error) {
      this.release(name);
      throw error;
    }
  }

  release(name: string): void {
    this.#loaded.delete(name);
  }

  clear(): void {
    this.#loaded.clear();
  }
}

/** The organization's quota for the bytes of documents. */
export interface DocumentQuota {
  /** Checks the quota before the bytes change. FORBIDDEN when it is used up. */
  require(before: number, after: number): void;
  /** Counts bytes that have changed. */
  changed(before: number, after: number): void;
}

/** The bytes and the number of a room's documents, counted against the quota. */
export class DocumentSpace {
  readonly #storage: RoomStorage;
  readonly #quota: DocumentQuota;
  /** Bytes of all documents in storage; null until they are measured. */
  #bytes: number | null = null;
  #count: number | null = null;

  constructor(storage: RoomStorage, quota: DocumentQuota) {
    this.#storage = storage;
    this.#quota = quota;
  }

  get bytes(): number {
    this.#bytes ??= this.#storage.documents.bytes();
    return this.#bytes;
  }

  /** Throws CONFLICT unless an update has space, and FORBIDDEN when the quota is used up. */
  require(name: string, document: LoadedDocument, update: Uint8Array, content: UpdateContent): void {
    const bytes = update.length;
    const isFork = suggestionIn(name) !== null;
    if (isFork) this.#requireBuildable(document, update);
    if (bytesOf(document) + bytes > DOCUMENT_LIMITS.documentBytes)
      throw full(`Document ${name} is full: a document has at most ${DOCUMENT_LIMITS.documentBytes} bytes`);
    if (document.known.size + content.inserted.length + content.deleted.length > DOCUMENT_LIMITS.stretches)
      throw full(`Document ${name} is full: its operations are too scattered`);
    if (this.bytes + bytes > DOCUMENT_LIMITS.roomDocumentBytes)
      throw full(`The room's documents have ${DOCUMENT_LIMITS.roomDocumentBytes} bytes: delete one first`);
    this.#count ??= this.#storage.documents.countOrdinary();
    if (document.row === null && !isFork && this.#count >= DOCUMENT_LIMITS.documents)
      throw full(`A room has at most ${DOCUMENT_LIMITS.documents} documents: delete one first`);
    this.#quota.require(this.bytes, this.bytes + bytes);
  }

  /** A fork stays within the bound of documents that are built: it has to be, for its review. */
  #requireBuildable(document: LoadedDocument, update: Uint8Array): void {
    document.weight ??= sumOf(this.#updatesOf(document).map(weightOf));
    const isFull =
      bytesOf(document) + update.length > DOCUMENT_LIMITS.builtBytes ||
      document.weight + weightOf(update) > DOCUMENT_LIMITS.builtItems;
    if (isFull)
      throw full(
        `The suggestion is full: it and its document have at most ${DOCUMENT_LIMITS.builtBytes} bytes and ${DOCUMENT_LIMITS.builtItems} items`,
      );
  }

  #updatesOf({ row }: LoadedDocument): Uint8Array[] {
    const { documents } = this.#storage;
    if (row === null) return [];
    const parts = row.partBytes.map((_, part) => documents.readPart(row.id, part));
    return [...parts, ...documents.listUpdates(row.id, row.foldedSeq).map(({ data }) => data)];
  }

  /** `isNew` for the first update of a document that is no suggestion's fork. */
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

  reset(): void {
    this.#bytes = null;
    this.#count = null;
  }
}

const full = (why: string) => new AppError("Rooms", "CONFLICT", why);
