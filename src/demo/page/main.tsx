/** The demo: a board of one's own, shared with everyone who has its link. */
import { RoomProvider, useUpdateMyPresence } from "atrium/react";
import { type ComponentType, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { Board } from "./canvas/board.tsx";
import Dock from "./panels/dock.tsx";
import { Invitation } from "./panels/invitation.tsx";
import { Participants } from "./panels/participants.tsx";
import { Notices, Strip } from "./panels/strip.tsx";
import type { FocusProps } from "./panels/threads.ts";
import { type Presence, STORES } from "./room/model.ts";
import type { PastBoard } from "./room/things.ts";
import { visitorToken } from "./room/visitor.ts";

/** Comments are loaded when the page has been drawn, and other panels when they are opened. */
function usePins(): ComponentType<FocusProps> | undefined {
  const [loaded, setLoaded] = useState<typeof import("./panels/pins.tsx")>();
  useEffect(() => {
    void import("./panels/pins.tsx").then(setLoaded, () => {
      throw new Error("The comments could not be loaded. Reload the page when you are online.");
    });
  }, []);
  return loaded?.default;
}

function Page() {
  const [past, setPast] = useState<PastBoard | null>(null);
  const [focus, setFocus] = useState<FocusProps["focus"]>(null);
  const Pins = usePins();
  const show = useUpdateMyPresence<Presence>();
  useEffect(() => show({ cursor: null }), [show]); // the service gives everyone with a presence a color
  return (
    <>
      <Board past={past}>{Pins && <Pins focus={focus} setFocus={setFocus} />}</Board>
      <Participants />
      <Dock {...{ focus, setFocus, setPast }} />
      <Strip />
      <div className="notices">
        <Invitation />
        <Notices />
      </div>
    </>
  );
}

const root = createRoot(document.body);
root.render(
  <header>
    <h1>Atrium</h1>
    <p role="status">Opening a board …</p>
  </header>,
);
try {
  await visitorToken(); // a visitor who is refused sees why
  root.render(
    <RoomProvider serverUrl={location.origin} authToken={visitorToken} stores={STORES}>
      <Page />
    </RoomProvider>,
  );
} catch (error) {
  root.render(<p className="load-error">The demo could not be loaded. {String(error)}</p>);
}
