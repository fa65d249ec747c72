/** A room's documents and their versions in SQLite. A row holds 2 MB: longer data is cut into pieces. */
import { forkNameOf } from "@atrium/contract/suggestion-limits.ts";
import {
  type Author,
  distinctAuthors,
  type HistoryPage,
  type TrailEntry,
  type VersionInfo,
} from "../types/documents.ts";
import { SqlitePart } from "./sqlite-tables.ts";

export interface StoredDocument {
  /** Never given again, not even to a document of the same name. */
  readonly id: number;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** The parts hold the updates up to this sequence number. */
  readonly foldedSeq: number;
  readonly partBytes: readonly number[];
  /** Bytes of kept updates that are folded already. */
  readonly trailBytes: number;
}

/** An update, or several consecutive ones that were folded. */
export interface StoredUpdate {
  readonly seq: number;
  readonly updates: number;
  /** When the first and the last arrived (epoch ms). */
  readonly firstAt: number;
  readonly at: number;
  /** One author, or several once the update is older than the edit history is kept. */
  readonly authors: readonly Author[];
  readonly data: Uint8Array;
}

interface EntryRange {
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
}

/** The updates of a document that are not folded yet. */
export interface DocumentTail {
  readonly documentId: number;
  readonly updates: number;
  readonly bytes: number;
  readonly seq: number;
  readonly at: number;
}

/** `acting` is the type of any other author, a colon and the id. */
type AuthorColumns = { user_id: string | null; acting: string | null };

/** `authors` is null for a single author; for several, the other columns are null. */
type AuthorsColumns = AuthorColumns & { authors: string | null };

function columnsOf(author: Author): AuthorColumns {
  switch (author.type) {
    case "user":
      return { user_id: author.id, acting: null };
    case "organization":
      return { user_id: null, acting: null };
    default:
      return { user_id: null, acting: `${author.type}:${author.id}` };
  }
}

function authorOf({ user_id, acting }: AuthorColumns): Author {
  if (user_id !== null) return { type: "user", id: user_id };
  for (const type of ["key", "person", "workflow"] as const)
    if (acting?.startsWith(`${type}:`)) return { type, id: acting.slice(type.length + 1) };
  return { type: "organization" };
}

const NO_AUTHOR: AuthorColumns = { user_id: null, acting: null };

function columnsOfAll(authors: readonly Author[]): AuthorsColumns {
  const [only, ...others] = authors;
  if (only !== undefined && others.length === 0) return { ...columnsOf(only), authors: null };
  return { ...NO_AUTHOR, authors: JSON.stringify(authors) };
}

const authorsOf = ({ authors, ...one }: AuthorsColumns): Author[] =>
  authors === null ? [authorOf(one)] : parseAuthors(authors);

const parseAuthors = (json: string): Author[] => JSON.parse(json) as Author[];

const PIECE_BYTES = 1024 * 1024;

const SELECT_DOCUMENTS = `SELECT id, name, created_at AS createdAt, folded_seq AS foldedSeq, part_bytes AS partBytes,
  trail_bytes AS trailBytes FROM documents`;

/** The names of forks begin so. */
const FORKS = forkNameOf("");
const ORDINARY = "WHERE substr(name, 1, length(?1)) <> ?1";

type DocumentRow = Omit<StoredDocument, "partBytes"> & { readonly partBytes: string };

const documentOf = (row: DocumentRow): StoredDocument => ({ ...row, partBytes: parseBytes(row.partBytes) });

const STRETCH = "seq, updates, first_at AS firstAt, at, user_id, acting, authors";
const SELECT_ENTRIES = `SELECT ${STRETCH}, sum(length(data)) AS bytes FROM document_updates WHERE document = ?`;

const SELECT_TAILS = `SELECT id AS documentId, sum(piece = 0) AS updates, sum(length(data)) AS bytes, max(seq) AS seq,
  max(at) AS at FROM documents JOIN document_updates ON document = id AND seq > folded_seq`;

type EntryRow = Omit<TrailEntry, "authors"> & AuthorsColumns;
type UpdateRow = Omit<StoredUpdate, "authors" | "data"> & AuthorsColumns & { readonly data: ArrayBuffer };

const withAuthors = <Row extends AuthorsColumns>({ user_id, acting, authors, ...row }: Row) => ({
  ...row,
  authors: authorsOf({ user_id, acting, authors }),
});

const parseBytes = (json: string): number[] => JSON.parse(json) as number[];

/** Splits data into pieces; empty data is one empty piece. */
const piecesOf = (data: Uint8Array): ArrayBuffer[] =>
  Array.from(
    { length: Math.max(1, Math.ceil(data.length / PIECE_BYTES)) },
    (_, piece) => data.slice(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES).buffer,
  );

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

export class SqliteDocuments extends SqlitePart {
  find(name: string): StoredDocument | null {
    const row = this.tables.find<DocumentRow>(`${SELECT_DOCUMENTS} WHERE name = ?`, name);
    return row && documentOf(row);
  }

