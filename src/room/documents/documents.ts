/** Appends updates to a room's documents, and reads them for clients, without building a document. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import { AppError } from "@atrium/contract/errors.ts";
import { refusalOf, type Subject } from "@atrium/contract/resources/permissions.ts";
import { suggestionIn } from "@atrium/contract/suggestion-limits.ts";
import { diffUpdate, mergeUpdates } from "yjs";
import type { DocumentReports } from "../engine/outbox/delayed-events.ts";
import type { DocumentTail, StoredDocument } from "../storage/sqlite-documents.ts";
import type { RoomStorage } from "../storage/storage.ts";
import {
  type Author,
  type DocumentDetails,
  type DocumentInfo,
  type DocumentPart,
  distinctAuthors,
  isSameAuthor,
} from "../types/documents.ts";
import { foldDocument } from "./folding.ts";
import { isVersionDue, makeVersion } from "./history/versions.ts";
import {
  bytesOf,
  type DocumentQuota,
  DocumentSpace,
  type LoadedDocument,
  LoadedDocuments,
  sumOf,
} from "./loaded-documents.ts";
import { isServerClient, weightOf } from "./updates/built-document.ts";
import { scanUpdate, type UpdateContent } from "./updates/update-reader.ts";

const EMPTY_UPDATE = new Uint8Array([0, 0]);
/** The state vector of a client that has nothing. */
const NOTHING_KNOWN = new Uint8Array([0]);

type StoredInfo = Omit<DocumentDetails, "userIds">;

interface DocumentPorts {
  readonly storage: RoomStorage;
  now(): number;
  readonly quota: DocumentQuota;
  readonly events: DocumentReports;
  /** Milliseconds for which edit history and unnamed versions are kept. */
  readonly trailKeptMs: number;
}

/** The circumstances of an update. */
interface Appended {
  /** Makes a version of the document before it. */
  readonly keepsVersion?: boolean | undefined;
  /** Has accepted the update; absent for its author. */
  readonly reviewer?: Author;
}

export class RoomDocuments {
  readonly #storage: RoomStorage;
  readonly #now: () => number;
  readonly #loaded: LoadedDocuments;
  readonly #space: DocumentSpace;
  readonly #trailKeptMs: number;
  readonly #events: DocumentReports;
  /** Writes and deletions so far. */
  #writes = 0;
  /** Documents that refused an update for want of space; folding may make some. */
  readonly #crowded = new Set<string>();

  constructor(ports: DocumentPorts) {
    this.#storage = ports.storage;
    this.#now = () => ports.now();
    this.#loaded = new LoadedDocuments(ports.storage);
    this.#trailKeptMs = ports.trailKeptMs;
    this.#events = ports.events;
    this.#space = new DocumentSpace(ports.storage, ports.quota);
  }

