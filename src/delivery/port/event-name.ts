/** The names of the events that subscribers can receive. */
import * as z from "zod";

/** The seven events (spec section 6). */
export const EventName = z
  .enum([
    "participant.joined",
    "participant.left",
    "session.started",
    "session.closed",
    "user.created",
    "user.updated",
    "user.deleted",
  ])
  .meta({ id: "EventName" });
export type EventName = z.infer<typeof EventName>;
