/** What a room's object returns of its documents. */
import type { ErrorCode } from "../../platform/error-codes.ts";

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

/**
 * Who wrote an update: a user of the room or, for the organization, one of its API keys or of its members. Which of
 * them it was is not known of what earlier versions of the service stored: `organization`.
 */
export type Author =
  | { readonly type: "user" | "key" | "person"; readonly id: string }
  | { readonly type: "organization" };

/** What one author wrote in a row, within a minute. */
export interface TrailEntry {
  /** The number of the last of its updates. */
  readonly seq: number;
  /** How many they are. */
  readonly updates: number;
  readonly bytes: number;
  /** When the first and the last arrived (epoch ms). */
  readonly firstAt: number;
  readonly at: number;
  readonly author: Author;
}

/** A page of a document's history, newest first. */
export interface HistoryPage {
  /** Only what ended before the update with this number. */
  readonly before: number;
  readonly limit: number;
}

/** Who writes, and whether only into a document without content. */
export interface DocumentWrite {
  readonly author: Author;
  readonly onlyIfEmpty: boolean;
}
