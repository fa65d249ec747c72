/** Keeps the state of documents that are in use: their operations, and their unfolded updates. */
import type { RoomStorage } from "../storage/storage.ts";
import type { StoredDocument } from "../storage/storage-documents.ts";
import type { Aged } from "./history/retention.ts";
import { type Unversioned, Versions } from "./history/versions.ts";
import { KnownContent } from "./updates/known-content.ts";
import { scanUpdate } from "./updates/update-reader.ts";

/** The part with a document's {@link KnownContent}. Content is in the parts from 0 on. */
export const KNOWN_PART = -1;

/** The state of one document. */
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
      unversioned: new Versions(this.#storage).unversioned(row.id),
      aged: null,
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

  /** Unloads a document that is not in use. */
  release(name: string): void {
    this.#loaded.delete(name);
  }

  /** Unloads all documents. */
  clear(): void {
    this.#loaded.clear();
  }
}