  get #table(): RoomStorage["documents"] {
    return this.#storage.documents;
  }

  /** Stores and returns the news of an update; null for none. VALIDATION_ERROR, CONFLICT. */
  append(
    name: string,
    update: Uint8Array,
    author: Author,
    { keepsVersion = false, reviewer = author }: Appended = {},
  ): Uint8Array | null {
    if (update.length > DOCUMENT_LIMITS.updateBytes) throw tooLong();
    const content = scanUpdate(update);
    const document = this.#loaded.get(name);
    if (document.known.covers(content)) return null;
    const data = document.known.newsOf(update, content);
    this.#requireSpace(name, document, data, content);
    const at = this.#now();
    const seq = Math.max(document.seq, this.restoredSeq) + 1;
    const isNew = document.row === null;
    this.#writes += 1;
    const versionIsDue =
      document.unversioned !== null && (keepsVersion || isVersionDue(document.unversioned, at));
    document.row = this.#loaded.attempt(name, () => {
      const row = document.row ?? this.#table.insert(name, at);
      if (versionIsDue) {
        makeVersion(this.#storage, row.id, document.seq, at);
        this.#events.versionCreated(name, document.seq, null);
      }
      if (isNew) this.#events.created(name);
      else this.#events.updated(name, seq);
      const authors = distinctAuthors([author, reviewer]);
      this.#table.appendUpdate(row.id, { seq, updates: 1, firstAt: at, at, authors, data });
      return row;
    });
    const firstAt = versionIsDue ? at : (document.unversioned?.firstAt ?? at);
    document.unversioned = { firstAt, at };
    document.known.add(content);
    document.seq = seq;
    document.tailUpdates += 1;
    document.tailBytes += data.length;
    if (document.weight !== null) document.weight += weightOf(data);
    this.#space.added(data.length, isNew && suggestionIn(name) === null);
    return data;
  }

  #requireSpace(name: string, document: LoadedDocument, update: Uint8Array, content: UpdateContent): void {
    try {
      this.#space.require(name, document, update, content);
    } catch (error) {
      if (document.row !== null) this.#crowded.add(name);
      throw error;
    }
  }

  covers(name: string, update: Uint8Array): boolean {
    return this.#loaded.get(name).known.covers(scanUpdate(update));
  }

  /** Tells whether the service itself has edited the document after this update. */
  isEditedByServer(name: string, afterSeq: number): boolean {
    const updates = this.updatesAfter(name, afterSeq);
    return updates.some((data) => scanUpdate(data).inserted.some(({ client }) => isServerClient(client)));
  }

  /** The number of the latest update; 0 for a document that does not exist. */
  seqOf(name: string): number {
    return this.#loaded.get(name).seq;
  }

  /** Another one after the room was restored: clients may have operations that it lost. */
  get restoredSeq(): number {
    return this.#storage.changes.restoredSeq();
  }

  /** Whether an update's clients go on where they end in the document: others have none of their operations. */
  goesOn(name: string, update: Uint8Array): boolean {
    const { inserted } = this.#loaded.get(name).known;
    return scanUpdate(update).inserted.every(({ client, start, end }) => {
      const [known, next] = [inserted.at(client, 0), inserted.at(client, start)];
      return start === (known.value === true ? known.end : 0) && next.value === undefined && next.end >= end;
    });
  }

  /** The updates after one, also those before it that are one entry of the history with it. */
  updatesAfter(name: string, seq: number): Uint8Array[] {
    const row = this.#table.find(name);
    return row === null ? [] : this.#table.listUpdates(row.id, seq).map(({ data }) => data);
  }

  seed(name: string, update: Uint8Array, author: Author): Uint8Array | null {
    return this.#loaded.get(name).known.size === 0 ? this.append(name, update, author) : null;
  }

  get bytes(): number {
    return this.#space.bytes;
  }

  release(name: string): void {
    this.#loaded.release(name);
  }

  /** The state vector of a document, with which clients find missing updates. */
  stateVector(name: string): Uint8Array {
    return this.#loaded.get(name).known.inserted.encodeStateVector();
  }

  /** The number of parts that a client receives: 1 for a small document, or the stored parts and the unfolded updates. */
  partCount(name: string): number {
    const document = this.#loaded.get(name);
    return bytesOf(document) <= DOCUMENT_LIMITS.onePieceBytes ? 1 : (document.row?.partBytes.length ?? 0) + 1;
  }

  /** The operations of a part beyond a state vector, as an update, which may be empty. Parts are applied in order. */
  missingPart(name: string, stateVector: Uint8Array, index: number): Uint8Array {
    const { row } = this.#loaded.get(name);
    if (row === null) return EMPTY_UPDATE;
    const count = this.partCount(name);
    const stored = [...row.partBytes.keys()].filter((part) => count === 1 || part === index);
    const updates = stored.map((part) => this.#table.readPart(row.id, part));
    return reduce(index === count - 1 ? [...updates, ...this.#tail(row)] : updates, stateVector);
  }

  /** Bytes to merge for a client with this state vector. */
  bytesToMerge(name: string, stateVector: Uint8Array): number {
    const document = this.#loaded.get(name);
    const bytes = bytesOf(document);
    return bytes <= DOCUMENT_LIMITS.onePieceBytes || !isNothing(stateVector) ? bytes : document.tailBytes;
  }

  /** Drops clients from a state vector that never wrote to the document: it may name millions. */
  narrow(name: string, stateVector: Uint8Array): Uint8Array {
    return this.#loaded.get(name).known.inserted.narrow(stateVector);
  }

  #tail({ id, foldedSeq }: StoredDocument): Uint8Array[] {
    return this.#table.listUpdates(id, foldedSeq).map(({ data }) => data);
  }

  /** One part for a client that has nothing; null when there is no document. */
  part(name: string, index: number): DocumentPart | null {
    const { row } = this.#loaded.get(name);
    if (row === null) return null;
    const version = `${row.id} ${row.foldedSeq}`;
    const isPart = index < this.partCount(name);
    return { update: isPart ? this.missingPart(name, NOTHING_KNOWN, index) : null, version };
  }

  /** Lists all documents but the forks of suggestions. */
  list(): DocumentInfo[] {
    const tails = new Map(this.#table.tails().map((tail) => [tail.documentId, tail]));
    return this.#table.listOrdinary().map((row) => infoOf(this.#table, row, tails.get(row.id)));
  }

  /** Describes a document with its history; null if there is none. */
  describe(name: string): StoredInfo | null {
    const row = this.#table.find(name);
    if (row === null) return null;
    const info = infoOf(this.#table, row, this.#table.findTail(row.id));
    const versions = this.#storage.versions.count(row.id);
    return { ...info, id: row.id, versions, storedBytes: info.bytes + row.trailBytes };
  }

  /** Deletes the documents of these names, with their history. */
  delete(...names: string[]): void {
    this.#space.remeasure(() => {
      this.#storage.transaction(() => {
        for (const name of names) this.#delete(name);
      });
      for (const name of names) this.#loaded.release(name);
    });
  }

  #delete(name: string): void {
    const row = this.#table.find(name);
    if (row === null) return;
    this.#writes += 1;
    this.#table.delete(row.id);
    this.#storage.versions.deleteAll(row.id);
    this.#events.deleted(name);
  }

  /**
   * The refusal to write into a document of this name; null for an author who may. Over every wire, REST and in the room
   * itself: those who may write documents, and into the fork of a pending suggestion its author alone.
   */
  writeRefusal(name: string, author: Author | null, subject: Subject): AppError | null {
    const id = suggestionIn(name);
    if (id === null) return refusalOf("documents:write", subject, "Rooms");
    const suggestion = this.#storage.suggestions.find(id);
    if (suggestion?.status !== "pending")
      return new AppError("Rooms", "CONFLICT", "The suggestion was reviewed or withdrawn");
    if (author === null || !isSameAuthor(suggestion.author, author))
      return new AppError("Rooms", "FORBIDDEN", "Only its author writes into a suggestion");
    return refusalOf("documents:suggest", subject, "Rooms");
  }

  /** Runs a change in transactions of the caller. If it fails after a write, all documents are loaded anew. */
  undoable<T>(change: () => T): T {
    const before = this.#writes;
    try {
      return change();
    } catch (error) {
      if (this.#writes > before) this.#unload();
      throw error;
    }
  }

  #unload(): void {
    this.#loaded.clear();
    this.#space.reset();
  }

  /** Unloads everything after storage was cleared. */
  reset(): void {
    this.#unload();
    this.#crowded.clear();
  }

  isFoldDue(name: string): boolean {
    const { tailUpdates, tailBytes } = this.#loaded.get(name);
    return (
      tailUpdates >= DOCUMENT_LIMITS.foldUpdates ||
      tailBytes >= DOCUMENT_LIMITS.foldBytes ||
      this.#crowded.has(name)
    );
  }

  /** Folds the updates and ages the history of a document. Returns the number of the first part that has changed. */
  fold(name: string): number {
    this.#crowded.delete(name);
    const keptFrom = this.#now() - this.#trailKeptMs;
    return this.#space.remeasure(() => foldDocument(name, this.#loaded, this.#storage, keptFrom));
  }
}

const tooLong = () =>
  new AppError("Rooms", "VALIDATION_ERROR", `update: must have at most ${DOCUMENT_LIMITS.updateBytes} bytes`);

/** Merges updates, without operations that the state vector covers. */
function reduce(updates: readonly Uint8Array[], stateVector: Uint8Array): Uint8Array {
  const merged = updates.length === 0 ? EMPTY_UPDATE : mergeUpdates([...updates]);
  return isNothing(stateVector) ? merged : diffUpdate(merged, stateVector);
}

const isNothing = (stateVector: Uint8Array): boolean => stateVector.length <= NOTHING_KNOWN.length;

const infoOf = (
  table: RoomStorage["documents"],
  row: StoredDocument,
  tail: DocumentTail | null | undefined,
): DocumentInfo => ({
  name: row.name,
  bytes: sumOf(row.partBytes) + (tail?.bytes ?? 0),
  seq: tail?.seq ?? row.foldedSeq,
  createdAt: row.createdAt,
  updatedAt: tail?.at ?? table.findTimes(row.id, row.foldedSeq - 1)?.at ?? row.createdAt,
});
