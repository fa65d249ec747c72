/** A button with a menu, by the pattern of WAI-ARIA: arrow keys and first letters move, Escape and Tab close. */
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Icon } from "./button.tsx";

const GAP_PX = 4;

interface DropMenuProps {
  /** The accessible name of the button. */
  readonly label: string;
  readonly className: string;
  /** The content of the button. */
  readonly face: ReactNode;
  /** The items, rendered while the menu is open. */
  readonly children: ReactNode;
}

/** The menu is rendered next to the button, so that screen readers find it in the same landmark. */
export function DropMenu({ label, className, face, children }: DropMenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        ref={button}
        className={className}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        popoverTarget={id}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          menu.current?.showPopover();
        }}
      >
        {face}
      </button>
      <div
        ref={menu}
        id={id}
        className="menu"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        popover="auto"
        onBeforeToggle={({ newState, currentTarget }) => {
          if (newState === "closed" || button.current === null) return;
          // The browser shows the menu right after this: its items and its place are there by then.
          flushSync(() => setOpen(true));
          place(currentTarget, button.current.getBoundingClientRect());
        }}
        onToggle={({ newState, currentTarget }) => {
          if (newState === "open") moveIn(currentTarget, "Home");
          else setOpen(false);
        }}
        onClick={({ currentTarget }) => currentTarget.hidePopover()}
        onKeyDown={onKeyDown}
      >
        {isOpen && children}
      </div>
    </>
  );
}

/** Puts the menu below or above its button, on the side where the window has more room. */
function place({ style }: HTMLElement, { top, bottom, left, right }: DOMRect): void {
  const isBelow = top + bottom < innerHeight;
  const isStart = left + right < innerWidth;
  style.top = isBelow ? `${bottom + GAP_PX}px` : "auto";
  style.bottom = isBelow ? "auto" : `${innerHeight - top + GAP_PX}px`;
  style.left = isStart ? `${left}px` : "auto";
  style.right = isStart ? "auto" : `${document.documentElement.clientWidth - right}px`;
}

function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
  const { key, currentTarget, ctrlKey, metaKey, altKey } = event;
  if (key === "Tab") currentTarget.hidePopover();
  else if (!ctrlKey && !metaKey && !altKey && moveIn(currentTarget, key)) event.preventDefault();
}

/** Focuses the item that a key leads to; false for another key. */
function moveIn(menu: HTMLElement, key: string): boolean {
  const items = [...menu.querySelectorAll<HTMLElement>("[role^=menuitem]")];
  const at = items.findIndex((item) => item.matches(":focus"));
  const places: Readonly<Record<string, number>> = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (Math.max(at, 0) + items.length - 1) % items.length,
    Home: 0,
    End: items.length - 1,
  };
  const following = [...items.slice(at + 1), ...items];
  const named = following.find(({ textContent }) => textContent.toLowerCase().startsWith(key.toLowerCase()));
  const next = items[places[key] ?? -1] ?? (key.trim().length === 1 ? named : undefined);
  next?.focus();
  return next !== undefined;
}

interface MenuItemProps {
  readonly onSelect: () => void;
  /** Set for one of several items of which one is chosen. */
  readonly isChecked?: boolean;
  readonly isDanger?: boolean;
  readonly children: ReactNode;
}

/** An item of a menu, which closes with it. */
export const MenuItem = ({ onSelect, isChecked, isDanger = false, children }: MenuItemProps) => (
  <button
    type="button"
    role="menuitem"
    {...(isChecked !== undefined && { role: "menuitemradio", "aria-checked": isChecked })}
    tabIndex={-1}
    className={isDanger ? "bad-text" : undefined}
    onClick={onSelect}
  >
    {children}
    {isChecked && <Icon name="check" />}
  </button>
);

/** The further actions of a page, beside its one primary button. */
export const MoreMenu = ({ children }: Pick<DropMenuProps, "children">) => (
  <DropMenu label="More actions" className="button plain" face={<Icon name="more" />}>
    {children}
  </DropMenu>
);
