/** A room's documents in SQLite. A row holds 2 MB: longer data is cut into pieces. */
import type { Author, HistoryPage, TrailEntry } from "../types/documents.ts";
import { distinctAuthors } from "./authors.ts";
import { type AuthorsColumns, authorsOf, columnsOfAll } from "./sqlite-authors.ts";
import { SqlitePart } from "./sqlite-part.ts";
import type {
  DocumentTable,
  DocumentTail,
  StoredDocument,
  StoredUpdate,
  StretchRange,
} from "./storage-documents.ts";

const PIECE_BYTES = 1024 * 1024;

type DocumentRow = {
  id: number;
  name: string;
  created_at: number;
  folded_seq: number;
  part_bytes: string;
  trail_bytes: number;
};

type StretchRow = AuthorsColumns & { seq: number; updates: number; first_at: number; at: number };
type UpdateRow = StretchRow & { data: ArrayBuffer };

const stretchOf = (row: StretchRow) => ({
  seq: row.seq,
  updates: row.updates,
  firstAt: row.first_at,
  at: row.at,
  authors: authorsOf(row),
});

const documentOf = (row: DocumentRow): StoredDocument => ({
  id: row.id,
  name: row.name,
  createdAt: row.created_at,
  foldedSeq: row.folded_seq,
  partBytes: parseBytes(row.part_bytes),
  trailBytes: row.trail_bytes,
});

type EntryRow = StretchRow & { bytes: number };

const SELECT_ENTRIES = `SELECT seq, updates, first_at, at, user_id, acting, authors, sum(length(data)) AS bytes
  FROM document_updates WHERE document = ?`;

const entryOf = (row: EntryRow): TrailEntry => ({ ...stretchOf(row), bytes: row.bytes });

/** As `update` wrote them. */
const parseBytes = (json: string): number[] => JSON.parse(json) as number[];

/** At least one, which may be empty. */
function* piecesOf(data: Uint8Array): Generator<ArrayBuffer> {
  for (let at = 0; at === 0 || at < data.length; at += PIECE_BYTES)
    yield data.slice(at, at + PIECE_BYTES).buffer;
}

function join(pieces: readonly ArrayBuffer[]): Uint8Array {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return new Uint8Array(only);
  const joined = new Uint8Array(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(new Uint8Array(piece), at);
    at += piece.byteLength;
  }
  return joined;
}

export class SqliteDocuments extends SqlitePart implements DocumentTable {
  find(name: string): StoredDocument | null {
    const row = this.tables.read<DocumentRow>("SELECT * FROM documents WHERE name = ?", name)[0];
    return row === undefined ? null : documentOf(row);
  }

  list(): StoredDocument[] {
    return this.tables.read<DocumentRow>("SELECT * FROM documents ORDER BY name").map(documentOf);
  }

  insert(name: string, createdAt: number): StoredDocument {
    const id = this.nextNumber("documents", "id");
    this.tables.write("INSERT INTO documents (id, name, created_at) VALUES (?, ?, ?)", id, name, createdAt);
    const document = this.find(name);
    if (document === null) throw new Error(`Document ${name} was not inserted`);
    return document;
  }

  update({ id, foldedSeq, partBytes, trailBytes }: StoredDocument): void {
    this.tables.write(
      "UPDATE documents SET folded_seq = ?, part_bytes = ?, trail_bytes = ? WHERE id = ?",
      foldedSeq,
      JSON.stringify(partBytes),
      trailBytes,
      id,
    );
  }

  delete(id: number): void {
    this.tables.write("DELETE FROM document_updates WHERE document = ?", id);
    this.tables.write("DELETE FROM document_parts WHERE document = ?", id);
    this.tables.write("DELETE FROM documents WHERE id = ?", id);
    this.retire("documents", id);
  }

