/** What a room's object returns of the history of its documents. */

/**
 * Who wrote an update: a user of the room or, for the organization, one of its API keys or of its members. Which of
 * them it was is not known of what earlier versions of the service stored: `organization`.
 */
export type Author =
  | { readonly type: "user" | "key" | "person"; readonly id: string }
  | { readonly type: "organization" };

/** What one author wrote in a row, within a minute; of what is older than the trail is kept, what was written between two versions. */
export interface TrailEntry {
  /** The number of the last of its updates. */
  readonly seq: number;
  /** How many they are. */
  readonly updates: number;
  readonly bytes: number;
  /** When the first and the last arrived (epoch ms). */
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
  /** When that update arrived (epoch ms). */
  readonly at: number;
  /** When the version was made (epoch ms). */
  readonly createdAt: number;
  /** Who named it; null as for the name. */
  readonly namedBy: Author | null;
  /** Who wrote since the version before. */
  readonly authors: readonly Author[];
}

/** A page of a document's history, newest first. */
export interface HistoryPage {
  /** Only what ended before the update with this number. */
  readonly before: number;
  readonly limit: number;
}

/** Names the document as it is, renames a version (null: as if the room had made it by itself), or deletes one. */
export type VersionChange =
  | { readonly type: "create"; readonly name: string; readonly by: Author }
  | { readonly type: "rename"; readonly seq: number; readonly name: string | null; readonly by: Author }
  | { readonly type: "delete"; readonly seq: number };

/** What was written between two points of a document's history. */
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

/** How far the updates of a version have been read. */
export interface VersionPosition {
  /** Null for whichever has the name; another one means that the document was deleted meanwhile. */
  readonly documentId: number | null;
  readonly afterSeq: number;
}

/** Some of the updates that a version consists of. */
export interface VersionPart {
  readonly updates: readonly Uint8Array[];
  /** Null when these are the last ones. */
  readonly next: VersionPosition | null;
}
