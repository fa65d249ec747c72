/** The kinds of shared types in documents. Pure. */

/** Readings of a shared type. Updates do not name it. */
export const SHARED_TYPES = ["text", "map", "array", "xml"] as const;
export type SharedType = (typeof SHARED_TYPES)[number];
