/** How a room lets in the clients that it has lost all at the same moment. */

/**
 * A room that has lost its users holds their joins for this long, and then reads them together: rooms of a deployment
 * do not all ask the database in the same second. `random` is at least 0 and less than 1.
 */
export const joinsHeldMs = (graceMs: number, random: number): number => graceMs * (0.1 + random / 2);

/**
 * How those who wait are read: together, by one short read after the other. When rooms of a thousand come back, others'
 * requests wait behind no more than that of each.
 */
export const JOIN_READS = { readsAtOnce: 1, waitsPerRead: 50 } as const;
