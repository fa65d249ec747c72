/** The names of what can happen, as subscribers ask for them (spec section 6). Safe to import from the client SDK. */
import * as z from "zod";

export const EventName = z.enum([
  "participant.joined",
  "participant.left",
  "session.started",
  "session.closed",
  "user.created",
  "user.updated",
  "user.deleted",
]);
export type EventName = z.infer<typeof EventName>;
