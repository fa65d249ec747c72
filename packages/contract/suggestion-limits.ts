/** The limits of suggestions, and the names of their forks. */

export const SUGGESTION_LIMITS = {
  /** Pending suggestions of one document. */
  pending: 100,
  /** Pending suggestions of one author in a document, and of a room. */
  pendingOfAuthor: 20,
  pendingInRoom: 500,
  /** Reviewed suggestions of one document that are kept. */
  reviewed: 200,
  titleLength: 255,
  commentLength: 10_000,
  /** Parts of a review that are kept, and the characters of each text and name in them. */
  keptParts: 200,
  keptText: 500,
  /** Bytes of all kept parts as JSON. */
  keptBytes: 64 * 1024,
} as const;

/** The names that begin so belong to the forks of suggestions. */
const FORK_PREFIX = "~suggestions/";

/** The name of the document that a suggestion's author writes into. */
export const forkNameOf = (suggestionId: string): string => FORK_PREFIX + suggestionId;

/** The suggestion whose fork has this name; null for a document of any other name. */
export const suggestionIn = (document: string): string | null =>
  document.startsWith(FORK_PREFIX) ? document.slice(FORK_PREFIX.length) : null;
