/** Which shard of an organization's log has a room's events. Pure. */
import { fnv1a } from "../../../platform/crypto/hash.ts";

/**
 * The shards of an organization's log. Fixed, because a room must stay in its shard: another number is another log,
 * which the version in cursors would tell apart.
 */
export const SHARDS = 8;

/** All of a room's events are in this shard, and so in one order. */
export const shardOf = (roomId: string): number => fnv1a(roomId) % SHARDS;
