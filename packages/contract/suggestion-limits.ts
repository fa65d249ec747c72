/** The limits of suggestions, and the names of their forks. */

export const SUGGESTION_LIMITS = {
  /** Pending suggestions of one document. */
  pending: 100,
  /** Reviewed suggestions of one document that are kept. */
  reviewed: 200,
  titleLength: 255,
  commentLength: 10_000,
  /** Parts of a review that are kept, and the characters of each text in them. */
  keptParts: 200,
  keptText: 500,
} as const;

/** The names that begin so belong to the forks of suggestions. */
const FORK_PREFIX = "~suggestions/";

/** The name of the document that a suggestion's author writes into. */
export const forkNameOf = (suggestionId: string): string => FORK_PREFIX + suggestionId;

/** The suggestion whose fork has this name; null for a document of any other name. */
export const suggestionIn = (document: string): string | null =>
  document.startsWith(FORK_PREFIX) ? document.slice(FORK_PREFIX.length) : null;
