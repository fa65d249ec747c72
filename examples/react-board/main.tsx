/** Joins the room as the user whom `POST /token` creates for this window, and shows the board. */
import { RoomProvider } from "atrium/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Board } from "./board.tsx";
import { STORES } from "./notes.ts";

const root = document.querySelector("#root") ?? document.body;
const response = await fetch("/token", { method: "POST" });
if (!response.ok) root.textContent = await response.text();
else {
  const { serverUrl, token }: { serverUrl: string; token: string } = await response.json();
  createRoot(root).render(
    <StrictMode>
      <RoomProvider serverUrl={serverUrl} authToken={token} stores={STORES}>
        <Board />
      </RoomProvider>
    </StrictMode>,
  );
}
