/** A page of the package's components, as an application has it. Its address has the service and, after `#`, the token. */
import { RoomProvider, useComments } from "atrium/react";
import { AvatarStack, Composer, ConnectionStatus, Cursors, Thread } from "atrium/react-ui";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

function Threads() {
  const [comments] = useComments();
  return comments
    .filter(({ id, thread_id }) => id === thread_id)
    .map(({ id }) => <Thread key={id} threadId={id} />);
}

const serverUrl = new URLSearchParams(location.search).get("service") ?? "";

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <RoomProvider serverUrl={serverUrl} authToken={location.hash.slice(1)}>
      <Cursors>
        <main>
          <h1>Weekly planning</h1>
          <div className="people">
            <AvatarStack max={3} />
            <ConnectionStatus />
          </div>
          <Threads />
          <Composer />
        </main>
      </Cursors>
    </RoomProvider>
  </StrictMode>,
);
