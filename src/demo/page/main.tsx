/** The demo: a board of one's own, shared with everyone who has its link. */
import { RoomProvider } from "atrium/react";
import { createRoot } from "react-dom/client";
import { Board } from "./canvas/board.tsx";
import { Dock } from "./panels/dock.tsx";
import { Participants } from "./panels/participants.tsx";
import { Notices, Strip } from "./panels/strip.tsx";
import { STORES } from "./room/model.ts";
import { visitorToken } from "./room/visitor.ts";

const root = createRoot(document.body);
try {
  await visitorToken(); // a visitor who is refused sees why
  root.render(
    <RoomProvider serverUrl={location.origin} authToken={visitorToken} stores={STORES}>
      <Board />
      <Participants />
      <Dock />
      <Strip />
      <Notices />
    </RoomProvider>,
  );
} catch (error) {
  root.render(<p className="load-error">The demo could not be loaded. {String(error)}</p>);
}
