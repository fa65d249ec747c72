/** The history of documents, as a room's object returns it. */
import type { ErrorCode } from "../../platform/errors.ts";

/**
 * The author of an update: a user of the room, an API key, or a person of the organization. Earlier versions of the
 * service stored only `organization`.
 */
export type Author =
  | { readonly type: "user" | "key" | "person"; readonly id: string }
  | { readonly type: "organization" };

/** Each author once, in the order of their first appearance. */
export const distinctAuthors = (authors: readonly Author[]): Author[] => [
  ...new Map(authors.map((author) => [JSON.stringify(author), author])).values(),
];

/** A history entry: edits of one author within a minute; old ones are all edits between two versions. */
export interface TrailEntry {
  /** The number of its last update. */
  readonly seq: number;
  /** The number of its updates. */
  readonly updates: number;
  readonly bytes: number;
  /** Arrival of the first and the last update (epoch ms). */
  readonly firstAt: number;
  readonly at: number;
  /** At least one; of several, the first 100. */
  readonly authors: readonly Author[];
}

/** A point in a document's history: the document as it was after an update. */
export interface VersionInfo {
  /** The number of that update. */
  readonly seq: number;
  /** Null for a version that the room made by itself. */
  readonly name: string | null;
  /** Arrival of that update (epoch ms). */
  readonly at: number;
  /** When the version was made (epoch ms). */
  readonly createdAt: number;
  /** The author of the name; null without one. */
  readonly namedBy: Author | null;
  /** Authors since the version before. */
  readonly authors: readonly Author[];
}

/** A page of a document's history, newest first. */
export interface HistoryPage {
  /** Only entries before the update with this number. */
  readonly before: number;
  readonly limit: number;
}

/** Names the document as it is, renames a version (null: as if the room had made it by itself), or deletes one. */
export type VersionChange =
  | { readonly type: "create"; readonly name: string; readonly by: Author }
  | { readonly type: "rename"; readonly seq: number; readonly name: string | null; readonly by: Author }
  | { readonly type: "delete"; readonly seq: number };

/** The edits between two points of a document's history. */
export interface WrittenRange {
  /** After the update with this number. */
  readonly after: number;
  /** Up to the one with this number; null for all. */
  readonly upTo: number | null;
  /** NOT_FOUND unless the document is the one with this ID. */
  readonly documentId?: number | undefined;
}

/** An update, or several that were folded, with all of its authors. */
export interface AuthoredUpdate {
  readonly seq: number;
  readonly authors: readonly Author[];
  readonly data: Uint8Array;
}

/** The position up to which a version was read. */
export interface VersionPosition {
  /** Null for any document of the name; another ID means that the document was deleted meanwhile. */
  readonly documentId: number | null;
  readonly afterSeq: number;
}

/** A part of the updates of a version. */
export interface VersionPart {
  readonly updates: readonly Uint8Array[];
  /** Null for the last part. */
  readonly next: VersionPosition | null;
}

/** A document in a list. */
export interface DocumentInfo {
  readonly name: string;
  /** Encoded, without its history. */
  readonly bytes: number;
  /** Of its latest update. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A document, and the users who have it open. */
export interface ListedDocument extends DocumentInfo {
  /** Users who have it open. */
  readonly userIds: readonly string[];
}

/** A document with its users and its history. */
export interface DocumentDetails extends ListedDocument {
  /** No other document of the room ever has it. */
  readonly id: number;
  /** The number of versions. */
  readonly versions: number;
  /** In storage, with its history. */
  readonly storedBytes: number;
}

/** A part of a document. */
export interface DocumentPart {
  /** Null after the last one. */
  readonly update: Uint8Array | null;
  /** Parts with the same value belong together. */
  readonly version: string;
}

/** The reason why an update is refused. */
export interface DocumentRefusal {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The author and the conditions of a write. */
export interface DocumentWrite {
  readonly author: Author;
  /** Only into a document without content. */
  readonly onlyIfEmpty: boolean;
  /** The document as it is becomes a version before. */
  readonly keepsVersion?: boolean;
  /** CONFLICT if the service itself has edited the document after this update: it would do so twice. */
  readonly basedOn?: number;
  /** NOT_FOUND unless the document is the one with this ID. */
  readonly documentId?: number | undefined;
}
