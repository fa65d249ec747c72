/** Suggestions of a room's documents in SQLite. Their forks are documents. */
import { forkNameOf } from "@atrium/contract/suggestion-limits.ts";
import type { Author } from "../types/documents.ts";
import type { ListedSuggestions, StoredSuggestion } from "../types/suggestions.ts";
import { LIMIT, SqlitePart } from "./sqlite-tables.ts";

type SuggestionRow = Omit<StoredSuggestion, "author" | "reviewedBy"> & {
  readonly author: string;
  readonly reviewedBy: string | null;
};

const COLUMNS = `number, id, document, title, author, base_seq AS baseSeq, secret, status, created_at AS createdAt,
  reviewed_by AS reviewedBy, reviewed_at AS reviewedAt, comment`;

const authorIn = (json: string): Author => JSON.parse(json) as Author;

const suggestionOf = ({ author, reviewedBy, ...row }: SuggestionRow): StoredSuggestion => ({
  ...row,
  author: authorIn(author),
  reviewedBy: reviewedBy === null ? null : authorIn(reviewedBy),
});

interface PendingCounts {
  readonly inRoom: number;
  readonly ofDocument: number;
  readonly ofAuthor: number;
}

/** A review; `parts` is JSON. */
interface StoredReview extends Pick<StoredSuggestion, "id" | "status" | "comment"> {
  readonly reviewedBy: Author;
  readonly reviewedAt: number;
  readonly parts: string;
}

export class SqliteSuggestions extends SqlitePart {
  find(id: string): StoredSuggestion | null {
    return this.#list("WHERE id = ?", id)[0] ?? null;
  }

  #list(rest: string, ...params: (string | number | null)[]): StoredSuggestion[] {
    const query = `SELECT ${COLUMNS} FROM suggestions ${rest}`;
    return this.tables.read<SuggestionRow>(query, ...params).map(suggestionOf);
  }

  /** The parts of a review as JSON; null before it. */
  findParts(id: string): string | null {
    const query = "SELECT parts FROM suggestions WHERE id = ?";
    return this.tables.find<{ parts: string | null }>(query, id)?.parts ?? null;
  }

  /** Newest first. */
  list(document: number, { status, before, limit }: ListedSuggestions): StoredSuggestion[] {
    const condition = `WHERE document = ? AND number < ? AND ifnull(status = ?, 1)
      ORDER BY number DESC ${LIMIT}`;
    return this.#list(condition, document, before, status, limit);
  }

  /** The pending suggestions of an author in a document, of the document, and of the room. */
  countPending(document: number, author: Author): PendingCounts {
    const query = `SELECT count(*) AS inRoom, count(iif(document = ?1, 1, NULL)) AS ofDocument,
      count(iif(document = ?1 AND author = ?2, 1, NULL)) AS ofAuthor FROM suggestions WHERE status = 'pending'`;
    const counts = this.tables.find<PendingCounts>(query, document, JSON.stringify(author));
    return counts ?? { inRoom: 0, ofDocument: 0, ofAuthor: 0 };
  }

  /** The suggestions that a person has made or reviewed, in their order, after a number. */
  listOf(person: Author, after: number, limit: number): StoredSuggestion[] {
    const condition = `WHERE number > ? AND ? IN (author, reviewed_by) ORDER BY number ${LIMIT}`;
    return this.#list(condition, after, JSON.stringify(person), limit);
  }

  insert({ id, document, title, author, baseSeq, secret, createdAt }: NewSuggestion): void {
    const row = { id, document, title, author: JSON.stringify(author), base_seq: baseSeq, secret };
    this.tables.insert("suggestions", { ...row, status: "pending", created_at: createdAt });
  }

  review({ id, status, comment, reviewedBy, reviewedAt, parts }: StoredReview): void {
    this.tables.write(
      "UPDATE suggestions SET status = ?, comment = ?, reviewed_by = ?, reviewed_at = ?, parts = ? WHERE id = ?",
      ...[status, comment, JSON.stringify(reviewedBy), reviewedAt, parts, id],
    );
  }

  /** Deletes the reviewed suggestions of a document beyond the latest ones. */
  prune(document: number, kept: number): void {
    this.tables.write(
      `DELETE FROM suggestions WHERE number IN (SELECT number FROM suggestions
         WHERE document = ? AND status <> 'pending' ORDER BY reviewed_at DESC, number DESC LIMIT -1 OFFSET ?)`,
      ...[document, kept],
    );
  }

  /** Removes the reviewer's name and comment. */
  forgetReviewer(id: string): void {
    this.tables.write("UPDATE suggestions SET reviewed_by = NULL, comment = NULL WHERE id = ?", id);
  }

  delete(id: string): void {
    this.tables.write("DELETE FROM suggestions WHERE id = ?", id);
  }

  /** When the fork was last written into (epoch ms); null without one. */
  writtenAt(id: string): number | null {
    const query = `SELECT at FROM document_updates WHERE document = (SELECT id FROM documents WHERE name = ?)
      ORDER BY seq DESC LIMIT 1`;
    return this.tables.find<{ at: number }>(query, forkNameOf(id))?.at ?? null;
  }

  /** The name of the document with this number; null once it is deleted. */
  documentName(document: number): string | null {
    const query = "SELECT name FROM documents WHERE id = ?";
    return this.tables.find<{ name: string }>(query, document)?.name ?? null;
  }
}

type NewSuggestion = Pick<
  StoredSuggestion,
  "id" | "document" | "title" | "author" | "baseSeq" | "secret" | "createdAt"
>;
