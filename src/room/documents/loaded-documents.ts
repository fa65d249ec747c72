/** What is in memory of the documents that are in use: which content each has, and how much of it is not folded yet. */
import type { RoomStorage } from "../storage/storage.ts";
import type { StoredDocument } from "../storage/storage-documents.ts";
import type { Aged } from "./history/retention.ts";
import { type Unversioned, Versions } from "./history/versions.ts";
import { KnownContent } from "./updates/known-content.ts";
import { scanUpdate } from "./updates/update-scan.ts";

/** The part that holds a document's {@link KnownContent}; its content is in the parts from 0 on. */
export const KNOWN_PART = -1;

/** What memory knows of one document. */
export interface LoadedDocument {
  /** Null until its first update. */
  row: StoredDocument | null;
  readonly known: KnownContent;
  /** Of the latest update. */
  seq: number;
  /** The updates that are not folded. */
  tailUpdates: number;
  tailBytes: number;
  /** What it has beyond its latest version. */
  unversioned: Unversioned;
  /** Null when it is not known how far its old history is joined. */
  readonly aged: Aged | null;
}

/** Encoded, without its history. */
export const bytesOf = ({ row, tailBytes }: LoadedDocument): number =>
  sumOf(row?.partBytes ?? []) + tailBytes;

export const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

export class LoadedDocuments {
  readonly #storage: RoomStorage;
  readonly #loaded = new Map<string, LoadedDocument>();

  constructor(storage: RoomStorage) {
    this.#storage = storage;
  }

  /** The document of this name, which need not exist. */
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

  /** Runs a transaction that changes a document. When it fails, memory knows nothing of the document any more. */
  attempt<T>(name: string, work: () => T): T {
    try {
      return this.#storage.transaction(work);
    } catch (error) {
      this.release(name);
      throw error;
    }
  }

  /** Drops a document, which no one uses any more. */
  release(name: string): void {
    this.#loaded.delete(name);
  }

  /** Drops all of them. */
  clear(): void {
    this.#loaded.clear();
  }
}
