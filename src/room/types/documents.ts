/** Documents and their history, as the methods of a room's object take and return them. Times are epoch milliseconds. */
import type { ErrorCode } from "@atrium/contract/errors.ts";

/** A user of the room, an API key, or a person of the organization; `organization` in old updates. */
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
  readonly updates: number;
  readonly bytes: number;
  /** Arrival of the first and the last update. */
  readonly firstAt: number;
  readonly at: number;
  /** At least one author; the first 100 of more. */
  readonly authors: readonly Author[];
}

/** A point in a document's history: the document as it was after the update `seq`. */
export interface VersionInfo {
  readonly seq: number;
  /** Null for a version that the room made by itself. */
  readonly name: string | null;
  /** Arrival of the update. */
  readonly at: number;
  readonly createdAt: number;
  readonly namedBy: Author | null;
  /** Authors since the version before. */
  readonly authors: readonly Author[];
}

/** A page of a document's history, newest first: entries before an update. */
export interface HistoryPage {
  readonly before: number;
  readonly limit: number;
}

/** Names the document as it is, renames a version (null: as if the room had made it by itself), or deletes one. */
export type VersionChange =
  | { readonly type: "create"; readonly name: string; readonly by: Author }
  | { readonly type: "rename"; readonly seq: number; readonly name: string | null; readonly by: Author }
  | { readonly type: "delete"; readonly seq: number };

/** The edits after one update, up to another one; null for all. */
export interface WrittenRange {
  readonly after: number;
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

export interface DocumentInfo {
  readonly name: string;
  /** Encoded, without its history. */
  readonly bytes: number;
  /** The time of its latest update. */
  readonly seq: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface ListedDocument extends DocumentInfo {
  /** Users who have it open. */
  readonly userIds: readonly string[];
}

export interface DocumentDetails extends ListedDocument {
  /** No other document of the room ever has it. */
  readonly id: number;
  /** The number of versions. */
  readonly versions: number;
  /** Bytes in storage, with the history. */
  readonly storedBytes: number;
}

export interface DocumentPart {
  /** Null after the last one. */
  readonly update: Uint8Array | null;
  /** Parts with the same value belong together. */
  readonly version: string;
}

export interface DocumentRefusal {
  readonly code: ErrorCode;
  readonly message: string;
}

/** A user whose request was authenticated, and its identity's token epoch then; null without an identity. */
export interface Writer {
  readonly userId: string;
  readonly identityEpoch: number | null;
  /** Absent from a Worker of the version before. */
  readonly isGuest?: boolean;
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
  /** The writing user, whose rights may have ended since; absent for a write of the organization. */
  readonly writer?: Writer | undefined;
}
