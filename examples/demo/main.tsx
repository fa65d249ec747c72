/** The demo: a board of one's own, shared with everyone who has its link. */

import { NO_ACCESS } from "@atrium/contract/no-access.ts";
import { AtriumError } from "atrium/client";
import { AtriumProvider, RoomProvider, useConnection } from "atrium/react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { Board } from "./canvas/board.tsx";
import { useHelpers } from "./helpers/helpers.ts";
import { Boundary, Closed } from "./panels/closed.tsx";
import Dock from "./panels/dock.tsx";
import type { DrawerProps } from "./panels/drawer.tsx";
import { Following } from "./panels/following.tsx";
import { Invitation } from "./panels/invitation.tsx";
import { useLoaded } from "./panels/loaded.tsx";
import { applyTheme } from "./panels/theme.ts";
import type { CommentsProps } from "./panels/threads.ts";
import { Toasts } from "./panels/toasts.tsx";
import { TopBar } from "./panels/top-bar.tsx";
import { STORES } from "./room/model.ts";
import { useOwnColor } from "./room/participants.ts";
import { boardId, report, seat, visitorToken } from "./room/visitor.ts";
import { Icon } from "./ui/icon.tsx";
import { useNoticed } from "./ui/used.ts";

const Framed = lazy(() => import("./panels/framed.tsx"));

/** Visitors who want less motion start the helpers themselves. */
const PREFERS_STILLNESS = matchMedia("(prefers-reduced-motion: reduce)").matches;

function Page() {
  const [active, setActive] = useState<CommentsProps["active"]>(null);
  const [Pins, load] = useLoaded<CommentsProps>();
  const [Drawer, loadDrawer] = useLoaded<DrawerProps>();
  const [areHelpersOn, setHelpersOn] = useState(!PREFERS_STILLNESS);
  const areHelpersHere = useHelpers(areHelpersOn);
  const [color, setColor] = useOwnColor();
  const { error } = useConnection();
  const how = useRef<HTMLButtonElement>(null);
  const explain = () => void loadDrawer(Drawer ? undefined : import("./panels/drawer.tsx"));
  // biome-ignore lint/correctness/useExhaustiveDependencies: comments are loaded once, when the page has been drawn
  useEffect(() => void load(import("./panels/pins.tsx")), []);
  useNoticed();
  if (error?.message === NO_ACCESS)
    return <Closed why="You have no access to this board. Ask the person who shared it." />;
  return (
    <>
      <Board
        comment={Pins && (() => setActive("placing"))}
        beside={(showAll) => <Dock {...{ showAll, explain, active, setActive }} />}
      >
        {Pins && <Pins active={active} setActive={setActive} />}
      </Board>
      <TopBar color={color} setColor={setColor} />
      <button ref={how} type="button" className="how" aria-expanded={Drawer !== null} onClick={explain}>
        <Icon name="code" /> How it works
      </button>
      {Drawer && (
        <Drawer
          close={() => {
            how.current?.focus();
            void loadDrawer();
          }}
          {...{ areHelpersOn, areHelpersHere, setHelpersOn }}
        />
      )}
      <div className="toasts">
        <Invitation />
        <Following />
        <Toasts />
      </div>
    </>
  );
}

applyTheme();
const root = createRoot(document.body);
root.render(
  <header>
    <div className="board-bar">
      <h1>Atrium</h1>
      <p role="status">Opening a board …</p>
    </div>
  </header>,
);
try {
  await visitorToken();
  root.render(
    <AtriumProvider serverUrl={location.origin} authToken={visitorToken}>
      <RoomProvider roomId={boardId()} stores={STORES}>
        <Boundary>
          {seat === "" ? (
            <Page />
          ) : (
            <Suspense>
              <Framed />
            </Suspense>
          )}
        </Boundary>
      </RoomProvider>
    </AtriumProvider>,
  );
} catch (error) {
  report("closed");
  root.render(
    <Closed why={error instanceof AtriumError ? error.message : `The demo could not be loaded. ${error}`} />,
  );
}
