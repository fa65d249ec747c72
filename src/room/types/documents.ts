/** Documents and their history, as the methods of a room's object take and return them. Times are epoch milliseconds. */
import type { ErrorCode } from "@atrium/contract/errors.ts";
import type { DocumentAuthor } from "@atrium/contract/resources/author.ts";
import type { EventCause } from "@atrium/contract/resources/present-event.ts";
import type { Trace } from "../../platform/trace.ts";

/** A user of the room, an API key, a person of the organization, or a workflow; `organization` in old updates. */
export type Author =
  | { readonly type: "user" | "key" | "person" | "workflow"; readonly id: string }
  | { readonly type: "organization" };

export const isSameAuthor = (one: Author, other: Author): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export const presentAuthor = (author: Author): DocumentAuthor => ({
  type: author.type,
  id: author.type === "organization" ? null : author.id,
});

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
  /** False for a range that need not begin at a version: the entry around its start is read whole. */
  readonly startsAtVersion?: boolean;
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

/** Consecutive operations of one client; `end` is exclusive. */
interface Operations {
  readonly client: number;
  readonly start: number;
  readonly end: number;
}

/** The items that an edit relies on, in the document as it was read. */
export interface EditGuard {
  /** Deleted, replaced, formatted and quoted characters, and the blocks of all places: they must not be deleted. */
  readonly ranges: readonly Operations[];
  /** Operations directly before which no one may insert: those of a stretch but its first. */
  readonly interiors: readonly Operations[];
  /** Elements in which the edits begin a text, and types that they delete: no one else may begin one there. */
  readonly begun: readonly Operations[];
  /** Everything that is left in those elements and types, deleted or not: no one may insert beside it. */
  readonly remains: readonly Operations[];
  /** Types that they delete: no one may set a key there. */
  readonly keyless?: readonly Operations[];
  /** Operations that the document must not get from others. */
  readonly own?: readonly Operations[];
  /** The state vector of the document that was read. */
  readonly state: Uint8Array;
}

/** A request to edit a document, which is carried out once: the room keeps its answer. */
export interface EditRequest {
  /** A user's ID, or a name that no user has. */
  readonly sender: string;
  readonly requestId: string | undefined;
  /** Tells requests with the same ID apart. */
  readonly digest: string;
}

/** The document to read for an edit. */
export interface EditStart {
  /** The answer, as JSON, if the request was carried out before. */
  readonly answer: string | null;
  /** Null for a document that does not exist. */
  readonly documentId: number | null;
  readonly seq: number;
  /** The client ID of the author's edit before, to go on with; null for another one. */
  readonly client: number | null;
}

/** An edit that was made of a document as it was read after {@link EditStart}. */
export interface EditWrite extends EditStart {
  readonly author: Author;
  readonly writer?: Writer | undefined;
  /** The run that makes the edit; null for any other program. */
  readonly cause: EventCause | null;
  readonly trace: Trace | null;
  readonly request: EditRequest;
  readonly guard: EditGuard;
  /** The answer as the JSON of an object; the room adds the update's number. */
  readonly answer: string;
}
