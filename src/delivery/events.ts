/** The events that webhooks and workflows react to, as subscribers are given them. Safe to import from the client SDK. */
import * as z from "zod";
import { presentTime, Timestamp } from "../platform/time.ts";
import { Room } from "../rooms/schema.ts";
import { User } from "../users/schema.ts";

/** What every event has. */
const common = {
  id: z
    .uuid()
    .meta({ description: "The same for every subscriber and attempt: what to tell repetitions by." }),
  timestamp: Timestamp.meta({ description: "When it happened." }),
  room: Room.meta({ description: "The room after what happened." }),
};

const roomId = z.uuid();
const userId = z.uuid();
const user = User.meta({ description: "The user after what happened, without its token." });

/** Somebody came online, or went offline with the last of its tabs; `sessionId` is the user's session. */
export const ParticipantEvent = z.object({
  ...common,
  event: z.enum(["participant.joined", "participant.left"]),
  data: z.object({ roomId, userId, sessionId: z.uuid() }),
  user,
});
export type ParticipantEvent = z.infer<typeof ParticipantEvent>;

/** The first user came into an empty room; `sessionId` is the room's own session, which lasts until it is empty again. */
export const SessionStartedEvent = z.object({
  ...common,
  event: z.literal("session.started"),
  data: z.object({ roomId, sessionId: z.uuid() }),
});
export type SessionStartedEvent = z.infer<typeof SessionStartedEvent>;

/** The last user left the room. */
export const SessionClosedEvent = z.object({
  ...common,
  event: z.literal("session.closed"),
  data: z.object({ roomId, sessionId: z.uuid() }),
  users: z.array(User).meta({
    description: "Those who took part, in the order in which they first came; at most 128 KiB of them.",
  }),
});
export type SessionClosedEvent = z.infer<typeof SessionClosedEvent>;

/** A user was created, changed or deleted over REST. */
export const UserEvent = z.object({
  ...common,
  event: z.enum(["user.created", "user.updated", "user.deleted"]),
  data: z.object({ roomId, userId }),
  user,
});
export type UserEvent = z.infer<typeof UserEvent>;

/** Any event: the body of a webhook, and the first argument of a workflow. */
export const Event = z
  .discriminatedUnion("event", [ParticipantEvent, SessionStartedEvent, SessionClosedEvent, UserEvent])
  .meta({ id: "Event" });
export type Event = z.infer<typeof Event>;

/** An event but for its id and its time, which whoever records it gives it. */
export type EventDraft = WithoutStamp<Event>;
type WithoutStamp<Any> = Any extends unknown ? Omit<Any, "id" | "timestamp"> : never;

/** An event's JSON, in the order of fields in which people read it. */
export function presentEvent(id: string, occurredAt: number, { event, data, ...rest }: EventDraft): string {
  return JSON.stringify({ id, event, timestamp: presentTime(occurredAt), data, ...rest });
}
