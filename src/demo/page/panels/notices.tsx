/** Notices about the connection and about failed actions. */
import { useConnection } from "atrium/react";
import { useEffect, useState } from "react";
import { boardLink, forgetVisitor } from "../room/visitor.ts";

export function Notices() {
  const { state, error } = useConnection();
  const [failed, setFailed] = useState<Error | null>(null);
  useEffect(() => {
    window.onunhandledrejection = ({ reason }) => setFailed(reason);
  }, []);
  return (
    <div className="notices" role="status">
      {state.endsWith("connecting") && <p className="pill">Connecting… Your changes will be sent.</p>}
      {error && (
        <a className="pill" href={boardLink()} onClick={forgetVisitor}>
          {error.message} <b>Reload</b>
        </a>
      )}
      {failed && (
        <button type="button" className="pill" onClick={() => setFailed(null)}>
          {failed.message} <b>Close</b>
        </button>
      )}
    </div>
  );
}
