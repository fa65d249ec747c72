/** The fields that several events have in common. */
import * as z from "zod";
import { Timestamp } from "../platform/time.ts";
import { Room } from "./room.ts";
import { User } from "./user.ts";

/** What every event has. */
export const common = {
  id: z
    .uuid()
    .meta({ description: "The same for every subscriber and attempt; recognize repetitions by it." }),
  timestamp: Timestamp.meta({ description: "When the event happened." }),
  room: Room.meta({ description: "The room right after the event." }),
};

/** What events have that an action of a workflow has caused, and no others. */
export const cause = {
  depth: z.int().min(1).optional().meta({
    description:
      "Only if an action of a workflow has caused the event: 1, or one more than the event of its run had. A workflow does not run on events above 5.",
  }),
  workflowId: z.uuid().optional().meta({ description: "That workflow." }),
};

export const roomId = z.uuid();
export const userId = z.uuid();
export const user = User.meta({ description: "The user right after the event, without its token." });