  list(): StoredDocument[] {
    return this.tables.read<DocumentRow>(`${SELECT_DOCUMENTS} ORDER BY name`).map(documentOf);
  }

  /** All but the forks of suggestions. */
  listOrdinary(): StoredDocument[] {
    return this.tables
      .read<DocumentRow>(`${SELECT_DOCUMENTS} ${ORDINARY} ORDER BY name`, FORKS)
      .map(documentOf);
  }

  countOrdinary(): number {
    const query = `SELECT count(*) AS documents FROM documents ${ORDINARY}`;
    return this.tables.find<{ documents: number }>(query, FORKS)?.documents ?? 0;
  }

  /** Bytes of all documents with their history. */
  bytes(): number {
    const query = `SELECT (SELECT ifnull(sum(length(data)), 0)
        FROM documents JOIN document_updates ON document = id AND seq > folded_seq)
      + (SELECT ifnull(sum(value), 0) FROM documents, json_each(part_bytes))
      + (SELECT ifnull(sum(trail_bytes), 0) FROM documents) AS bytes`;
    return this.tables.find<{ bytes: number }>(query)?.bytes ?? 0;
  }

  insert(name: string, createdAt: number): StoredDocument {
    const id = this.nextNumber("documents", "id");
    this.tables.insert("documents", { id, name, created_at: createdAt });
    return { id, name, createdAt, foldedSeq: 0, partBytes: [], trailBytes: 0 };
  }

  update({ id, foldedSeq, partBytes, trailBytes }: StoredDocument): void {
    const query = "UPDATE documents SET folded_seq = ?, part_bytes = ?, trail_bytes = ? WHERE id = ?";
    this.tables.write(query, foldedSeq, JSON.stringify(partBytes), trailBytes, id);
  }

  delete(id: number): void {
    this.tables.write("DELETE FROM document_updates WHERE document = ?", id);
    this.tables.write("DELETE FROM document_parts WHERE document = ?", id);
    this.tables.write("DELETE FROM documents WHERE id = ?", id);
    this.retire("documents", id);
  }

  /** Data of any size is cut into pieces. */
  appendUpdate(documentId: number, { seq, updates, firstAt, at, authors, data }: StoredUpdate): void {
    const row = { document: documentId, seq, updates, first_at: firstAt, at, ...columnsOfAll(authors) };
    for (const [piece, bytes] of piecesOf(data).entries())
      this.tables.insert("document_updates", { ...row, piece, data: bytes });
  }

  listUpdates(documentId: number, afterSeq: number, upToSeq = Number.MAX_SAFE_INTEGER): StoredUpdate[] {
    const rows = this.tables.read<UpdateRow>(
      `SELECT ${STRETCH}, data FROM document_updates
       WHERE document = ? AND seq > ? AND seq <= ? ORDER BY seq, piece`,
      documentId,
      afterSeq,
      upToSeq,
    );
    const bySeq = new Map<number, UpdateRow[]>();
    for (const row of rows) bySeq.set(row.seq, [...(bySeq.get(row.seq) ?? []), row]);
    return [...bySeq.values()].flatMap((pieces) => {
      const [first] = pieces;
      return first === undefined ? [] : { ...withAuthors(first), data: join(pieces.map(({ data }) => data)) };
    });
  }

  /** Newest first, without content. */
  listTrail(documentId: number, { before, limit }: HistoryPage): TrailEntry[] {
    const query = `${SELECT_ENTRIES} AND seq < ? GROUP BY seq ORDER BY seq DESC LIMIT ?`;
    return this.tables.read<EntryRow>(query, documentId, before, limit).map(withAuthors);
  }

  /** The same in order, after a sequence number and up to another. */
  listEntries(documentId: number, { after, upTo, limit }: EntryRange): TrailEntry[] {
    const query = `${SELECT_ENTRIES} AND seq > ? AND seq <= ? GROUP BY seq ORDER BY seq LIMIT ?`;
    return this.tables.read<EntryRow>(query, documentId, after, upTo, limit).map(withAuthors);
  }

  listAuthors(documentId: number, afterSeq: number, upToSeq: number): Author[] {
    const query = `SELECT user_id, acting, authors FROM document_updates
      WHERE document = ? AND seq > ? AND seq <= ? GROUP BY user_id, acting, authors ORDER BY min(seq)`;
    const rows = this.tables.read<AuthorsColumns>(query, documentId, afterSeq, upToSeq);
    return distinctAuthors(rows.flatMap(authorsOf));
  }

  /** When the first and the last update after a sequence number arrived; null for none. */
  findTimes(documentId: number, afterSeq: number): { readonly firstAt: number; readonly at: number } | null {
    const query = `SELECT min(first_at) AS firstAt, max(at) AS at FROM document_updates
      WHERE document = ? AND seq > ? HAVING count(*) > 0`;
    return this.tables.find<{ firstAt: number; at: number }>(query, documentId, afterSeq);
  }

