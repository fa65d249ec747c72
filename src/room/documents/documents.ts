/** A room's documents: appends what their authors write, and answers what a client lacks, without building a document. */
import { diffUpdate, mergeUpdates } from "yjs";
import { AppError } from "../../platform/errors.ts";
import type { DocumentReports } from "../engine/outbox/document-events.ts";
import type { Author } from "../port/document-history.ts";
import type { DocumentInfo, DocumentPart } from "../port/room-documents.ts";
import type { RoomStorage } from "../storage/storage.ts";
import type { DocumentTable, StoredDocument } from "../storage/storage-documents.ts";
import { describeDocument, listDocuments, type StoredInfo } from "./document-list.ts";
import { type DocumentQuota, DocumentSpace } from "./document-space.ts";
import { foldDocument } from "./fold-document.ts";
import { Retention } from "./history/retention.ts";
import { isVersionDue, Versions } from "./history/versions.ts";
import { bytesOf, type LoadedDocument, LoadedDocuments } from "./loaded-documents.ts";
import { FOLD_BYTES, FOLD_UPDATES, MAX_UPDATE_BYTES, ONE_PIECE_BYTES } from "./updates/limits.ts";
import { isServerClient } from "./updates/server-clients.ts";
import { scanUpdate, type UpdateContent } from "./updates/update-scan.ts";

/** An update without content, as Yjs encodes it. */
const EMPTY_UPDATE = new Uint8Array([0, 0]);
/** The state vector of a client that has nothing. */
export const NOTHING_KNOWN = new Uint8Array([0]);

interface DocumentPorts {
  readonly storage: RoomStorage;
  now(): number;
  readonly quota: DocumentQuota;
  readonly events: DocumentReports;
  /** For how long the trail and the versions without a name are kept, in milliseconds. */
  readonly trailKeptMs: number;
}

export class Documents {
  readonly #storage: RoomStorage;
  readonly #now: () => number;
  readonly #loaded: LoadedDocuments;
  readonly #space: DocumentSpace;
  readonly #versions: Versions;
  readonly #retention: Retention;
  readonly #events: DocumentReports;
  /** Documents of which an update was refused for want of space since they were folded: that may make some. */
  readonly #crowded = new Set<string>();

  constructor(ports: DocumentPorts) {
    this.#storage = ports.storage;
    this.#now = () => ports.now();
    this.#loaded = new LoadedDocuments(ports.storage);
    this.#versions = new Versions(ports.storage);
    this.#retention = new Retention(ports);
    this.#events = ports.events;
    this.#space = new DocumentSpace(() => this.#table, ports.quota);
  }

