/** Keeps the room's content within the limits that the room has of its own. */
import {
  type OwnLimits,
  type RoomLimitName,
  roomLimitExceeded,
} from "@atrium/contract/resources/room-limits.ts";

/** The storage of a room whose row has these limits. */
export interface LimitedStorage {
  readonly occupancy: { readonly limits: OwnLimits };
}

/** A part of the room is to have `after` instead of `before` bytes. FORBIDDEN when it would grow above its limit. */
export function requireWithinLimit(
  { occupancy }: LimitedStorage,
  limit: RoomLimitName,
  before: number,
  after: number,
): void {
  if (after <= before) return;
  const max = occupancy.limits[limit];
  if (max !== undefined && after > max) throw roomLimitExceeded(limit, before, max);
}
