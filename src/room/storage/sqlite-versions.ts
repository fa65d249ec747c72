/** The versions of a room's documents in SQLite. */
import type { HistoryPage, VersionInfo } from "../types/documents.ts";
import { authorOf, columnsOf, parseAuthors } from "./sqlite-authors.ts";
import { SqlitePart } from "./sqlite-part.ts";
import type { VersionTable } from "./storage-documents.ts";

type VersionRow = {
  seq: number;
  name: string | null;
  at: number;
  created_at: number;
  user_id: string | null;
  acting: string | null;
  authors: string;
};

const versionOf = (row: VersionRow): VersionInfo => ({
  seq: row.seq,
  name: row.name,
  at: row.at,
  createdAt: row.created_at,
  namedBy: row.name === null ? null : authorOf(row),
  authors: parseAuthors(row.authors),
});

export class SqliteVersions extends SqlitePart implements VersionTable {
  find(documentId: number, seq: number): VersionInfo | null {
    const query = "SELECT * FROM document_versions WHERE document = ? AND seq = ?";
    return this.tables.read<VersionRow>(query, documentId, seq).map(versionOf)[0] ?? null;
  }

  list(documentId: number, { before, limit }: HistoryPage): VersionInfo[] {
    const query = "SELECT * FROM document_versions WHERE document = ? AND seq < ? ORDER BY seq DESC LIMIT ?";
    return this.tables.read<VersionRow>(query, documentId, before, limit).map(versionOf);
  }

  listSeqs(documentId: number, afterSeq: number): number[] {
    const query = "SELECT seq FROM document_versions WHERE document = ? AND seq > ? ORDER BY seq";
    return this.tables.read<{ seq: number }>(query, documentId, afterSeq).map(({ seq }) => seq);
  }

  findNext(documentId: number, afterSeq: number): VersionInfo | null {
    const query = "SELECT * FROM document_versions WHERE document = ? AND seq > ? ORDER BY seq LIMIT 1";
    return this.tables.read<VersionRow>(query, documentId, afterSeq).map(versionOf)[0] ?? null;
  }

  listUnnamed(documentId: number, madeBefore: number, limit: number): VersionInfo[] {
    const query = `SELECT * FROM document_versions
      WHERE document = ? AND name IS NULL AND created_at < ? ORDER BY seq LIMIT ?`;
    return this.tables.read<VersionRow>(query, documentId, madeBefore, limit).map(versionOf);
  }

  count(documentId: number): number {
    const query = "SELECT count(*) AS versions FROM document_versions WHERE document = ?";
    return this.tables.read<{ versions: number }>(query, documentId)[0]?.versions ?? 0;
  }

  countNamed(documentId: number): number {
    const query = "SELECT count(*) AS named FROM document_versions WHERE document = ? AND name IS NOT NULL";
    return this.tables.read<{ named: number }>(query, documentId)[0]?.named ?? 0;
  }

  put(documentId: number, { seq, name, at, createdAt, namedBy, authors }: VersionInfo): void {
    const { user_id, acting } = namedBy === null ? { user_id: null, acting: null } : columnsOf(namedBy);
    this.tables.write(
      "INSERT OR REPLACE INTO document_versions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      ...[documentId, seq, name, at, createdAt, user_id, acting, JSON.stringify(authors)],
    );
  }

  delete(documentId: number, seq: number): void {
    this.tables.write("DELETE FROM document_versions WHERE document = ? AND seq = ?", documentId, seq);
  }

  deleteAll(documentId: number): void {
    this.tables.write("DELETE FROM document_versions WHERE document = ?", documentId);
  }
}