  get #table(): DocumentTable {
    return this.#storage.documents;
  }

  /**
   * Stores what an update has beyond the document, as its author's, and returns that; null if there is nothing. Creates
   * the document, and makes a version of it as it was if one is due or, with `keepsVersion`, unless there is one. VALIDATION_ERROR for bytes that are no update, CONFLICT when the document or the room is full.
   */
  append(name: string, update: Uint8Array, author: Author, keepsVersion = false): Uint8Array | null {
    if (update.length > MAX_UPDATE_BYTES) throw tooLong();
    const content = scanUpdate(update);
    const document = this.#loaded.get(name);
    if (document.known.covers(content)) return null;
    const data = document.known.newsOf(update, content);
    this.#requireSpace(name, document, data.length, content);
    const [at, seq] = [this.#now(), document.seq + 1];
    const isNew = document.row === null;
    const versionIsDue =
      document.unversioned !== null && (keepsVersion || isVersionDue(document.unversioned, at));
    document.row = this.#loaded.attempt(name, () => {
      const row = document.row ?? this.#table.insert(name, at);
      if (versionIsDue) {
        this.#versions.make(row.id, document.seq, at);
        this.#events.versionCreated(name, document.seq, null);
      }
      if (isNew) this.#events.created(name);
      else this.#events.updated(name, seq);
      this.#table.appendUpdate(row.id, { seq, updates: 1, firstAt: at, at, authors: [author], data });
      return row;
    });
    const firstAt = versionIsDue ? at : (document.unversioned?.firstAt ?? at);
    document.unversioned = { firstAt, at };
    document.known.add(content);
    document.seq = seq;
    document.tailUpdates += 1;
    document.tailBytes += data.length;
    this.#space.added(data.length, isNew);
    return data;
  }

  #requireSpace(name: string, document: LoadedDocument, bytes: number, content: UpdateContent): void {
    try {
      this.#space.require(name, document, bytes, content);
    } catch (error) {
      if (document.row !== null) this.#crowded.add(name);
      throw error;
    }
  }

  /** Whether the document has all of an update. VALIDATION_ERROR for bytes that are no update. */
  covers(name: string, update: Uint8Array): boolean {
    return this.#loaded.get(name).known.covers(scanUpdate(update));
  }

  /** Whether an update after the one with this number has edits that the service itself made. */
  isEditedByServer(name: string, afterSeq: number): boolean {
    const row = this.#table.find(name);
    const updates = row === null ? [] : this.#table.listUpdates(row.id, afterSeq);
    return updates.some(({ data }) => scanUpdate(data).inserted.some(({ client }) => isServerClient(client)));
  }

  /** The same unless the document has content. */
  seed(name: string, update: Uint8Array, author: Author): Uint8Array | null {
    return this.#loaded.get(name).known.isEmpty ? this.append(name, update, author) : null;
  }

  /** What all of them have in storage, with their history. */
  get bytes(): number {
    return this.#space.bytes;
  }

  /** Drops what memory knows of a document, which no one uses any more. */
  release(name: string): void {
    this.#loaded.release(name);
  }

  /** How far a document is known, as a state vector: clients send what is missing. */
  stateVector(name: string): Uint8Array {
    return this.#loaded.get(name).known.encodeStateVector();
  }

  /** In how many parts a client is sent a document: a small one in one, a large one as it is stored, with the rest as the last. */
  partCount(name: string): number {
    const document = this.#loaded.get(name);
    return bytesOf(document) <= ONE_PIECE_BYTES ? 1 : (document.row?.partBytes.length ?? 0) + 1;
  }

  /** What a client with this state vector lacks of a part, as an update, which may be empty. Parts are applied in their order. */
  missingPart(name: string, stateVector: Uint8Array, index: number): Uint8Array {
    const { row } = this.#loaded.get(name);
    if (row === null) return EMPTY_UPDATE;
    const count = this.partCount(name);
    const stored = [...row.partBytes.keys()].filter((part) => count === 1 || part === index);
    const updates = stored.map((part) => this.#table.readPart(row.id, part));
    return reduce(index === count - 1 ? [...updates, ...this.#tail(row)] : updates, stateVector);
  }

  /** How many bytes have to be merged or compared for what a client with this state vector lacks. */
  bytesToMerge(name: string, stateVector: Uint8Array): number {
    const document = this.#loaded.get(name);
    const bytes = bytesOf(document);
    return bytes <= ONE_PIECE_BYTES || !isNothing(stateVector) ? bytes : document.tailBytes;
  }

  /** What a state vector says of clients that have written into the document: it can name millions of others. */
  narrow(name: string, stateVector: Uint8Array): Uint8Array {
    return this.#loaded.get(name).known.narrow(stateVector);
  }

  #tail({ id, foldedSeq }: StoredDocument): Uint8Array[] {
    return this.#table.listUpdates(id, foldedSeq).map(({ data }) => data);
  }

  /** A part of what a client lacks that has nothing, for callers that ask for one at a time; null when there is none. */
  part(name: string, index: number): DocumentPart | null {
    const { row } = this.#loaded.get(name);
    if (row === null) return null;
    const version = `${row.id} ${row.foldedSeq}`;
    const isPart = index < this.partCount(name);
    return { update: isPart ? this.missingPart(name, NOTHING_KNOWN, index) : null, version };
  }

  /** By name. */
  list(): DocumentInfo[] {
    return listDocuments(this.#table);
  }

  /** One of them, with what it has of history; null if there is none. */
  describe(name: string): StoredInfo | null {
    return describeDocument(this.#storage, name);
  }

  /** Deletes a document with its history; false if there is none. */
  delete(name: string): boolean {
    const row = this.#table.find(name);
    if (row === null) return false;
    this.#space.remeasure(() => {
      this.#storage.transaction(() => {
        this.#table.delete(row.id);
        this.#storage.versions.deleteAll(row.id);
        this.#events.deleted(name);
      });
      this.#loaded.clear();
    });
    return true;
  }

  /** Discards what memory knows of storage, which has been cleared. */
  reset(): void {
    this.#loaded.clear();
    this.#crowded.clear();
    this.#space.reset();
  }

  /** Whether a document's updates should be folded. */
  isFoldDue(name: string): boolean {
    const { tailUpdates, tailBytes } = this.#loaded.get(name);
    return tailUpdates >= FOLD_UPDATES || tailBytes >= FOLD_BYTES || this.#crowded.has(name);
  }

  /**
   * Folds a document's updates, and what is too old of its history; what clients are answered stays the same. Returns
   * the number of the first part that has changed.
   */
  fold(name: string): number {
    this.#crowded.delete(name);
    return this.#space.remeasure(() => foldDocument(name, this.#loaded, this.#storage, this.#retention));
  }
}

const tooLong = () =>
  new AppError("Rooms", "VALIDATION_ERROR", `update: must have at most ${MAX_UPDATE_BYTES} bytes`);

/** The updates as one, without what the state vector covers. */
function reduce(updates: readonly Uint8Array[], stateVector: Uint8Array): Uint8Array {
  const merged = updates.length === 0 ? EMPTY_UPDATE : mergeUpdates([...updates]);
  return isNothing(stateVector) ? merged : diffUpdate(merged, stateVector);
}

const isNothing = (stateVector: Uint8Array): boolean => stateVector.length <= NOTHING_KNOWN.length;
