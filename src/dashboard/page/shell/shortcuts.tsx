/** What the keyboard can do: `?` shows it, and here it can be switched off. */
import { Switch } from "@base-ui/react/switch";
import { useCallback, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { switchSingleKeys, useSingleKey, useSingleKeys } from "./keys.ts";
import { PLACES } from "./navigation-items.ts";

/** How long after `g` a letter still says where to. */
const CHORD_MS = 1500;

const KEYS: readonly (readonly [string, string])[] = [
  ["Ctrl K", "Go to anything"],
  ["?", "Show this"],
  ["/", "Search the list"],
  ["n", "Make a new one"],
  ...PLACES.map(({ name, letter }) => [`g ${letter}`, `Go to ${name}`] as const),
  ["Ctrl S", "Save the workflow that is edited"],
];

export function Shortcuts() {
  const [isOpen, setOpen] = useState(false);
  const areOn = useSingleKeys();
  const [, go] = useLocation();
  const address = useAddress();
  const leaderAt = useRef(0);
  const press = useCallback(
    (key: string) => {
      const isChord = Date.now() - leaderAt.current < CHORD_MS;
      leaderAt.current = key === "g" && !isChord ? Date.now() : 0;
      const place = isChord ? PLACES.find(({ letter }) => letter === key) : undefined;
      if (place !== undefined) go(address(place.path));
      else if (key === "?") setOpen(true);
      else return key === "g" || pressOnPage(key);
      return true;
    },
    [go, address],
  );
  useSingleKey(press);
  return (
    <>
      <Button look="quiet" icon="help" aria-label="Keyboard shortcuts" onClick={() => setOpen(true)} />
      <Dialog title="Keyboard shortcuts" isOpen={isOpen} onClose={() => setOpen(false)}>
        <dl className="keys">
          {KEYS.map(([keys, does]) => (
            <div key={keys}>
              <dt>
                {keys.split(" ").map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        {/* biome-ignore lint/a11y/noLabelWithoutControl: the switch is a control */}
        <label className="switch-row">
          <Switch.Root className="switch" checked={areOn} onCheckedChange={switchSingleKeys}>
            <Switch.Thumb className="thumb" />
          </Switch.Root>
          Shortcuts of single keys
        </label>
      </Dialog>
    </>
  );
}

/** What the page itself offers for a key. */
function pressOnPage(key: string): boolean {
  const offer = { "/": "search", n: "new" }[key];
  const target = offer && document.querySelector<HTMLElement>(`main [data-shortcut=${offer}]`);
  if (!target) return false;
  if (offer === "search") target.focus();
  else target.click();
  return true;
}
