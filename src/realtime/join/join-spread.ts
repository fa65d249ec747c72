/** How a room lets in the clients that it has lost all at the same moment. */

/**
 * A room that has lost its users holds their joins for this long, and then reads them together: rooms of a deployment
 * do not all ask the database in the same second. `random` is at least 0 and less than 1.
 */
export const joinsHeldMs = (graceMs: number, random: number): number => graceMs * (0.1 + random / 2);

/** How those who wait are read: by fewer reads at once than the connections that an object may open, and together. */
export const JOIN_READS = { readsAtOnce: 2, waitsPerRead: 100 } as const;
