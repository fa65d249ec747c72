/** The quota of documents in tests that are not about it. */

/** A quota that is never used up. */
export const FREE = { require: () => undefined, changed: () => undefined };
