/** The keys of the board, while no one writes. */
import type { History } from "atrium/client";
import { useEffect, useRef } from "react";
import type { Camera } from "./camera.ts";
import type { Tool } from "./gestures.ts";

/** The key of each tool, which its button shows. */
export const KEYS: Readonly<Record<Tool, string>> = {
  ...{ move: "v", pen: "p", box: "b", oval: "o", arrow: "a", eraser: "e" },
};
const PAN = 80;
const DIRECTIONS = new Map([
  ["ArrowLeft", { x: PAN, y: 0 }],
  ["ArrowRight", { x: -PAN, y: 0 }],
  ["ArrowUp", { x: 0, y: PAN }],
  ["ArrowDown", { x: 0, y: -PAN }],
]);
const ZOOM = new Map([
  ["+", 1.25],
  ["=", 1.25],
  ["-", 0.8],
]);

interface Keyed {
  readonly camera: Camera;
  readonly history: Pick<History, "undo" | "redo">;
  choose(tool: Tool): void;
  add(): Promise<void>;
}

const isTyping = ({ target }: Event): boolean =>
  target instanceof Element && target.closest("input, textarea, dialog, [popover]") !== null;

/** Handles the key; returns whether it meant anything. */
function handle({ key, shiftKey, ctrlKey, metaKey, altKey, target }: KeyboardEvent, keyed: Keyed): boolean {
  const { camera, history, choose } = keyed;
  const name = key.toLowerCase();
  if (altKey) return false;
  if (ctrlKey || metaKey) {
    if (name === "z" && !shiftKey) history.undo();
    else if (name === "y" || name === "z") history.redo();
    else return false;
    return true;
  }
  const tool = Object.entries(KEYS).find(([, letter]) => letter === name)?.[0];
  const factor = ZOOM.get(key);
  const direction = target === document.body ? DIRECTIONS.get(key) : undefined;
  if (tool !== undefined) choose(tool as Tool);
  else if (name === "n") void keyed.add();
  else if (factor !== undefined) camera.zoomAt({ x: innerWidth / 2, y: innerHeight / 2 }, factor);
  else if (direction !== undefined) camera.pan(direction);
  else return false;
  return true;
}

export function useKeys(keyed: Keyed): void {
  const latest = useRef(keyed);
  latest.current = keyed;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!isTyping(event) && handle(event, latest.current)) event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