  appendUpdate(documentId: number, { seq, updates, firstAt, at, authors, data }: StoredUpdate): void {
    const columns = columnsOfAll(authors);
    let piece = 0;
    for (const bytes of piecesOf(data)) {
      this.tables.write(
        `INSERT INTO document_updates (document, seq, piece, updates, first_at, at, user_id, acting, authors, data)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        documentId,
        seq,
        piece,
        updates,
        firstAt,
        at,
        columns.user_id,
        columns.acting,
        columns.authors,
        bytes,
      );
      piece += 1;
    }
  }

  listUpdates(documentId: number, afterSeq: number, upToSeq = Number.MAX_SAFE_INTEGER): StoredUpdate[] {
    const rows = this.tables.read<UpdateRow>(
      `SELECT seq, updates, first_at, at, user_id, acting, authors, data FROM document_updates
       WHERE document = ? AND seq > ? AND seq <= ? ORDER BY seq, piece`,
      documentId,
      afterSeq,
      upToSeq,
    );
    const bySeq = new Map<number, UpdateRow[]>();
    for (const row of rows) bySeq.set(row.seq, [...(bySeq.get(row.seq) ?? []), row]);
    return [...bySeq.values()].flatMap((pieces) => {
      const [first] = pieces;
      return first === undefined ? [] : { ...stretchOf(first), data: join(pieces.map(({ data }) => data)) };
    });
  }

  listTrail(documentId: number, { before, limit }: HistoryPage): TrailEntry[] {
    return this.tables
      .read<EntryRow>(
        `${SELECT_ENTRIES} AND seq < ? GROUP BY seq ORDER BY seq DESC LIMIT ?`,
        documentId,
        before,
        limit,
      )
      .map(entryOf);
  }

  listStretches(documentId: number, { after, upTo, limit }: StretchRange): TrailEntry[] {
    const query = `${SELECT_ENTRIES} AND seq > ? AND seq <= ? GROUP BY seq ORDER BY seq LIMIT ?`;
    return this.tables.read<EntryRow>(query, documentId, after, upTo, limit).map(entryOf);
  }

  listAuthors(documentId: number, afterSeq: number, upToSeq: number): Author[] {
    const query = `SELECT user_id, acting, authors FROM document_updates
      WHERE document = ? AND seq > ? AND seq <= ? GROUP BY user_id, acting, authors ORDER BY min(seq)`;
    const rows = this.tables.read<AuthorsColumns>(query, documentId, afterSeq, upToSeq);
    return distinctAuthors(rows.flatMap(authorsOf));
  }

  findTimes(documentId: number, afterSeq: number): { firstAt: number; at: number } | null {
    const query = `SELECT min(first_at) AS firstAt, max(at) AS at FROM document_updates
      WHERE document = ? AND seq > ? HAVING count(*) > 0`;
    return this.tables.read<{ firstAt: number; at: number }>(query, documentId, afterSeq)[0] ?? null;
  }

  lastSeq(documentId: number): number {
    const query = "SELECT max(seq) AS seq FROM document_updates WHERE document = ?";
    return this.tables.read<{ seq: number | null }>(query, documentId)[0]?.seq ?? 0;
  }

  deleteUpdates(documentId: number, fromSeq: number, toSeq: number): void {
    this.tables.write(
      "DELETE FROM document_updates WHERE document = ? AND seq BETWEEN ? AND ?",
      documentId,
      fromSeq,
      toSeq,
    );
  }

  tails(documentId?: number): DocumentTail[] {
    return this.tables.read<{ documentId: number; updates: number; bytes: number; seq: number; at: number }>(
      `SELECT id AS documentId, sum(piece = 0) AS updates, sum(length(data)) AS bytes, max(seq) AS seq, max(at) AS at
       FROM documents JOIN document_updates ON document = id AND seq > folded_seq
       WHERE ?1 IS NULL OR id = ?1 GROUP BY id`,
      documentId ?? null,
    );
  }

  readPart(documentId: number, part: number): Uint8Array {
    const query = "SELECT data FROM document_parts WHERE document = ? AND part = ? ORDER BY piece";
    const pieces = this.tables.read<{ data: ArrayBuffer }>(query, documentId, part);
    if (pieces.length === 0) throw new Error(`Document ${documentId} has no part ${part}`);
    return join(pieces.map(({ data }) => data));
  }

  writePart(documentId: number, part: number, data: Uint8Array): void {
    this.deletePart(documentId, part);
    let piece = 0;
    for (const bytes of piecesOf(data)) {
      this.tables.write("INSERT INTO document_parts VALUES (?, ?, ?, ?)", documentId, part, piece, bytes);
      piece += 1;
    }
  }

  deletePart(documentId: number, part: number): void {
    this.tables.write("DELETE FROM document_parts WHERE document = ? AND part = ?", documentId, part);
  }
}
