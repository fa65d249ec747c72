/** The demo: a board of one's own, shared with everyone who has its link. */
import { AtriumError } from "atrium/client";
import { AtriumProvider, RoomProvider, useConnection, useUpdateMyPresence } from "atrium/react";
import { type ComponentType, type FormEvent, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { NO_ACCESS } from "../../wire/no-access.ts";
import { Board } from "./canvas/board.tsx";
import Dock from "./panels/dock.tsx";
import { Invitation } from "./panels/invitation.tsx";
import { Participants } from "./panels/participants.tsx";
import { Notices, Strip } from "./panels/strip.tsx";
import type { FocusProps } from "./panels/threads.ts";
import { type Presence, STORES } from "./room/model.ts";
import type { PastBoard } from "./room/things.ts";
import { boardId, CLOSED, forgetVisitor, IS_GUEST, isUnnamed, redeem, visitorToken } from "./room/visitor.ts";

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
  const { error } = useConnection();
  useEffect(() => show({ cursor: null }), [show]); // the service gives everyone with a presence a color
  const isClosed = error !== null && (IS_GUEST || [NO_ACCESS, CLOSED].includes(error.message));
  if (isClosed) return <Closed why={CLOSED} />;
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

/** In place of a board that does not let the visitor in, or not any more. A guest's link can let in another guest. */
function Closed({ why }: { readonly why: string }) {
  useEffect(() => (IS_GUEST ? forgetVisitor() : undefined), []);
  return (
    <main className="closed">
      <h1>Atrium</h1>
      <p role="alert">{why}</p>
      <p>
        <a href="/demo">Open a board of your own</a>
      </p>
    </main>
  );
}

/** Asks a guest for a name before the board is opened. */
function Welcome() {
  const enter = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("name")).trim();
    void open(() => redeem({ name: name || "Guest" }));
  };
  return (
    <main className="closed">
      <h1>Atrium</h1>
      <p>Someone has shared a board with you. Others on it see your name.</p>
      <form onSubmit={enter}>
        <label>
          Your name
          {/* biome-ignore lint/a11y/noAutofocus: it is the only field of the page */}
          <input name="name" autoComplete="nickname" maxLength={60} required autoFocus />
        </label>
        <button type="submit" className="primary">
          Enter the board
        </button>
      </form>
    </main>
  );
}

/** Opens the board with the visitor's first token; who is refused sees why. */
async function open(begin: () => Promise<string>): Promise<void> {
  root.render(
    <header>
      <h1>Atrium</h1>
      <p role="status">Opening a board …</p>
    </header>,
  );
  try {
    await begin();
    root.render(
      <AtriumProvider serverUrl={location.origin} authToken={visitorToken}>
        <RoomProvider roomId={boardId()} stores={STORES}>
          <Page />
        </RoomProvider>
      </AtriumProvider>,
    );
  } catch (error) {
    const why = error instanceof AtriumError ? error.message : `The demo could not be loaded. ${error}`;
    root.render(<Closed why={why} />);
  }
}

const root = createRoot(document.body);
if (isUnnamed()) root.render(<Welcome />);
else await open(visitorToken);
