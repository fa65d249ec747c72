/** How a room lets in the clients that it has lost all at the same moment, and how late it refuses those of a flood. */

/**
 * A room that has lost its users holds their joins for this long, and then reads them together: rooms of a deployment
 * do not all ask the database in the same second. `random` is at least 0 and less than 1.
 */
export const joinsHeldMs = (graceMs: number, random: number): number => graceMs * (0.1 + random / 2);

/**
 * A join that comes too soon waits for its refusal: each attempt is a handshake, which costs more than all that follows.
 * All sockets of a flood come back at once, and are refused one after the other. `random` is at least 0 and less than 1.
 */
export const joinRefusedAfterMs = (random: number): number => 2_000 + 2_000 * random;

/**
 * How those who wait are read: together, by one short read after the other. When rooms of a thousand come back, others'
 * requests wait behind no more than that of each.
 */
export const JOIN_READS = { waitsPerRead: 50 } as const;
