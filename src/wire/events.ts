/** The events as webhooks and workflows receive them. The SDK infers its types from it. */
import * as z from "zod";
import { presentTime } from "../platform/time.ts";
import {
  CommentEvent,
  DocumentEvent,
  DocumentUpdatedEvent,
  FileEvent,
  StoreEvent,
  VersionEvent,
} from "./content-events.ts";
import type { EventCause } from "./event-cause.ts";
import { common, roomId, user, userId } from "./event-fields.ts";
import { Room } from "./room.ts";
import { User } from "./user.ts";

/** A user came online, or went offline with its last connection; `sessionId` is the user's session. */
export const ParticipantEvent = z
  .object({
    ...common,
    event: z.enum(["participant.joined", "participant.left"]),
    data: z.object({ roomId, userId, sessionId: z.uuid() }),
    user,
  })
  .meta({ id: "ParticipantEvent" });
export type ParticipantEvent = z.infer<typeof ParticipantEvent>;

/** The first user joined an empty room; `sessionId` is the room's occupancy period, which lasts until it is empty again. */
export const SessionStartedEvent = z
  .object({
    ...common,
    event: z.literal("session.started"),
    data: z.object({ roomId, sessionId: z.uuid() }),
  })
  .meta({ id: "SessionStartedEvent" });
export type SessionStartedEvent = z.infer<typeof SessionStartedEvent>;

/** The last user left the room. */
export const SessionClosedEvent = z
  .object({
    ...common,
    event: z.literal("session.closed"),
    data: z.object({ roomId, sessionId: z.uuid() }),
    users: z.array(User).meta({
      description:
        "The users who took part, in the order in which they first joined; at most 128 KiB of them.",
    }),
  })
  .meta({ id: "SessionClosedEvent" });
export type SessionClosedEvent = z.infer<typeof SessionClosedEvent>;

/** A room was created; its name or custom ID was changed, or it was reopened; it was closed; or it was deleted. */
export const RoomEvent = z
  .object({
    ...common,
    event: z.enum(["room.created", "room.updated", "room.closed", "room.deleted"]),
    data: z.object({ roomId }),
    room: Room.meta({ description: "The room right after the event; as it was, if it was deleted." }),
  })
  .meta({ id: "RoomEvent" });
export type RoomEvent = z.infer<typeof RoomEvent>;

/** A user was created, changed or deleted over REST. */
export const UserEvent = z
  .object({
    ...common,
    event: z.enum(["user.created", "user.updated", "user.deleted"]),
    data: z.object({ roomId, userId }),
    user,
  })
  .meta({ id: "UserEvent" });
export type UserEvent = z.infer<typeof UserEvent>;

/** Any event: the body of a webhook, and the first argument of a workflow. */
export const Event = z
  .discriminatedUnion("event", [
    ParticipantEvent,
    SessionStartedEvent,
    SessionClosedEvent,
    UserEvent,
    CommentEvent,
    StoreEvent,
    DocumentEvent,
    DocumentUpdatedEvent,
    VersionEvent,
    RoomEvent,
    FileEvent,
  ])
  .meta({ id: "Event" });
export type Event = z.infer<typeof Event>;

/** An event without its id, timestamp and cause, which are added when it is recorded. */
export type EventDraft = WithoutStamp<Event>;
type WithoutStamp<Any> = Any extends unknown ? Omit<Any, "id" | "timestamp" | "depth" | "workflowId"> : never;

/** The event as JSON, its fields in the order in which people read them. */
export function presentEvent(
  id: string,
  occurredAt: number,
  { event, data, ...rest }: EventDraft,
  cause: EventCause | null = null,
): string {
  const origin = cause === null ? {} : { depth: cause.depth, workflowId: cause.workflowId };
  return JSON.stringify({ id, event, timestamp: presentTime(occurredAt), ...origin, data, ...rest });
}
