/** An event of the log as a line of a room's stream. */
import { EVENTS } from "../data/events.ts";
import type { StreamItem } from "./stream.ts";
import type { RoomEvent } from "./use-room-events.ts";

/** What pages see of documents themselves, and the log has only while a webhook or a workflow listens. */
const SEEN_ANYWAY: ReadonlySet<string> = new Set([
  "document.created",
  "document.updated",
  "document.deleted",
]);

/** Whether a page that has been open since a time (ISO 8601) shows it without the log. */
export const isSeenAnyway = ({ event, timestamp }: RoomEvent, since: string): boolean =>
  SEEN_ANYWAY.has(event) && timestamp >= since;

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
  if (event.event === "version.created") return `${event.data.document}: ${event.data.name ?? "unnamed"}`;
  if ("document" in event.data) return event.data.document;
  return EVENTS[event.event];
}
