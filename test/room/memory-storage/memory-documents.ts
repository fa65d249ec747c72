/** A room's documents in memory. */

import { distinctAuthors } from "../../../src/room/storage/authors.ts";
import type {
  DocumentTable,
  DocumentTail,
  StoredDocument,
  StoredUpdate,
  StretchRange,
} from "../../../src/room/storage/storage-documents.ts";
import type { Author, HistoryPage, TrailEntry } from "../../../src/room/types/documents.ts";
import { MemoryPart } from "./memory-part.ts";

interface Documents {
  readonly lastId: number;
  readonly rows: readonly StoredDocument[];
  readonly updates: readonly (StoredUpdate & { readonly documentId: number })[];
  readonly parts: ReadonlyMap<string, Uint8Array>;
}

const keyOf = (documentId: number, part: number): string => `${documentId} ${part}`;

const entryOf = ({ data, ...entry }: StoredUpdate): TrailEntry => ({ ...entry, bytes: data.length });

export class MemoryDocuments extends MemoryPart<Documents> implements DocumentTable {
  constructor() {
    super({ lastId: 0, rows: [], updates: [], parts: new Map() });
  }

  find(name: string): StoredDocument | null {
    return this.state.rows.find((row) => row.name === name) ?? null;
  }

  list(): StoredDocument[] {
    return [...this.state.rows].sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  insert(name: string, createdAt: number): StoredDocument {
    if (this.find(name) !== null) throw new Error(`Document ${name} exists already`);
    const id = this.state.lastId + 1;
    const row: StoredDocument = { id, name, createdAt, foldedSeq: 0, partBytes: [], trailBytes: 0 };
    this.state = { ...this.state, lastId: id, rows: [...this.state.rows, row] };
    return row;
  }

  update(document: StoredDocument): void {
    const rows = this.state.rows.map((row) => (row.id === document.id ? document : row));
    this.state = { ...this.state, rows };
  }

  delete(id: number): void {
    const { rows, updates, parts } = this.state;
    this.state = {
      ...this.state,
      rows: rows.filter((row) => row.id !== id),
      updates: updates.filter(({ documentId }) => documentId !== id),
      parts: new Map([...parts].filter(([key]) => !key.startsWith(`${id} `))),
    };
  }

  appendUpdate(documentId: number, update: StoredUpdate): void {
    const updates = [...this.state.updates, { ...update, documentId }].sort(
      (one, other) => one.seq - other.seq,
    );
    this.state = { ...this.state, updates };
  }

  listUpdates(id: number, afterSeq: number, upToSeq = Number.MAX_SAFE_INTEGER): StoredUpdate[] {
    return this.state.updates
      .filter(({ documentId, seq }) => documentId === id && seq > afterSeq && seq <= upToSeq)
      .map(({ documentId: _, ...update }) => update);
  }

  deleteUpdates(id: number, fromSeq: number, toSeq: number): void {
    const isKept = ({ documentId, seq }: Documents["updates"][number]) =>
      documentId !== id || seq < fromSeq || seq > toSeq;
    this.state = { ...this.state, updates: this.state.updates.filter(isKept) };
  }

  listTrail(documentId: number, { before, limit }: HistoryPage): TrailEntry[] {
    return this.listUpdates(documentId, 0, before - 1)
      .slice(-limit)
      .reverse()
      .map(entryOf);
  }

  listStretches(documentId: number, { after, upTo, limit }: StretchRange): TrailEntry[] {
    return this.listUpdates(documentId, after, upTo).slice(0, limit).map(entryOf);
  }

  listAuthors(documentId: number, afterSeq: number, upToSeq: number): Author[] {
    return distinctAuthors(this.listUpdates(documentId, afterSeq, upToSeq).flatMap(({ authors }) => authors));
  }

  findTimes(documentId: number, afterSeq: number) {
    const [first, ...others] = this.listUpdates(documentId, afterSeq);
    return first === undefined ? null : { firstAt: first.firstAt, at: (others.at(-1) ?? first).at };
  }

  lastSeq(documentId: number): number {
    return this.listUpdates(documentId, 0).at(-1)?.seq ?? 0;
  }

  tails(id?: number): DocumentTail[] {
    return this.state.rows.flatMap((row) => {
      const updates = this.listUpdates(row.id, row.foldedSeq);
      const last = updates.at(-1);
      if (last === undefined || (id !== undefined && id !== row.id)) return [];
      const bytes = updates.reduce((sum, { data }) => sum + data.length, 0);
      return { documentId: row.id, updates: updates.length, bytes, seq: last.seq, at: last.at };
    });
  }

  readPart(documentId: number, part: number): Uint8Array {
    const data = this.state.parts.get(keyOf(documentId, part));
    if (data === undefined) throw new Error(`Document ${documentId} has no part ${part}`);
    return data;
  }

  writePart(documentId: number, part: number, data: Uint8Array): void {
    this.state = { ...this.state, parts: new Map(this.state.parts).set(keyOf(documentId, part), data) };
  }

  deletePart(documentId: number, part: number): void {
    const parts = new Map(this.state.parts);
    parts.delete(keyOf(documentId, part));
    this.state = { ...this.state, parts };
  }
}
