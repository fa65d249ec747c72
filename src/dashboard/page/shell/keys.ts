/** Single-key shortcuts. Inactive while the person types or has turned them off. */
import { useEffect, useSyncExternalStore } from "react";

const KEY = "single-key-shortcuts";
const listeners = new Set<() => void>();

const areOn = (): boolean => localStorage.getItem(KEY) !== "off";

export function switchSingleKeys(on: boolean): void {
  localStorage.setItem(KEY, on ? "on" : "off");
  for (const listener of listeners) listener();
}

export const useSingleKeys = (): boolean =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, areOn);

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.shadowRoot !== null ||
    ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) ||
    target.closest("[role=dialog], [role=alertdialog], [role=menu]") !== null);

/**
 * Calls `press` for each single key, with the time in milliseconds at which it was pressed, which a busy page
 * handles later. It returns true when it handled the key.
 */
export function useSingleKey(press: (key: string, at: number) => boolean): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (!areOn() || isTyping(event)) return;
      if (press(event.key, event.timeStamp)) event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [press]);
}
