/** The dock: opens the panels beside the board, one at a time; each is loaded when it is opened. */
import { useComments } from "atrium/react";
import { useRef, useState } from "react";
import { useLoaded } from "./loaded.ts";
import { type CommentsProps, type PanelProps, threadsOf } from "./threads.ts";

/** The icons are lines in a square of 20 units. */
const PANELS = [
  { label: "Comments", icon: "M4 4h12v9H9l-4 3v-3H4z", load: () => import("./comments.tsx") },
  {
    label: "History",
    icon: "M4 10a6 6 0 1 1 2 4.5M3 7l1 3 3-1M10 7v3.5l2.5 1.5",
    load: () => import("./history.tsx"),
  },
  { label: "Network", icon: "M3 7h13l-3-3M17 13H4l3 3", load: () => import("./network.tsx") },
];

export default function Dock(props: CommentsProps) {
  const [open, setOpen] = useState("");
  const [Panel, load] = useLoaded<PanelProps>();
  const [comments] = useComments();
  const buttons = useRef<HTMLElement>(null);
  const unresolved = threadsOf(comments).filter(({ resolved }) => !resolved).length;
  const toggle = async (panel: (typeof PANELS)[number] | null) => {
    const next = panel?.label === open ? null : panel;
    await load(next?.load());
    setOpen(next?.label ?? "");
  };
  const close = () => {
    buttons.current?.querySelector<HTMLElement>("[aria-expanded=true]")?.focus();
    void toggle(null);
  };
  return (
    <>
      <section ref={buttons} className="dock" aria-label="Panels">
        {PANELS.map((panel) => {
          const { label, icon } = panel;
          const count = label === "Comments" ? unresolved : 0;
          return (
            <button
              key={label}
              type="button"
              title={label}
              aria-label={label}
              aria-description={count > 0 ? `${count} open` : ""}
              aria-expanded={open === label}
              onClick={() => toggle(panel)}
            >
              <svg viewBox="0 0 20 20" aria-hidden="true">
                <path d={icon} />
              </svg>
              {count > 0 && <span aria-hidden="true">{count}</span>}
            </button>
          );
        })}
      </section>
      {Panel && <Panel key={open} close={close} {...props} />}
    </>
  );
}
