/** The first text that a visitor reads: the board is live, and how to see it from a second side. */
import { useOthers, useSelf } from "atrium/react";
import { useEffect, useRef, useState } from "react";
import { isHelper } from "../helpers/helpers.ts";
import { boardLink } from "../room/visitor.ts";

const WINDOW = "noopener,width=900,height=760";

/** Leaves when it is closed, and when another person has come. */
export function Invitation() {
  const people = useOthers((others) => others.filter(({ user }) => !isHelper(user)).length);
  const helpers = useOthers((others) => others.filter(({ user }) => isHelper(user)).length);
  const hasJoined = useSelf() !== null;
  const [isClosed, setClosed] = useState(false);
  const before = useRef(Number.POSITIVE_INFINITY);
  useEffect(() => {
    if (!hasJoined) return;
    if (people > before.current) setClosed(true);
    before.current = people;
  }, [people, hasJoined]);
  if (isClosed || !hasJoined) return null;
  const company = helpers > 0 ? `You and ${helpers} helpers are here, live.` : "This board is live.";
  return (
    <section className="invitation" aria-label="Invitation">
      <p>{people > 0 ? `${people + 1} people are here, live.` : company}</p>
      <button
        type="button"
        className="button primary"
        onClick={() => window.open(boardLink(), "_blank", WINDOW)}
      >
        Open a second window
      </button>
      <button
        type="button"
        className="close"
        aria-label="Close the invitation"
        onClick={() => setClosed(true)}
      >
        ×
      </button>
    </section>
  );
}
