/** The events that webhooks and workflows react to, and what each means. */
import type { EventName } from "atrium/server";

export const EVENTS: Readonly<Record<EventName, string>> = {
  "participant.joined": "A user came online",
  "participant.left": "A user went offline",
  "session.started": "The first user came into a room",
  "session.closed": "The last user left a room",
  "user.created": "A user was added",
  "user.updated": "A user was changed",
  "user.deleted": "A user was removed",
};

export const isEventName = (name: string): name is EventName => Object.hasOwn(EVENTS, name);
export const EVENT_NAMES = Object.keys(EVENTS).filter(isEventName);
