/** Suggestions as the methods of a room's object take and return them. Times are epoch milliseconds. */
import type { EventCause } from "@atrium/contract/resources/present-event.ts";
import type { SuggestedPart, Suggestion } from "@atrium/contract/resources/suggestion.ts";
import type { Trace } from "../../platform/trace.ts";
import type { Author, EditGuard, EditRequest, Writer } from "./documents.ts";

export interface StoredSuggestion {
  readonly number: number;
  readonly id: string;
  /** The document's number. */
  readonly document: number;
  readonly title: string | null;
  readonly author: Author;
  /** The number of the fork's first update, which is the document as it was. */
  readonly baseSeq: number;
  /** From it the client IDs of accepted operations derive. It is in no answer. */
  readonly secret: string;
  readonly status: "pending" | "approved" | "rejected";
  readonly createdAt: number;
  /** Null before the review, and after the erasure of the reviewer. */
  readonly reviewedBy: Author | null;
  readonly reviewedAt: number | null;
  readonly comment: string | null;
}

/** Newest first: those before a number, of one status or, with null, of all. */
export interface ListedSuggestions {
  readonly status: string | null;
  readonly before: number;
  readonly limit: number;
}

export interface SuggestionPage {
  readonly suggestions: Suggestion[];
  /** Null on the last page. */
  readonly next: number | null;
}

/** A suggestion, and the documents to read for its parts. */
export interface SuggestionDetails {
  readonly suggestion: Suggestion;
  /** The latest update of the fork; 0 once it is gone. */
  readonly seq: number;
  readonly baseSeq: number;
  readonly secret: string;
  /** The numbers of the fork and the document; null for a fork that is gone. */
  readonly forkId: number | null;
  readonly documentId: number;
  /** The latest update of the document. */
  readonly documentSeq: number;
  /** The parts of the review as JSON; null before it. */
  readonly parts: string | null;
}

/** The circumstances of a change of a suggestion. */
export interface SuggestionChange {
  /** The user who writes, whose rights may have ended since; absent for the organization. */
  readonly writer?: Writer | undefined;
  readonly cause: EventCause | null;
  readonly trace: Trace | null;
}

export interface SuggestionStart extends SuggestionChange {
  readonly author: Author;
  readonly title: string | null;
  /** The document as it was read. */
  readonly base: Uint8Array;
  /** NOT_FOUND unless the document is the one with this number. */
  readonly documentId: number;
  /** The first edits; null for none. */
  readonly update: Uint8Array | null;
  readonly request: EditRequest;
  /** The outcome of the edits as JSON. */
  readonly edits: string;
}

/** The update that accepts parts of a suggestion. */
export interface ReviewedUpdate {
  readonly update: Uint8Array;
  /** The number of the document's latest update that was read for it. */
  readonly basedOn: number;
  /** Later updates must not touch it; null if there must be none. */
  readonly guard: EditGuard | null;
}

export interface ReviewedSuggestion extends SuggestionChange {
  /** The reviewer. */
  readonly author: Author;
  /** CONFLICT if the fork has a later update. */
  readonly seq: number;
  readonly documentId: number;
  /** Null when nothing is accepted. */
  readonly accepted: ReviewedUpdate | null;
  /** The parts to keep. */
  readonly parts: readonly SuggestedPart[];
  /** The numbers of accepted and of all parts. */
  readonly counts: { readonly accepted: number; readonly parts: number };
  readonly comment: string | null;
}

export interface WithdrawnSuggestion extends Pick<SuggestionChange, "writer"> {
  readonly author: Author;
  /** The credential may write documents. */
  readonly mayWrite: boolean;
}
