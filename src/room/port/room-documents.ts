/** What a room's object returns of its documents. */
import type { ErrorCode } from "../../platform/error-codes.ts";
import type { Author } from "./document-history.ts";

/** One document. */
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

/** One document, and who has it open. */
export interface ListedDocument extends DocumentInfo {
  /** The users that have it open. */
  readonly userIds: readonly string[];
}

/** One document, who has it open, and what it has with its history. */
export interface DocumentDetails extends ListedDocument {
  /** No other document of the room ever has it. */
  readonly id: number;
  /** How many are kept. */
  readonly versions: number;
  /** In storage, with its history. */
  readonly storedBytes: number;
}

/** One of the updates that a document consists of. */
export interface DocumentPart {
  /** Null after the last one. */
  readonly update: Uint8Array | null;
  /** The parts of one version belong together. */
  readonly version: string;
}

/** Why an update is not stored. */
export interface DocumentRefusal {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Who writes, and on what terms. */
export interface DocumentWrite {
  readonly author: Author;
  /** Only into a document without content. */
  readonly onlyIfEmpty: boolean;
  /** The document as it is becomes a version before. */
  readonly keepsVersion?: boolean;
  /** CONFLICT if the service itself has edited the document after the update with this number: then it would do so twice. */
  readonly basedOn?: number;
  /** NOT_FOUND unless the document is the one with this ID. */
  readonly documentId?: number | undefined;
}
