/** The keys of the board, while no one writes. */
import type { History } from "atrium/client";
import { useEffect, useRef } from "react";
import type { Camera } from "./camera.ts";
import type { Tool } from "./gestures.ts";
import type { KeyboardPen } from "./keyboard-pen.ts";

/** The key of each tool, which its button shows. */
export const KEYS: Readonly<Record<Tool, string>> = {
  move: "v",
  pen: "p",
  box: "b",
  oval: "o",
  arrow: "a",
  eraser: "e",
};
const PAN = 80;
const DIRECTIONS: ReadonlyMap<string, readonly [right: number, down: number]> = new Map([
  ["ArrowLeft", [-1, 0]],
  ["ArrowRight", [1, 0]],
  ["ArrowUp", [0, -1]],
  ["ArrowDown", [0, 1]],
]);
const ZOOM = new Map([
  ["+", 1.25],
  ["=", 1.25],
  ["-", 0.8],
]);

interface Keyed {
  readonly camera: Camera;
  readonly history: Pick<History, "undo" | "redo">;
  readonly pen: KeyboardPen;
  choose(tool: Tool): void;
  add(): Promise<void>;
}

const isTyping = ({ target }: Event): boolean =>
  target instanceof Element && target.closest("input, textarea, dialog, [popover]") !== null;

/** On the page itself, or on a tool: there, arrow keys have no meaning of their own. */
const isOnBoard = ({ target }: Event): boolean =>
  target === document.body || (target instanceof Element && target.closest(".tools") !== null);

/** On the page itself, or on the tool in use, which need not be chosen again. */
const isOnPen = ({ target }: Event): boolean =>
  target === document.body || (target instanceof Element && target.matches("[aria-pressed=true]"));

/** Moves the pen; without a tool to draw with, the board. */
function go([right, down]: readonly [right: number, down: number], { camera, pen }: Keyed): void {
  if (!pen.move(right, down)) camera.pan({ x: -PAN * right, y: -PAN * down });
}

/** Handles the key; returns whether it meant anything. */
function handle(event: KeyboardEvent, keyed: Keyed): boolean {
  const { key, shiftKey, ctrlKey, metaKey, altKey, repeat } = event;
  const { camera, history, pen, choose } = keyed;
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
  const direction = isOnBoard(event) ? DIRECTIONS.get(key) : undefined;
  if (tool !== undefined) {
    choose(tool as Tool);
    // The tool whose button has the focus is no longer the one in use.
    if (isOnBoard(event) && document.activeElement instanceof HTMLElement) document.activeElement.blur();
  } else if (name === "n") void keyed.add();
  else if (factor !== undefined) camera.zoomAt({ x: innerWidth / 2, y: innerHeight / 2 }, factor);
  else if (direction !== undefined) go(direction, keyed);
  else if (key === " " || key === "Enter") return isOnPen(event) && (repeat || pen.press());
  else if (key === "Escape") return pen.cancel() || pen.hide();
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
