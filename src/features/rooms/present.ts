/** Rooms as lists present them. */

import { presentRoom } from "@atrium/contract/resources/room.ts";
import type { ListedRoom } from "@atrium/contract/rest/rooms.ts";
import { presentTime } from "@atrium/contract/time.ts";
import { type RoomRow, STILL_ACTIVE } from "./table.ts";

export function presentListedRoom(row: RoomRow, now: number): ListedRoom {
  const room = presentRoom(row, now);
  if (row.lastActiveAt === 0) return room;
  const activeAt = row.lastActiveAt >= STILL_ACTIVE ? now : row.lastActiveAt;
  return { ...room, last_active_at: presentTime(activeAt) };
}
