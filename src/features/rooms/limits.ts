/** Keeps creations in D1 within the limits of one room, in the very batch that creates. The live room keeps its content within the others. */

import { type AppError, notFound } from "@atrium/contract/errors.ts";
import { parseLimits, roomLimitExceeded } from "@atrium/contract/resources/room-limits.ts";
import { type Tenant, violatedConstraint } from "../../platform/d1/d1.ts";
import { findRoomRow } from "./queries.ts";
import { requireWithinLimit, roomLimitViolated } from "./statements.ts";
import { type CountedLimit, ROOM_COUNTERS, type RoomRow } from "./table.ts";

/** The refusal of `growth` more than the room has; null if its own limit allows that. */
export function refusalInRoom(
  room: Pick<RoomRow, "limits" | (typeof ROOM_COUNTERS)[CountedLimit]>,
  limit: CountedLimit,
  growth: number,
): AppError | null {
  const used = room[ROOM_COUNTERS[limit]];
  const max = parseLimits(room.limits)[limit] ?? Number.POSITIVE_INFINITY;
  return used + growth > max ? roomLimitExceeded(limit, used, max) : null;
}

/**
 * Guards a limit of the room against a batch that creates. `statement` belongs into that batch, behind the statement that
 * creates, or before it with the `growth` to come; `refuse` translates the batch's error.
 */
export const guardRoomLimit = (tenant: Tenant, roomId: string, limit: CountedLimit, growth = 0) => ({
  statement: requireWithinLimit(tenant, roomId, limit, growth),
  refuse: async (error: unknown): Promise<never> => {
    if (violatedConstraint(error) !== roomLimitViolated(limit)) throw error;
    const room = await findRoomRow(tenant, { id: roomId });
    if (room === null) throw notFound("Rooms", "Room");
    const used = room[ROOM_COUNTERS[limit]];
    throw roomLimitExceeded(limit, used, parseLimits(room.limits)[limit] ?? used); // it may have been removed meanwhile
  },
});
