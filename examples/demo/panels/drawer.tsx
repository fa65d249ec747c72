/** How the board works: the messages as they fly, the code of what was just used, and a connection to play with. */
import { ConnectionMonitor, type Message } from "atrium/devtools";
import { isComposing } from "atrium/internal/input-method";
import { useRoom, useStatus } from "atrium/react";
import hljs from "highlight.js/lib/core";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import { useEffect, useMemo, useRef, useState } from "react";
import { STORES } from "../room/model.ts";
import { type Feature, useLatestFeature } from "../ui/used.ts";
import { SNIPPETS } from "./snippets.ts";

hljs.registerLanguage("typescript", typescript);
hljs.registerLanguage("xml", xml); // the tags within TypeScript

export interface DrawerProps {
  readonly areHelpersOn: boolean;
  /** They leave when they are not needed. */
  readonly areHelpersHere: boolean;
  setHelpersOn(areOn: boolean): void;
  close(): void;
}

/** Read so often: messages come in bursts, and no one reads faster. */
const READING_MS = 150;
const SHOWN = 20;

interface Reading {
  readonly messages: readonly Message[];
  readonly latencyMs: number | null;
  /** The writes that the service has not confirmed. */
  readonly waiting: number;
}

/** A monitor of the client's connection while the drawer is open, and what it reads. */
function useMonitor() {
  const { client } = useRoom();
  const [monitor, setMonitor] = useState<ConnectionMonitor | null>(null);
  const [reading, setReading] = useState<Reading>({ messages: [], latencyMs: null, waiting: 0 });
  useEffect(() => {
    const opened = new ConnectionMonitor(client);
    const read = () => {
      const messages = opened.traffic.messages();
      const { latencyMs } = opened;
      const waiting = Object.keys(STORES).reduce(
        (sum, name) => sum + client.store(name).unconfirmed.length,
        0,
      );
      setReading((before) => {
        const isSame =
          before.messages === messages && before.latencyMs === latencyMs && before.waiting === waiting;
        return isSame ? before : { messages, latencyMs, waiting };
      });
    };
    read();
    setMonitor(opened);
    const timer = setInterval(read, READING_MS);
    return () => {
      clearInterval(timer);
      if (opened.isCut) opened.restore(); // a board without the drawer has no other way back
      opened.stop();
    };
  }, [client]);
  return { monitor, ...reading };
}

export default function Drawer({ areHelpersOn, areHelpersHere, setHelpersOn, close }: DrawerProps) {
  const { monitor, messages, latencyMs, waiting } = useMonitor();
  const [isCut, setCut] = useState(false);
  const [wasCut, setWasCut] = useState(false);
  const isConnected = useStatus() === "connected";
  const drawer = useRef<HTMLElement>(null);
  useEffect(() => drawer.current?.focus(), []);
  const toggle = () => {
    if (isCut) monitor?.restore();
    else monitor?.cut();
    setCut(!isCut);
    setWasCut(true);
  };
  return (
    <aside
      ref={drawer}
      className="drawer"
      aria-label="How it works"
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        // What is closed reconnects, which a connection that was cut on purpose does not do by the way.
        if (!isCut && !isComposing(event.nativeEvent)) close();
      }}
    >
      <div className="drawer-head">
        <h2>How it works</h2>
        <button type="button" className={isCut ? "button primary" : "button"} onClick={toggle}>
          {isCut ? "Restore connection" : "Cut my connection"}
        </button>
        <p className="latency">
          {isConnected && latencyMs !== null && `${Math.max(Math.round(latencyMs), 1)} ms`}
        </p>
        {wasCut && <Queue waiting={waiting} isCut={isCut} />}
        <button
          type="button"
          className="button quiet"
          aria-pressed={areHelpersOn}
          title="Two scripts in this page act as users, with connections of their own, while you are alone and look"
          onClick={() => setHelpersOn(!areHelpersOn)}
        >
          Helpers: {areHelpersOn ? (areHelpersHere ? "on" : "away") : "off"}
        </button>
        <button type="button" className="close" aria-label="Close how it works" onClick={close}>
          ×
        </button>
      </div>
      <Wire messages={messages} />
      <Code />
    </aside>
  );
}

