/** A room's events as they happen, each as one line. */
import { EVENTS } from "../data/events.ts";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Time } from "../ui/time.tsx";
import { type RoomEvent, useRoomEvents } from "./use-room-events.ts";

export function EventStream({ roomId }: { readonly roomId: string }) {
  const { data, error } = useRoomEvents(roomId);
  return (
    <section aria-labelledby="event-stream">
      <h2 id="event-stream">Events of the last hour</h2>
      <ErrorMessage error={error} />
      {data?.events.length === 0 && <p className="soft">Nothing has happened.</p>}
      {data !== undefined && data.events.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <section className="scroll stream" tabIndex={0} aria-label="Stream of events">
          <ol>
            {data.events.map((event) => (
              <li key={event.id}>
                <Time at={event.timestamp} />
                <code>{event.event}</code>
                <span>{describe(event)}</span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </section>
  );
}

/** What the event is about, or what its name means. */
function describe(event: RoomEvent): string {
  if ("user" in event && event.user !== undefined) return event.user.name;
  if ("comment" in event) return event.comment.text;
  if ("file" in event) return event.file.filename;
  if (event.event === "store.changed") return event.data.store;
  return EVENTS[event.event];
}
