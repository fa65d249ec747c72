/** An event of the log as a line of a room's stream. */
import { EVENTS } from "../data/events.ts";
import type { StreamItem } from "./stream.ts";
import type { RoomEvent } from "./use-room-events.ts";

export const itemOfEvent = (event: RoomEvent): StreamItem => ({
  id: event.id,
  at: event.timestamp,
  name: event.event,
  about: describe(event),
});

/** What the event is about, or what its name means. */
function describe(event: RoomEvent): string {
  if ("user" in event && event.user !== undefined) return event.user.name;
  if ("comment" in event) return event.comment.text;
  if ("file" in event) return event.file.filename;
  if (event.event === "store.changed") return event.data.store;
  return EVENTS[event.event];
}