  lastSeq(documentId: number): number {
    const query = "SELECT max(seq) AS seq FROM document_updates WHERE document = ?";
    return this.tables.find<{ seq: number | null }>(query, documentId)?.seq ?? 0;
  }

  deleteUpdates(documentId: number, fromSeq: number, toSeq: number): void {
    this.tables.write(
      "DELETE FROM document_updates WHERE document = ? AND seq BETWEEN ? AND ?",
      documentId,
      fromSeq,
      toSeq,
    );
  }

  /** The tails of all ordinary documents that have one. */
  tails(): DocumentTail[] {
    return this.tables.read<DocumentTail>(`${SELECT_TAILS} ${ORDINARY} GROUP BY id`, FORKS);
  }

  /** The tail of a document; null for none. */
  findTail(documentId: number): DocumentTail | null {
    return this.tables.find<DocumentTail>(`${SELECT_TAILS} WHERE id = ? GROUP BY id`, documentId);
  }

  readPart(documentId: number, part: number): Uint8Array {
    const query = "SELECT data FROM document_parts WHERE document = ? AND part = ? ORDER BY piece";
    const pieces = this.tables.read<{ data: ArrayBuffer }>(query, documentId, part);
    if (pieces.length === 0) throw new Error(`Document ${documentId} has no part ${part}`);
    return join(pieces.map(({ data }) => data));
  }

  writePart(documentId: number, part: number, data: Uint8Array): void {
    this.deletePart(documentId, part);
    for (const [piece, bytes] of piecesOf(data).entries())
      this.tables.insert("document_parts", { document: documentId, part, piece, data: bytes });
  }

  deletePart(documentId: number, part: number): void {
    this.tables.write("DELETE FROM document_parts WHERE document = ? AND part = ?", documentId, part);
  }
}

const SELECT_VERSIONS = `SELECT seq, name, at, created_at AS createdAt, user_id, acting, authors
  FROM document_versions WHERE document = ?`;

type VersionRow = Omit<VersionInfo, "namedBy" | "authors"> & AuthorColumns & { readonly authors: string };

const versionOf = ({ user_id, acting, authors, ...row }: VersionRow): VersionInfo => ({
  ...row,
  namedBy: row.name === null ? null : authorOf({ user_id, acting }),
  authors: parseAuthors(authors),
});

/** A version has no content of its own: it is the updates up to its number, which folding keeps apart. */
export class SqliteVersions extends SqlitePart {
  find(documentId: number, seq: number): VersionInfo | null {
    return this.#list("AND seq = ?", documentId, seq)[0] ?? null;
  }

  /** Newest first. */
  list(documentId: number, { before, limit }: HistoryPage): VersionInfo[] {
    return this.#list("AND seq < ? ORDER BY seq DESC LIMIT ?", documentId, before, limit);
  }

  #list(condition: string, ...params: number[]): VersionInfo[] {
    return this.tables.read<VersionRow>(`${SELECT_VERSIONS} ${condition}`, ...params).map(versionOf);
  }

  listSeqs(documentId: number, afterSeq: number): number[] {
    const query = "SELECT seq FROM document_versions WHERE document = ? AND seq > ? ORDER BY seq";
    return this.tables.read<{ seq: number }>(query, documentId, afterSeq).map(({ seq }) => seq);
  }

  findNext(documentId: number, afterSeq: number): VersionInfo | null {
    return this.#list("AND seq > ? ORDER BY seq LIMIT 1", documentId, afterSeq)[0] ?? null;
  }

  listUnnamed(documentId: number, madeBefore: number, limit: number): VersionInfo[] {
    const condition = "AND name IS NULL AND created_at < ? ORDER BY seq LIMIT ?";
    return this.#list(condition, documentId, madeBefore, limit);
  }

  count(documentId: number): number {
    const query = "SELECT count(*) AS versions FROM document_versions WHERE document = ?";
    return this.tables.find<{ versions: number }>(query, documentId)?.versions ?? 0;
  }

  countNamed(documentId: number): number {
    const query = "SELECT count(*) AS named FROM document_versions WHERE document = ? AND name IS NOT NULL";
    return this.tables.find<{ named: number }>(query, documentId)?.named ?? 0;
  }

  put(documentId: number, { seq, name, at, createdAt, namedBy, authors }: VersionInfo): void {
    const { user_id, acting } = namedBy === null ? NO_AUTHOR : columnsOf(namedBy);
    const row = { document: documentId, seq, name, at, created_at: createdAt, user_id, acting };
    this.tables.insert(
      "document_versions",
      { ...row, authors: JSON.stringify(authors) },
      "INSERT OR REPLACE",
    );
  }

  delete(documentId: number, seq: number): void {
    this.tables.write("DELETE FROM document_versions WHERE document = ? AND seq = ?", documentId, seq);
  }

  deleteAll(documentId: number): void {
    this.tables.write("DELETE FROM document_versions WHERE document = ?", documentId);
  }
}
