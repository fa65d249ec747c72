/** The dock: opens the panels beside the board, one at a time; each is loaded when it is first opened. */
import { useComments } from "atrium/react";
import { type ComponentType, useEffect, useRef, useState } from "react";
import { useTypists } from "../room/participants.ts";
import { type PanelProps, threadsOf } from "./threads.ts";

interface Panel {
  readonly label: string;
  /** The lines of its icon in a square of 20 units. */
  readonly icon: string;
  load(): Promise<{ readonly default: ComponentType<PanelProps> }>;
}

const PANELS = {
  comments: {
    label: "Comments",
    icon: "M4 4h12v9H9l-4 3v-3H4z",
    load: () => import("./comments.tsx"),
  },
  inbox: {
    label: "Notifications",
    icon: "M4 14h12l-1.5-2V9a4.5 4.5 0 0 0-9 0v3zM8.5 16.5h3",
    load: () => import("./inbox.tsx"),
  },
  minutes: {
    label: "Minutes",
    icon: "M5 3h7l3 3v11H5zM12 3v3h3M8 10h4M8 13h4",
    load: () => import("./minutes.tsx"),
  },
  history: {
    label: "History",
    icon: "M4 10a6 6 0 1 1 2 4.5M3 7l1 3 3-1M10 7v3.5l2.5 1.5",
    load: () => import("./history.tsx"),
  },
  network: {
    label: "Network",
    icon: "M3 7h13l-3-3M17 13H4l3 3",
    load: () => import("./network.tsx"),
  },
} satisfies Record<string, Panel>;
type Name = keyof typeof PANELS;
const NAMES = Object.keys(PANELS) as Name[];

export default function Dock(props: Omit<PanelProps, "close">) {
  const [open, setOpen] = useState<{ readonly name: Name; readonly Shown: ComponentType<PanelProps> }>();
  const [comments] = useComments();
  const typists = useTypists("minutes");
  const [unread, setUnread] = useState(0);
  const [Unread, setUnreadCounter] = useState<ComponentType<{ show(unread: number): void }>>();
  useEffect(() => {
    // After the page is drawn; without it, the panel still shows what is unread.
    void PANELS.inbox.load().then(
      (inbox) => setUnreadCounter(() => inbox.Unread),
      () => {},
    );
  }, []);
  const buttons = useRef<HTMLElement>(null);
  const unresolved = threadsOf(comments).filter(({ isResolved }) => !isResolved).length;
  const notes: Readonly<Record<Name, string>> = {
    comments: unresolved === 0 ? "" : `${unresolved} open`,
    inbox: unread === 0 ? "" : `${unread} unread`,
    minutes: typists,
    history: "",
    network: "",
  };
  const counts: Partial<Record<Name, number>> = { comments: unresolved, inbox: unread };
  const toggle = async (name: Name) => {
    if (open?.name === name) return setOpen(undefined);
    const loaded = await PANELS[name].load().catch((cause: unknown) => {
      throw new Error("The panel could not be loaded. Try again when you are online.", { cause });
    });
    setOpen({ name, Shown: loaded.default });
  };
  const close = () => {
    setOpen(undefined);
    buttons.current?.querySelector<HTMLElement>("[aria-expanded=true]")?.focus();
  };
  return (
    <>
      <section ref={buttons} className="dock" aria-label="Panels">
        {NAMES.map((name) => (
          <button
            key={name}
            type="button"
            title={PANELS[name].label}
            aria-label={PANELS[name].label}
            aria-description={notes[name]}
            aria-expanded={open?.name === name}
            onClick={() => toggle(name)}
          >
            <svg viewBox="0 0 20 20" aria-hidden="true">
              <path d={PANELS[name].icon} />
            </svg>
            {notes[name] && <span aria-hidden="true">{counts[name] ?? "…"}</span>}
          </button>
        ))}
      </section>
      {Unread && <Unread show={setUnread} />}
      {open && <open.Shown key={open.name} close={close} {...props} />}
    </>
  );
}
