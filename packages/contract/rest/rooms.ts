/** Bodies and lists of rooms on the wire. The SDK imports these types. */

import * as z from "zod";
import { Room, RoomState } from "../resources/room.ts";
import { RoomLimitsInput } from "../resources/room-limits.ts";
import { CustomId, Name, updateOf } from "../text.ts";
import { momentInput, Timestamp } from "../time.ts";

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
    expiresAt: momentInput().optional().meta({
      description:
        "When the room is deleted with everything in it: within the next 10 years. Absent: when you delete it.",
    }),
    limits: RoomLimitsInput.optional().meta({
      description: "The most that the room may have. Absent: no limits.",
    }),
  })
  .meta({ id: "RoomCreation", example: { name: "Weekly planning", customId: "planning-7" } });
export type RoomCreation = z.infer<typeof RoomCreation>;
export type RoomInput = z.input<typeof RoomCreation>;

export const RoomUpdate = updateOf({
  name: Name.optional(),
  customId: CustomId.nullable().optional().meta({ description: "`null` removes it." }),
  state: RoomState.optional(),
  expiresAt: momentInput().nullable().optional().meta({
    description: "In the future, within the next 10 years. `null` removes it, and the room stays.",
  }),
  limits: RoomLimitsInput.optional().meta({
    description:
      "Limits to set, or with `null` to remove; the others stay. A room above its limit keeps everything.",
  }),
}).meta({ id: "RoomUpdate", example: { state: "closed" } });
export type RoomUpdate = z.infer<typeof RoomUpdate>;
export type RoomUpdateInput = z.input<typeof RoomUpdate>;
