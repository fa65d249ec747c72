/** What documents need in tests that are neither about their quota, the age of their history nor their events. */

/** A quota that is never used up. */
const QUOTA = { require: () => undefined, changed: () => undefined };

/** No one listens to what happens. */
const EVENTS = { created: () => {}, updated: () => {}, deleted: () => {}, versionCreated: () => {} };

export const FREE = { quota: QUOTA, events: EVENTS, trailKeptMs: 30 * 24 * 60 * 60 * 1000 };