/** A square for each write that waits since the connection was cut. */
const Queue = ({ waiting, isCut }: { readonly waiting: number; readonly isCut: boolean }) => (
  <p className="queue">
    {waiting > 0 && (
      <span className="squares" aria-hidden="true">
        {Array.from({ length: Math.min(waiting, SHOWN) }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the squares are alike
          <i key={index} />
        ))}
      </span>
    )}
    {waiting > 0 && `${waiting} unsent`}
    {waiting === 0 && (isCut ? "Nothing unsent yet: change something" : "All sent")}
  </p>
);

/** The kind of a message in a word. */
const KINDS = [
  [/presence/i, "presence"],
  [/store/i, "store"],
  [/comment|thread|mark/i, "comment"],
  [/broadcast|emoji/i, "broadcast"],
  [/follow/i, "follow"],
  [/document/i, "document"],
  [/join|user|room|role/i, "room"],
] as const;

const kindOf = ({ type }: Message): string => KINDS.find(([pattern]) => pattern.test(type))?.[1] ?? type;

const sizeOf = (bytes: number): string => (bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`);

interface Run {
  /** The newest of them. */
  readonly message: Message;
  /** The number of the oldest. */
  first: number;
  count: number;
}

/** Messages of which several come in turn, as two pointers move, are one line each. */
const IN_TURN = 4;

/** Newest first, as they come. */
function runsOf(messages: readonly Message[]): readonly Run[] {
  const runs: Run[] = [];
  for (const message of messages) {
    const same = runs.slice(-IN_TURN).find((run) => run.message.text === message.text);
    if (same) Object.assign(same, { first: message.number, count: same.count + 1 });
    else if (runs.length === SHOWN) break;
    else runs.push({ message, first: message.number, count: 1 });
  }
  return runs;
}

const Wire = ({ messages }: Pick<Reading, "messages">) => (
  <ol className="wire" aria-label="Messages">
    {runsOf(messages).map(({ message, first, count }) => (
      <li key={first} data-sent={message.isSent}>
        <span role="img" aria-label={message.isSent ? "sent" : "received"}>
          {message.isSent ? "↑" : "↓"}
        </span>
        <span>{sizeOf(message.bytes)}</span>
        <b>{kindOf(message)}</b>
        <span>
          {message.text}
          {count > 1 && ` ×${count}`}
        </span>
      </li>
    ))}
  </ol>
);

/** The code of the feature that was used last, until the reader chooses another one. */
function Code() {
  const latest = useLatestFeature();
  const [chosen, setChosen] = useState<Feature | null>(null);
  const [copied, setCopied] = useState("");
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is used next takes the place of what was chosen
  useEffect(() => setChosen(null), [latest]);
  const feature = chosen ?? latest;
  const code = SNIPPETS.find(({ title }) => title === feature)?.code ?? "";
  const html = useMemo(() => hljs.highlight(code, { language: "typescript" }).value, [code]);
  const copy = async () => {
    await navigator.clipboard.writeText(code);
    setCopied(code);
  };
  return (
    <section className="code" aria-label="Code">
      <div className="row">
        <div className="topics">
          {SNIPPETS.map(({ title }) => (
            <button
              key={title}
              type="button"
              aria-pressed={title === feature}
              onClick={() => setChosen(title)}
            >
              {title}
            </button>
          ))}
        </div>
        {/* Browsers offer the clipboard to secure pages only. */}
        {window.isSecureContext && (
          <button type="button" className="button" onClick={copy}>
            {copied === code ? "Copied" : "Copy"}
          </button>
        )}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <pre tabIndex={0}>
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: highlight.js escapes the code, which is this page's own */}
        <code dangerouslySetInnerHTML={{ __html: html }} />
      </pre>
    </section>
  );
}
