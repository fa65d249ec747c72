/** A room's documents: appends what their authors write, and answers what a client lacks, without building a document. */
import { diffUpdate, mergeUpdates } from "yjs";
import { AppError } from "../../platform/errors.ts";
import type { DocumentInfo, DocumentPart } from "../port/room-documents.ts";
import type { RoomStorage } from "../storage/storage.ts";
import type { DocumentTable, StoredDocument } from "../storage/storage-documents.ts";
import { planFold } from "./fold.ts";
import { KnownContent } from "./known-content.ts";
import {
  FOLD_BYTES,
  FOLD_UPDATES,
  MAX_DOCUMENT_BYTES,
  MAX_DOCUMENTS,
  MAX_ROOM_DOCUMENT_BYTES,
  MAX_STRETCHES,
  MAX_UPDATE_BYTES,
  ONE_PIECE_BYTES,
} from "./limits.ts";
import { scanUpdate } from "./update-scan.ts";

/** The part that holds a document's {@link KnownContent}; its content is in the parts from 0 on. */
const KNOWN_PART = -1;

/** An update without content, as Yjs encodes it. */
const EMPTY_UPDATE = new Uint8Array([0, 0]);
/** The state vector of a client that has nothing. */
export const NOTHING_KNOWN = new Uint8Array([0]);

/** What is in memory of a document that is in use. */
interface Loaded {
  row: StoredDocument | null;
  readonly known: KnownContent;
  seq: number;
  tailUpdates: number;
  tailBytes: number;
}

interface DocumentPorts {
  readonly storage: RoomStorage;
  now(): number;
}

export class Documents {
  readonly #storage: RoomStorage;
  readonly #now: () => number;
  readonly #loaded = new Map<string, Loaded>();
  /** What all of them have in storage, once it is known. */
  #roomBytes: number | null = null;
  #count: number | null = null;

  constructor(ports: DocumentPorts) {
    this.#storage = ports.storage;
    this.#now = () => ports.now();
  }

