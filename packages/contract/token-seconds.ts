/** Lifetimes of tokens, in seconds. Pure. */

/**
 * Lifetimes of users' tokens. A lasting token has the longest: from its user's creation, or from the end of
 * earlier tokens.
 */
export const TOKEN_LIFETIME_SECONDS = { min: 60, max: 90 * 24 * 60 * 60 };

/** The lifetimes of identities' tokens. */
export const IDENTITY_TOKEN_SECONDS = { min: 60, usual: 15 * 60, max: 24 * 60 * 60 };
