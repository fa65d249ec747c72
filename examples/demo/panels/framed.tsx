/** A window of the front page: the board alone, with helpers in one of the two. It reports to the page whether it shows. */
import { useConnection, useSelf } from "atrium/react";
import { useEffect } from "react";
import { Board } from "../canvas/board.tsx";
import { useHelpers } from "../helpers/helpers.ts";
import { useOwnColor } from "../room/participants.ts";
import { report } from "../room/visitor.ts";

document.documentElement.classList.add("framed");

const PREFERS_STILLNESS = matchMedia("(prefers-reduced-motion: reduce)").matches;

export default function Framed() {
  const hasJoined = useSelf() !== null;
  const { error } = useConnection();
  useOwnColor();
  useHelpers(!PREFERS_STILLNESS);
  useEffect(() => {
    if (error) report("closed");
    else if (hasJoined) report("shown");
  }, [error, hasJoined]);
  return <Board comment={null}>{null}</Board>;
}
