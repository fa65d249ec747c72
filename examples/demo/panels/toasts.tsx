/** Toasts: what has changed for this visitor, and what has failed. */
import { useConnection } from "atrium/react";
import { useEffect, useRef, useState } from "react";
import { useLevel } from "../room/participants.ts";
import { forgetVisitor } from "../room/visitor.ts";

const CHANGES = {
  edit: "You can now edit this board.",
  comment: "You can now only comment.",
  view: "You can now only view this board.",
};

/** Says how the visitor's access has changed while the board is open. */
function AccessToast() {
  const level = useLevel();
  const before = useRef(level);
  const [change, setChange] = useState<keyof typeof CHANGES | null>(null);
  useEffect(() => {
    if (level !== null && before.current !== null && level !== before.current) setChange(level);
    before.current = level ?? before.current;
  }, [level]);
  if (change === null) return null;
  return (
    <button type="button" className="pill" onClick={() => setChange(null)}>
      {CHANGES[change]} <b>Close</b>
    </button>
  );
}

function beginAgain(): void {
  forgetVisitor();
  location.reload();
}

export function Toasts() {
  const { error } = useConnection();
  const [failed, setFailed] = useState<Error | null>(null);
  useEffect(() => {
    window.onunhandledrejection = ({ reason }) => setFailed(reason);
  }, []);
  return (
    <div role="status">
      <AccessToast />
      {error && (
        <button type="button" className="pill" onClick={beginAgain}>
          {error.message} <b>Reload</b>
        </button>
      )}
      {failed && (
        <button type="button" className="pill" onClick={() => setFailed(null)}>
          {failed.message} <b>Close</b>
        </button>
      )}
    </div>
  );
}
