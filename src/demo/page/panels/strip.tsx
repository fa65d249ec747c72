/** The connection: its state, how quick it is, how much comes over it, what happens when it is cut, and notices about it. */

import type { ConnectionMonitor } from "atrium/devtools";
import { useConnection, useRoom, useStatus } from "atrium/react";
import { ConnectionStatus } from "atrium/react-ui";
import { type ComponentType, useEffect, useRef, useState } from "react";
import { useHelpers } from "../helpers/company.ts";
import { useLevel } from "../room/participants.ts";
import { forgetVisitor } from "../room/visitor.ts";

interface ConnectionMetrics {
  readonly latencyMs: number | null;
  readonly perSecond: number;
}

/** Read so often; messages are counted over the time between two readings. */
const READING_MS = 1_000;

/** The monitor of the client's connection, and its latest metrics. */
function useMonitor(): { monitor: ConnectionMonitor | null } & ConnectionMetrics {
  const { client } = useRoom();
  const [monitor, setMonitor] = useState<ConnectionMonitor | null>(null);
  const [metrics, setMetrics] = useState<ConnectionMetrics>({ latencyMs: null, perSecond: 0 });
  useEffect(() => {
    let stop = () => {};
    const stopped = new AbortController();
    const begin = ({ ConnectionMonitor }: typeof import("atrium/devtools")) => {
      if (!stopped.signal.aborted) stop = read(new ConnectionMonitor(client));
    };
    const read = (opened: ConnectionMonitor) => {
      let [received, readAt] = [0, performance.now()];
      const reading = setInterval(() => {
        const now = performance.now();
        const perSecond = Math.round(((opened.messagesReceived - received) * 1_000) / (now - readAt));
        [received, readAt] = [opened.messagesReceived, now];
        setMetrics({ latencyMs: opened.latencyMs, perSecond });
      }, READING_MS);
      setMonitor(opened);
      return () => {
        clearInterval(reading);
        opened.stop();
      };
    };
    void import("atrium/devtools").then(begin); // after the page is drawn
    return () => {
      stopped.abort();
      stop();
    };
  }, [client]);
  return { monitor, ...metrics };
}

/** Visitors who want less motion start the helpers themselves. */
const PREFERS_STILLNESS = matchMedia("(prefers-reduced-motion: reduce)").matches;

export function Strip() {
  const status = useStatus();
  const { monitor, latencyMs, perSecond } = useMonitor();
  const [isCut, setCut] = useState(false);
  const [isOn, setOn] = useState(!PREFERS_STILLNESS);
  const areHere = useHelpers(isOn);
  const toggle = () => {
    if (isCut) monitor?.restore();
    else monitor?.cut();
    setCut(!isCut);
  };
  const latency = latencyMs === null ? "–" : Math.max(Math.round(latencyMs), 1);
  return (
    <aside className="strip" aria-label="Connection">
      <div>
        <ConnectionStatus />
        {status === "connected" && <p>{`${latency} ms · ${perSecond} messages/s`}</p>}
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
  load(): Promise<{ readonly default: ComponentType<{ close(): void }> }>;
}

/** A button with a dialog, which is loaded when it is first opened. */
export function DialogButton({ label, className, load }: DialogProps) {
  const [Dialog, setDialog] = useState<ComponentType<{ close(): void }> | null>(null);
  const open = async () => {
    const loaded = await load().catch((cause: unknown) => {
      throw new Error("The dialog could not be loaded. Try again when you are online.", { cause });
    });
    setDialog(() => loaded.default);
  };
  return (
    <>
      <button type="button" className={className} onClick={open}>
        {label}
      </button>
      {Dialog && <Dialog close={() => setDialog(null)} />}
    </>
  );
}

const CHANGES = {
  edit: "You can now edit this board.",
  comment: "You can now only comment.",
  view: "You can now only view this board.",
};

/** Says how the visitor's access has changed while the board is open. */
function AccessNotice() {
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

export function Notices() {
  const { error } = useConnection();
  const [failed, setFailed] = useState<Error | null>(null);
  useEffect(() => {
    window.onunhandledrejection = ({ reason }) => setFailed(reason);
  }, []);
  return (
    <div role="status">
      <AccessNotice />
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
