/** The demo: a board shared by everyone who opens `/demo`. */
import { RoomProvider } from "atrium/react";
import { createRoot } from "react-dom/client";
import { Board } from "./board.tsx";
import { Comments } from "./comments.tsx";
import { Minutes } from "./minutes.tsx";
import { STORES } from "./model.ts";
import { Notices, Participants } from "./users.tsx";
import { visitorToken } from "./visitor.ts";

const root = createRoot(document.body);
try {
  await visitorToken(); // a visitor who is refused sees why
  root.render(
    <RoomProvider serverUrl={location.origin} authToken={visitorToken} stores={STORES}>
      <Board />
      <Participants />
      <Minutes />
      <Comments />
      <Notices />
    </RoomProvider>,
  );
} catch (error) {
  root.render(<p className="load-error">The demo could not be loaded. {String(error)}</p>);
}
