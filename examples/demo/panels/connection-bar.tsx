/** The connection: its state, how quick it is, how much comes over it, what happens when it is cut, and toasts about it. */

import type { ConnectionMonitor } from "atrium/devtools";
import { useConnection, useRoom, useStatus } from "atrium/react";
import { ConnectionStatus } from "atrium/react-ui";
import { useEffect, useRef, useState } from "react";
import { useHelpers } from "../helpers/helpers.ts";
import { useLevel } from "../room/participants.ts";
import { forgetVisitor } from "../room/visitor.ts";
import { type Imported, useLoaded } from "./loaded.ts";

/** Read so often; messages are counted between two readings. */
const READING_MS = 1_000;

/** The monitor of the client's connection, loaded after the page is drawn, and its latest metrics. */
function useMonitor() {
  const { client } = useRoom();
  const [monitor, setMonitor] = useState<ConnectionMonitor | null>(null);
  const [metrics, setMetrics] = useState({ latency: "–", received: 0, perReading: 0 });
  useEffect(() => {
    let opened: ConnectionMonitor | undefined;
    const loading = import("atrium/devtools").then(({ ConnectionMonitor }) => {
      opened = new ConnectionMonitor(client);
      setMonitor(opened);
    });
    const reading = setInterval(() => {
      if (opened === undefined) return;
      const { latencyMs, messagesReceived: received } = opened;
      const latency = latencyMs === null ? "–" : String(Math.max(Math.round(latencyMs), 1));
      setMetrics((before) => ({ latency, received, perReading: received - before.received }));
    }, READING_MS);
    return () => {
      clearInterval(reading);
      void loading.then(() => opened?.stop());
    };
  }, [client]);
  return { monitor, ...metrics };
}

/** Visitors who want less motion start the helpers themselves. */
const PREFERS_STILLNESS = matchMedia("(prefers-reduced-motion: reduce)").matches;

export function ConnectionBar() {
  const status = useStatus();
  const { monitor, latency, perReading } = useMonitor();
  const [isCut, setCut] = useState(false);
  const [isOn, setOn] = useState(!PREFERS_STILLNESS);
  const areHere = useHelpers(isOn);
  const toggle = () => {
    if (isCut) monitor?.restore();
    else monitor?.cut();
    setCut(!isCut);
  };
  return (
    <aside className="connection-bar" aria-label="Connection">
      <div>
        <ConnectionStatus />
        {status === "connected" && <p>{`${latency} ms · ${perReading} messages/s`}</p>}
      </div>
      <div>
        <button type="button" className={isCut ? "primary" : ""} onClick={toggle}>
          {isCut ? "Restore connection" : "Cut my connection"}
        </button>
        <DialogButton label="Show the code" load={() => import("./code.tsx")} />
        <button
          type="button"
          aria-pressed={isOn}
          title="Two scripts in this page act as users, with connections of their own, while you are alone and look"
          onClick={() => setOn(!isOn)}
        >
          Helpers: {isOn ? (areHere ? "on" : "away") : "off"}
        </button>
      </div>
    </aside>
  );
}

interface DialogProps {
  readonly label: string;
  readonly className?: string;
  load(): Imported<{ close(): void }>;
}

/** A button with a dialog, which is loaded when it is opened. */
export function DialogButton({ label, className, load }: DialogProps) {
  const [Dialog, show] = useLoaded<{ close(): void }>();
  return (
    <>
      <button type="button" className={className} onClick={() => show(load())}>
        {label}
      </button>
      {Dialog && <Dialog close={() => void show()} />}
    </>
  );
}

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
