/** Bodies and lists of rooms on the wire. The SDK imports these types. */
import * as z from "zod";
import { CustomId, Name, updateOf } from "../../platform/text.ts";
import { presentTime, Timestamp } from "../../platform/time.ts";
import { presentRoom, Room, RoomState } from "../../wire/room.ts";
import { type RoomRow, STILL_ACTIVE } from "./table.ts";

export const ListedRoom = Room.extend({
  last_active_at: Timestamp.optional().meta({
    description: "When users were last online: now, if they are. Absent before the first join.",
  }),
}).meta({ id: "ListedRoom" });
export type ListedRoom = z.infer<typeof ListedRoom>;

export const RoomCreation = z
  .strictObject({
    name: Name,
    customId: CustomId.optional().meta({ description: "Unique in the organization." }),
  })
  .meta({ id: "RoomCreation", example: { name: "Weekly planning", customId: "planning-7" } });
export type RoomCreation = z.infer<typeof RoomCreation>;
export type RoomInput = z.input<typeof RoomCreation>;

export const RoomUpdate = updateOf({
  name: Name.optional(),
  customId: CustomId.nullable().optional().meta({ description: "`null` removes it." }),
  state: RoomState.optional(),
}).meta({ id: "RoomUpdate", example: { state: "closed" } });
export type RoomUpdate = z.infer<typeof RoomUpdate>;
export type RoomUpdateInput = z.input<typeof RoomUpdate>;

export function presentListedRoom(row: RoomRow, now: number): ListedRoom {
  const room = presentRoom(row, now);
  if (row.lastActiveAt === 0) return room;
  const activeAt = row.lastActiveAt >= STILL_ACTIVE ? now : row.lastActiveAt;
  return { ...room, last_active_at: presentTime(activeAt) };
}
