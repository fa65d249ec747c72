/** The demo: a board shared by everyone who opens `/demo`. */
import { RoomProvider } from "atrium/react";
import { createRoot } from "react-dom/client";
import { Board } from "./board.tsx";
import { Comments } from "./comments.tsx";
import { STORES } from "./model.ts";
import { Notices, Participants } from "./users.tsx";

/** Returns the token of a user per window, which a reload keeps. `?name=` in the URL sets the user's name. */
async function getToken(): Promise<string> {
  const known = sessionStorage.getItem("token");
  if (known !== null) return known;
  const response = await fetch(`/demo/visitors${location.search}`, { method: "POST" });
  const { data, error }: { data: { token: string }; error: Error | null } = await response.json();
  if (error !== null) throw new Error(error.message);
  sessionStorage.setItem("token", data.token);
  return data.token;
}

const root = createRoot(document.body);
try {
  const authToken = await getToken();
  root.render(
    <RoomProvider serverUrl={location.origin} authToken={authToken} stores={STORES}>
      <Board />
      <Participants />
      <Comments />
      <Notices />
    </RoomProvider>,
  );
} catch (error) {
  root.render(<p className="load-error">The demo could not be loaded. {String(error)}</p>);
}
