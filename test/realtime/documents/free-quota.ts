/** What documents need in tests that are neither about their quota nor about the age of their history. */

/** A quota that is never used up. */
const QUOTA = { require: () => undefined, changed: () => undefined };

export const FREE = { quota: QUOTA, trailKeptMs: 30 * 24 * 60 * 60 * 1000 };
