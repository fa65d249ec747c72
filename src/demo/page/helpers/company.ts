/** Keeps a lone visitor company: lets the helpers join the board, with connections of their own, and leave it. */
import { AtriumClient, type User } from "atrium/client";
import { useOthers, useSelf } from "atrium/react";
import { useEffect, useState } from "react";
import { STORES } from "../room/model.ts";
import { visitorToken } from "../room/visitor.ts";
import { Helper, type HelperClient, type Role } from "./helper.ts";

/** A page that no one has used for so long is not watched. */
const IDLE_MS = 3 * 60 * 1000;

const at = (x: number, y: number) => ({ x, y });

/** Beside the first notes on a wide screen, below and above them on a high one. */
const rolesFor = (isWide: boolean): readonly Role[] => [
  {
    lines: ["Picnic on Saturday?", "Who brings a blanket?", "Lake or park?"],
    places: isWide ? [at(345, -150), at(348, 120)] : [at(-310, 250)],
    sketches: isWide ? [at(440, 70), at(60, 255)] : [at(200, 310), at(0, -300)],
  },
  {
    lines: ["I bring lemonade.", "The lake! It has shade.", "And if it rains?"],
    places: isWide ? [at(-536, -130), at(-536, 90)] : [at(-80, 260)],
    sketches: isWide ? [at(-120, 255), at(240, 255)] : [at(-200, -300), at(60, 480)],
  },
];

/** Helpers have custom IDs, and visitors have none. */
export const isHelper = ({ custom_id }: User): boolean => custom_id !== undefined;

/** Whether the page is visible, and was used lately. */
function useIsWatched(): boolean {
  const [isWatched, setWatched] = useState(!document.hidden);
  useEffect(() => {
    let idle = 0;
    const look = () => {
      clearTimeout(idle);
      setWatched(!document.hidden);
      if (!document.hidden) idle = window.setTimeout(() => setWatched(false), IDLE_MS);
    };
    const signs = ["visibilitychange", "pointermove", "pointerdown", "keydown"];
    for (const sign of signs) document.addEventListener(sign, look);
    look();
    return () => {
      clearTimeout(idle);
      for (const sign of signs) document.removeEventListener(sign, look);
    };
  }, []);
  return isWatched;
}

/**
 * While the visitor is alone and looks, the helpers are there; returns whether. They cost connections, so they leave
 * when another visitor comes, and when no one is watching.
 */
export function useHelpers(isOn: boolean): boolean {
  const isAlone = useOthers((others) => others.every(({ user }) => isHelper(user)));
  const hasJoined = useSelf() !== null;
  const isWatched = useIsWatched();
  const areWanted = isOn && isAlone && hasJoined && isWatched;
  useEffect(() => {
    if (!areWanted) return;
    const leave = new AbortController();
    // Without helpers, the board is as good: the visitor need not know why.
    void admit(leave.signal).catch((error) => leave.signal.aborted || console.info("No helpers:", error));
    return () => leave.abort();
  }, [areWanted]);
  return areWanted;
}

async function admit(signal: AbortSignal): Promise<void> {
  const headers = { Authorization: `Bearer ${await visitorToken()}` };
  const response = await fetch("/demo/helpers", { method: "POST", headers, signal });
  const { data, error }: { data: { tokens: string[] }; error: Error | null } = await response.json();
  if (error !== null) throw new Error(error.message);
  const roles = rolesFor(innerWidth > innerHeight);
  await Promise.all(data.tokens.map((token, index) => play(token, roles[index % roles.length], signal)));
}

async function play(authToken: string, role: Role | undefined, signal: AbortSignal): Promise<void> {
  if (role === undefined || signal.aborted) return;
  const client: HelperClient = new AtriumClient({ serverUrl: location.origin, authToken, stores: STORES });
  try {
    await client.join();
    await new Helper(client, role, signal).run();
  } finally {
    client.presence.update(null);
    await client.leave();
  }
}
