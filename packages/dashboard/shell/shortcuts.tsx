/** The pages of an organization, and the keyboard shortcuts, with the dialog that lists them and turns them off. */
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { Button, type IconName } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Choice } from "../ui/fields.tsx";
import { pressOnPage } from "../ui/keys.ts";

interface NavigationItem {
  readonly name: string;
  /** The path below the organization's. */
  readonly path: string;
  readonly icon: IconName;
  /** The shortcut's letter after `g`. */
  readonly letter: string;
}

export const NAVIGATION_ITEMS: readonly NavigationItem[] = [
  { name: "Overview", path: "", icon: "overview", letter: "o" },
  { name: "Rooms", path: "/rooms", icon: "rooms", letter: "r" },
  { name: "People", path: "/people", icon: "people", letter: "p" },
  { name: "Files", path: "/files", icon: "file", letter: "f" },
  { name: "Webhooks", path: "/webhooks", icon: "webhooks", letter: "h" },
  { name: "Workflows", path: "/workflows", icon: "workflows", letter: "w" },
  { name: "Logs", path: "/logs", icon: "logs", letter: "l" },
  { name: "Settings", path: "/settings", icon: "settings", letter: "s" },
];

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.shadowRoot !== null ||
    target.matches("input:not([type=checkbox]), textarea, select") ||
    target.closest("[role=dialog], [role=alertdialog], [role=menu]") !== null);

/** The time in which a letter may follow `g`. */
const CHORD_MS = 1500;

const KEYS: readonly (readonly [string, string])[] = [
  ["Ctrl K", "Search pages, rooms, people and files"],
  ["?", "Show keyboard shortcuts"],
  ["/", "Search the list"],
  ["n", "Create"],
  ...NAVIGATION_ITEMS.map(({ name, letter }) => [`g ${letter}`, `Go to ${name}`] as const),
  ["j", "Go to the next row of a list"],
  ["k", "Go to the row before"],
  ["Enter", "Open the row"],
  ["x", "Select the row"],
  ["Shift ↓", "Select rows of a list, from a box on"],
  ["Ctrl S", "Save workflow"],
];

/** The entry of `localStorage` that says that single keys are off. */
const KEY = "single-key-shortcuts";

export function Shortcuts() {
  const [isOpen, setOpen] = useState(false);
  const [areOn, setOn] = useState(() => localStorage.getItem(KEY) !== "off");
  const [, go] = useLocation();
  const switchTo = (on: boolean) => {
    localStorage.setItem(KEY, on ? "on" : "off");
    setOn(on);
  };
  useEffect(() => {
    let leaderAt = Number.NEGATIVE_INFINITY;
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, timeStamp } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (!areOn || isTyping(event)) return;
      // Compares times of pressing: a busy page handles a key late.
      const isChord = timeStamp - leaderAt < CHORD_MS;
      leaderAt = key === "g" && !isChord ? timeStamp : Number.NEGATIVE_INFINITY;
      const place = isChord ? NAVIGATION_ITEMS.find(({ letter }) => letter === key) : undefined;
      if (place !== undefined) go(place.path);
      else if (key === "?") setOpen(true);
      else if (key !== "g" && !pressOnPage(key)) return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [areOn, go]);
  return (
    <>
      <Button variant="quiet" icon="help" aria-label="Keyboard shortcuts" onClick={() => setOpen(true)} />
      <Dialog title="Keyboard shortcuts" isOpen={isOpen} onClose={() => setOpen(false)}>
        <dl className="keys">
          {KEYS.map(([keys, action]) => (
            <div key={keys}>
              <dt>
                {keys.split(" ").map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{action}</dd>
            </div>
          ))}
        </dl>
        <Choice isOn={areOn} onChange={switchTo}>
          Single-key shortcuts
        </Choice>
      </Dialog>
    </>
  );
}
