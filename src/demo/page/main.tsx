/** The demo: a board that everybody who opens `/demo` shares. */
import { RoomProvider } from "atrium/react";
import { createRoot } from "react-dom/client";
import { Board } from "./board.tsx";
import { Comments } from "./comments.tsx";
import { STORES } from "./model.ts";
import { Notices, People } from "./users.tsx";

/** Two windows are two people, and a reload is the same one again. `?name=` in the address chooses the name. */
async function becomeVisitor(): Promise<string> {
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
  const authToken = await becomeVisitor();
  root.render(
    <RoomProvider serverUrl={location.origin} authToken={authToken} stores={STORES}>
      <Board />
      <People />
      <Comments />
      <Notices />
    </RoomProvider>,
  );
} catch (error) {
  root.render(<p className="refusal">The demo cannot be opened. {String(error)}</p>);
}