  get #table(): DocumentTable {
    return this.#storage.documents;
  }

  /**
   * Stores an update as its author's, unless the document has all of it already; returns whether it was news. Creates
   * the document. VALIDATION_ERROR for bytes that are no update, CONFLICT when the document or the room is full.
   */
  append(name: string, update: Uint8Array, userId: string | null): boolean {
    if (update.length > MAX_UPDATE_BYTES) throw tooLong();
    const content = scanUpdate(update);
    const document = this.#load(name);
    if (document.known.covers(content)) return false;
    this.#requireSpace(name, document, update.length, content.inserted.length + content.deleted.length);
    const [at, seq] = [this.#now(), document.seq + 1];
    const isNew = document.row === null;
    document.row = this.#attempt(name, () => {
      const row = document.row ?? this.#table.insert(name, at);
      this.#table.appendUpdate(row.id, { seq, updates: 1, firstAt: at, at, userId, data: update });
      return row;
    });
    document.known.add(content);
    document.seq = seq;
    document.tailUpdates += 1;
    document.tailBytes += update.length;
    if (this.#roomBytes !== null) this.#roomBytes += update.length;
    if (this.#count !== null && isNew) this.#count += 1;
    return true;
  }

  /** Whether the document has all of an update. VALIDATION_ERROR for bytes that are no update. */
  covers(name: string, update: Uint8Array): boolean {
    return this.#load(name).known.covers(scanUpdate(update));
  }

  /** Applies an update unless the document has content; returns whether it was applied. Fails as {@link append} does. */
  seed(name: string, update: Uint8Array, userId: string | null): boolean {
    return this.#load(name).known.isEmpty && this.append(name, update, userId);
  }

  #requireSpace(name: string, document: Loaded, bytes: number, stretches: number): void {
    if (bytesOf(document) + bytes > MAX_DOCUMENT_BYTES)
      throw full(`Document ${name} is full: a document has at most ${MAX_DOCUMENT_BYTES} bytes`);
    if (document.known.size + stretches > MAX_STRETCHES)
      throw full(`Document ${name} is full: its operations are too scattered`);
    this.#roomBytes ??= this.#measure();
    if (this.#roomBytes + bytes > MAX_ROOM_DOCUMENT_BYTES)
      throw full(`The room's documents have ${MAX_ROOM_DOCUMENT_BYTES} bytes: delete one first`);
    this.#count ??= this.#table.list().length;
    if (document.row === null && this.#count >= MAX_DOCUMENTS)
      throw full(`A room has at most ${MAX_DOCUMENTS} documents: delete one first`);
  }

  /** What all documents of the room have in storage, with their history. */
  #measure(): number {
    const folded = this.#table.list().reduce((sum, row) => sum + sumOf(row.partBytes) + row.trailBytes, 0);
    return folded + this.#table.tails().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Runs a transaction. When it fails, memory knows nothing of the document any more. */
  #attempt<T>(name: string, work: () => T): T {
    try {
      return this.#storage.transaction(work);
    } catch (error) {
      this.release(name);
      throw error;
    }
  }

  #load(name: string): Loaded {
    const loaded = this.#loaded.get(name) ?? this.#read(name);
    this.#loaded.set(name, loaded);
    return loaded;
  }

  #read(name: string): Loaded {
    const row = this.#table.find(name);
    if (row === null) return { row, known: new KnownContent(), seq: 0, tailUpdates: 0, tailBytes: 0 };
    const known =
      row.partBytes.length === 0
        ? new KnownContent()
        : KnownContent.decode(this.#table.readPart(row.id, KNOWN_PART));
    const tail = this.#table.listUpdates(row.id, row.foldedSeq);
    for (const { data } of tail) known.add(scanUpdate(data));
    return {
      row,
      known,
      seq: tail.at(-1)?.seq ?? row.foldedSeq,
      tailUpdates: tail.reduce((sum, { updates }) => sum + updates, 0),
      tailBytes: tail.reduce((sum, { data }) => sum + data.length, 0),
    };
  }

  /** Drops what memory knows of a document, which no one uses any more. */
  release(name: string): void {
    this.#loaded.delete(name);
  }

  /** How far a document is known, as a state vector: clients send what is missing. */
  stateVector(name: string): Uint8Array {
    return this.#load(name).known.encodeStateVector();
  }

  /**
   * What a client with this state vector lacks, as updates to apply in their order; at least one, which may be empty.
   * A small document is one update, a large one the parts that it is stored in: no more than one is in memory.
   */
  *missing(name: string, stateVector: Uint8Array): Generator<Uint8Array> {
    const { row, tailBytes } = this.#load(name);
    if (row === null) {
      yield EMPTY_UPDATE;
      return;
    }
    if (sumOf(row.partBytes) + tailBytes <= ONE_PIECE_BYTES) {
      const parts = row.partBytes.map((_, part) => this.#table.readPart(row.id, part));
      yield reduce([...parts, ...this.#tail(row)], stateVector);
      return;
    }
    for (const part of row.partBytes.keys()) yield reduce([this.#table.readPart(row.id, part)], stateVector);
    yield reduce(this.#tail(row), stateVector);
  }

  #tail({ id, foldedSeq }: StoredDocument): Uint8Array[] {
    return this.#table.listUpdates(id, foldedSeq).map(({ data }) => data);
  }

  /** A part of what a client lacks that has nothing, for callers that ask for one at a time; null when there is none. */
  part(name: string, index: number): DocumentPart | null {
    const { row } = this.#load(name);
    if (row === null) return null;
    const version = `${row.id} ${row.foldedSeq}`;
    let position = 0;
    for (const update of this.missing(name, NOTHING_KNOWN)) {
      if (position === index) return { update, version };
      position += 1;
    }
    return { update: null, version };
  }

  /** By name. */
  list(): DocumentInfo[] {
    const tails = new Map(this.#table.tails().map((tail) => [tail.documentId, tail]));
    return this.#table.list().map((row) => {
      const tail = tails.get(row.id);
      return {
        name: row.name,
        bytes: sumOf(row.partBytes) + (tail?.bytes ?? 0),
        seq: tail?.seq ?? row.foldedSeq,
        createdAt: row.createdAt,
        updatedAt: tail?.at ?? this.#lastChange(row),
      };
    });
  }

  #lastChange({ id, createdAt, foldedSeq }: StoredDocument): number {
    return this.#table.listUpdates(id, foldedSeq - 1).at(-1)?.at ?? createdAt;
  }

  /** Deletes a document with its history; false if there is none. */
  delete(name: string): boolean {
    const row = this.#table.find(name);
    if (row === null) return false;
    this.#storage.transaction(() => this.#table.delete(row.id));
    this.reset();
    return true;
  }

  /** Discards what memory knows of storage, which has been cleared. */
  reset(): void {
    this.#loaded.clear();
    this.#roomBytes = null;
    this.#count = null;
  }

  /** Whether a document's updates should be folded. */
  isFoldDue(name: string): boolean {
    const { tailUpdates, tailBytes } = this.#load(name);
    return tailUpdates >= FOLD_UPDATES || tailBytes >= FOLD_BYTES;
  }

  /**
   * Folds a document's updates into its parts, and what its authors wrote into stretches of time, in one transaction.
   * What clients are answered stays the same.
   */
  fold(name: string): void {
    const { row, known, seq } = this.#load(name);
    if (row === null) return;
    const updates = this.#table.listUpdates(row.id, row.foldedSeq);
    const [first] = updates;
    if (first === undefined) return;
    const plan = planFold(row.partBytes, updates, (part) => this.#table.readPart(row.id, part));
    const folded: StoredDocument = {
      ...row,
      foldedSeq: seq,
      partBytes: [...row.partBytes.slice(0, plan.kept), ...plan.parts.map(({ length }) => length)],
      trailBytes: row.trailBytes + sumOf(plan.trail.map(({ data }) => data.length)),
    };
    this.#attempt(name, () => {
      for (let part = plan.kept; part < row.partBytes.length; part += 1) this.#table.deletePart(row.id, part);
      for (const [index, data] of plan.parts.entries())
        this.#table.writePart(row.id, plan.kept + index, data);
      this.#table.writePart(row.id, KNOWN_PART, known.encode());
      if (plan.trail.length < updates.length) {
        this.#table.deleteUpdates(row.id, first.seq, seq);
        for (const update of plan.trail) this.#table.appendUpdate(row.id, update);
      }
      this.#table.update(folded);
    });
    this.#loaded.set(name, { row: folded, known, seq, tailUpdates: 0, tailBytes: 0 });
    this.#roomBytes = null;
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

const bytesOf = ({ row, tailBytes }: Loaded): number => sumOf(row?.partBytes ?? []) + tailBytes;

const full = (why: string) => new AppError("Rooms", "CONFLICT", why);

const tooLong = () =>
  new AppError("Rooms", "VALIDATION_ERROR", `update: must have at most ${MAX_UPDATE_BYTES} bytes`);

/** The updates as one, without what the state vector covers. */
function reduce(updates: readonly Uint8Array[], stateVector: Uint8Array): Uint8Array {
  const merged = updates.length === 0 ? EMPTY_UPDATE : mergeUpdates([...updates]);
  return stateVector.length <= 1 ? merged : diffUpdate(merged, stateVector);
}
