/** Documents, as a room's object returns them. */
import type { ErrorCode } from "../../platform/error-codes.ts";
import type { Author } from "./document-history.ts";

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
