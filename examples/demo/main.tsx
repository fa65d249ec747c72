/** The demo: a board of one's own, shared with everyone who has its link. */

import { NO_ACCESS } from "@atrium/contract/no-access.ts";
import { AtriumError } from "atrium/client";
import { AtriumProvider, RoomProvider, useConnection, useUpdateMyPresence } from "atrium/react";
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { Board } from "./canvas/board.tsx";
import { ConnectionBar, Toasts } from "./panels/connection-bar.tsx";
import Dock from "./panels/dock.tsx";
import { Invitation } from "./panels/invitation.tsx";
import { useLoaded } from "./panels/loaded.ts";
import { Participants } from "./panels/participants.tsx";
import type { CommentsProps } from "./panels/threads.ts";
import { type Presence, STORES } from "./room/model.ts";
import { boardId, visitorToken } from "./room/visitor.ts";

function Page() {
  const [active, setActive] = useState<CommentsProps["active"]>(null);
  const [Pins, load] = useLoaded<CommentsProps>();
  const show = useUpdateMyPresence<Presence>();
  const { error } = useConnection();
  // biome-ignore lint/correctness/useExhaustiveDependencies: comments are loaded once, when the page has been drawn
  useEffect(() => void load(import("./panels/pins.tsx")), []);
  useEffect(() => show({ cursor: null }), [show]); // the service gives everyone with a presence a color
  if (error?.message === NO_ACCESS)
    return <Closed why="You have no access to this board. Ask the person who shared it." />;
  return (
    <>
      <Board>{Pins && <Pins active={active} setActive={setActive} />}</Board>
      <Participants />
      <Dock active={active} setActive={setActive} />
      <ConnectionBar />
      <div className="toasts">
        <Invitation />
        <Toasts />
      </div>
    </>
  );
}

/** In place of a board that does not let the visitor in, or not any more. */
const Closed = ({ why }: { readonly why: string }) => (
  <main className="closed">
    <h1>Atrium</h1>
    <p role="alert">{why}</p>
    <p>
      <a href="/demo">Open a board of your own</a>
    </p>
  </main>
);

const root = createRoot(document.body);
root.render(
  <header>
    <h1>Atrium</h1>
    <p role="status">Opening a board …</p>
  </header>,
);
try {
  await visitorToken();
  root.render(
    <AtriumProvider serverUrl={location.origin} authToken={visitorToken}>
      <RoomProvider roomId={boardId()} stores={STORES}>
        <Page />
      </RoomProvider>
    </AtriumProvider>,
  );
} catch (error) {
  root.render(
    <Closed why={error instanceof AtriumError ? error.message : `The demo could not be loaded. ${error}`} />,
  );
}
