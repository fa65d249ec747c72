/** What happens in rooms, as webhooks tell it. The service may send more fields: they are let through. */
import type { Room, UserRecord } from "./resources.ts";

interface Common {
  /** The same for every webhook and every attempt: tell repetitions by it. */
  readonly id: string;
  /** When it happened: ISO 8601. */
  readonly timestamp: string;
  /** The room after what happened. */
  readonly room: Room;
}

/** Somebody came online, or went offline with the last of its tabs. */
export interface ParticipantEvent extends Common {
  readonly event: "participant.joined" | "participant.left";
  readonly data: { readonly roomId: string; readonly userId: string; readonly sessionId: string };
  readonly user: UserRecord;
}

/** The first user came into an empty room. */
export interface SessionStartedEvent extends Common {
  readonly event: "session.started";
  readonly data: { readonly roomId: string; readonly sessionId: string };
}

/** The last user left the room. */
export interface SessionClosedEvent extends Common {
  readonly event: "session.closed";
  readonly data: { readonly roomId: string; readonly sessionId: string };
  /** Those who took part. */
  readonly users: readonly UserRecord[];
}

/** A user was created, changed or deleted by your back end. */
export interface UserEvent extends Common {
  readonly event: "user.created" | "user.updated" | "user.deleted";
  readonly data: { readonly roomId: string; readonly userId: string };
  readonly user: UserRecord;
}

/** Any event: `event` tells which. */
export type AtriumEvent = ParticipantEvent | SessionStartedEvent | SessionClosedEvent | UserEvent;
export type EventName = AtriumEvent["event"];
