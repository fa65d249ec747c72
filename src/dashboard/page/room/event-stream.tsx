/** What happens in a room as it happens, each as one line. */
import { useLive } from "../live/live.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Time } from "../ui/time.tsx";
import { useStream } from "./use-stream.ts";

export function EventStream({ roomId }: { readonly roomId: string }) {
  const { items, error } = useStream(roomId);
  const { client } = useLive();
  return (
    <section aria-labelledby="event-stream">
      <h2 id="event-stream">Events of the last hour</h2>
      <ErrorMessage error={error} />
      {client === null && (
        <p className="soft">Watch live to see broadcasts and each write to a store as well.</p>
      )}
      {items?.length === 0 && <p className="soft">Nothing has happened.</p>}
      {items !== undefined && items.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <section className="scroll stream" tabIndex={0} aria-label="Stream of events">
          <ol>
            {items.map(({ id, at, name, about }) => (
              <li key={id}>
                <Time at={at} />
                <code>{name}</code>
                <span>{about}</span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </section>
  );
}
