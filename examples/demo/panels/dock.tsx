/** The panels beside the board, one at a time, each loaded when it is opened; and the menu of what is rarely needed. */
import { useComments } from "atrium/react";
import { useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { hasRoomBeside } from "../canvas/camera.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Popover } from "../ui/popover.tsx";
import { useLoaded } from "./loaded.tsx";
import { THEMES, useTheme } from "./theme.ts";
import { type CommentsProps, type PanelProps, threadsOf } from "./threads.ts";

const PANELS = [
  { label: "Comments", icon: "comments", load: () => import("./comments.tsx") },
  { label: "History", icon: "history", load: () => import("./history.tsx") },
  { label: "Developer tools", icon: "network", load: () => import("./network.tsx") },
] as const;

interface DockProps extends CommentsProps {
  /** Shows the whole board. */
  showAll(): void;
  explain(): void;
}

export default function Dock({ showAll, explain, active, setActive }: DockProps) {
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
    const [first, menu] = buttons.current?.querySelectorAll<HTMLElement>(":scope > button") ?? [];
    menu?.focus();
    if (open === "Comments") first?.focus(); // on a phone, it is in the menu
    void toggle(null);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a card that is opened takes the place of a panel with no room beside it
  useEffect(() => {
    if (active !== null && !hasRoomBeside()) void toggle(null);
  }, [active]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a panel that is opened beside an open card has it shown again
  useEffect(() => {
    if (hasRoomBeside()) setActive((card) => (card === null || card === "placing" ? card : { ...card }));
  }, [open]);
  const count = unresolved > 0 && <span aria-hidden="true">{unresolved}</span>;
  return (
    <section ref={buttons} className="dock" aria-label="Panels">
      <button
        type="button"
        className="wide"
        title="Comments"
        aria-label="Comments"
        aria-description={unresolved > 0 ? `${unresolved} open` : ""}
        aria-expanded={open === "Comments"}
        onClick={() => toggle(PANELS[0])}
      >
        <Icon name="comments" />
        {count}
      </button>
      <Popover label="More" className="menu" face={<Icon name="more" />}>
        {(closeMenu) => {
          const item = (label: string, icon: IconName, act: () => void, isFolded = false) => (
            <button
              key={label}
              type="button"
              className={isFolded ? "folded" : ""}
              onClick={() => {
                closeMenu();
                act();
              }}
            >
              <Icon name={icon} />
              {label}
              {icon === "comments" && count}
            </button>
          );
          return (
            <>
              {PANELS.map((panel, index) =>
                item(panel.label, panel.icon, () => void toggle(panel), index === 0),
              )}
              {item("How it works", "code", explain, true)}
              {item("Show the whole board", "fit", showAll, true)}
              <Themes />
            </>
          );
        }}
      </Popover>
      {Panel && createPortal(<Panel key={open} close={close} {...{ active, setActive }} />, document.body)}
    </section>
  );
}

function Themes() {
  const [theme, choose] = useTheme();
  return (
    <fieldset className="themes">
      <legend>Theme</legend>
      {THEMES.map((each) => (
        <label key={each}>
          <input type="radio" name="theme" checked={each === theme} onChange={() => choose(each)} />
          {each.charAt(0).toUpperCase() + each.slice(1)}
        </label>
      ))}
    </fieldset>
  );
}
