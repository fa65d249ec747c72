/** The keys of the board, wherever the focus is, while no one writes. */
import type { History } from "atrium/client";
import { useEffect, useRef } from "react";
import { isNote } from "../room/items.ts";
import { widthOf } from "../room/model.ts";
import type { Point } from "../room/shape.ts";
import type { Camera } from "./camera.ts";
import type { Edits } from "./edits.ts";
import type { Tool } from "./gestures.ts";
import { leaveItems } from "./leaving.ts";
import type { Selection } from "./selection.ts";

/** The key of each tool, which its button shows. */
export const KEYS: Readonly<Record<Tool, string>> = {
  select: "v",
  hand: "h",
  pen: "p",
  box: "b",
  oval: "o",
  arrow: "a",
  eraser: "e",
};
/** The distance by which an arrow key moves the view, in pixels of the window. */
const PAN = 80;
/** The distance by which it moves what is selected, and with Shift. */
const [STEP, LARGE_STEP] = [10, 50];
const DIRECTIONS: ReadonlyMap<string, Point> = new Map([
  ["ArrowLeft", { x: -1, y: 0 }],
  ["ArrowRight", { x: 1, y: 0 }],
  ["ArrowUp", { x: 0, y: -1 }],
  ["ArrowDown", { x: 0, y: 1 }],
]);
/** The factors of the keys and buttons that zoom. */
export const ZOOM = { in: 1.25, out: 0.8 };

export interface Keyed {
  readonly camera: Camera;
  readonly edits: Edits;
  readonly history: Pick<History, "undo" | "redo" | "pause" | "resume">;
  readonly selection: Selection;
  /** The board can be looked at, and not changed. */
  readonly isFixed: boolean;
  choose(tool: Tool): void;
  add(): Promise<void>;
  /** Shows the board at this zoom, or all of it. */
  zoomTo(zoom: number | "fit"): void;
  zoomBy(factor: number): void;
  /** Pans with the pointer instead of what its tool does, or no longer. */
  setPanning(isPanning: boolean): void;
  /** Does what the tool does without a pointer: adds a shape, or edits the selected note; false if it does nothing. */
  act(): boolean;
  /** Gives up what a pointer is doing; false if it is doing nothing. */
  cancel(): boolean;
}

const isTyping = ({ target }: Event): boolean =>
  target instanceof Element && target.closest("input, textarea, dialog, [popover]") !== null;

/** The page itself, or the board. */
const isPage = (target: EventTarget | null): boolean =>
  target === document.body || (target instanceof Element && target.matches("main"));

/** On the page itself, on a note, a tool or the bar of the selection: there, keys that scroll and Delete have no meaning of their own. */
const isOnBoard = ({ target }: Event): boolean =>
  isPage(target) || (target instanceof Element && target.closest(".tools, .note, .selection-bar") !== null);

/** On the page itself, a note or the tool in use, which need not be chosen again. */
const isOnTool = ({ target }: Event): boolean =>
  isOnItem(target) || (target instanceof Element && target.matches(".tools [aria-pressed=true]"));

/** On the page itself, or on a note. */
const isOnItem = (target: EventTarget | null): boolean =>
  isPage(target) || (target instanceof Element && target.matches(".note"));

/** Moves what is selected, as one step to undo until the key is released; without it, the board. */
function go({ x, y }: Point, isFar: boolean, { camera, edits, history, selection, isFixed }: Keyed): void {
  const { ids } = selection.state;
  if (ids.size === 0 || isFixed) camera.pan({ x: -PAN * x, y: -PAN * y });
  else {
    const step = isFar ? LARGE_STEP : STEP;
    history.pause();
    void edits.move(ids, { x: x * step, y: y * step });
  }
}

/** Changes the width of the selected notes, as one step to undo until the key is released. */
function widen(step: number, { edits, history, selection }: Keyed): void {
  const { items } = edits;
  history.pause();
  for (const id of selection.state.ids) {
    const item = items.get(id);
    if (item && isNote(item)) void edits.resize(id, widthOf(item.width + step), { x: 0, y: 0 });
  }
}

function remove({ edits, selection }: Keyed): void {
  const { ids } = selection.state;
  void edits.remove(ids);
  selection.select([]);
  leaveItems(ids, true);
}

/** Leaves the note that has the focus. */
function leave(): void {
  const active = document.activeElement;
  if (active instanceof HTMLElement && active.matches(".note")) active.blur();
}

/** Selects the item after the selected one, or before it. */
function selectNext(step: 1 | -1, { edits, selection }: Keyed): void {
  leave();
  const ids = [...edits.items.keys()];
  const [selected = ""] = selection.state.ids;
  const index = ids.indexOf(selected);
  const next = index < 0 && step < 0 ? -1 : (index + step) % ids.length;
  const id = ids.at(next);
  if (id !== undefined) selection.select([id]);
}

/** The action of a key with Ctrl or ⌘; undefined if it has none. */
function commandOf(name: string, isShift: boolean, keyed: Keyed): (() => unknown) | undefined {
  const { edits, history, selection, isFixed } = keyed;
  const undo = () => history.undo();
  const redo = () => history.redo();
  const all = { a: () => selection.select(edits.items.keys()) };
  const changes = {
    z: isShift ? redo : undo,
    y: redo,
    d: () => selection.select(edits.duplicate(selection.state.ids)),
    arrowleft: () => widen(-STEP, keyed),
    arrowright: () => widen(STEP, keyed),
  };
  const commands: Readonly<Record<string, () => unknown>> = isFixed ? all : { ...all, ...changes };
  return commands[name];
}

/** The action of a key alone; undefined if it has none. */
function actionOf(event: KeyboardEvent, keyed: Keyed): (() => unknown) | undefined {
  const { key, shiftKey, repeat } = event;
  const name = key.toLowerCase();
  const tool = Object.entries(KEYS).find(([, letter]) => letter === name)?.[0] as Tool | undefined;
  const isRemoval = name === "delete" || name === "backspace";
  if (keyed.isFixed && (tool !== undefined || isRemoval || name === "n")) return undefined;
  if (tool !== undefined) {
    return () => {
      keyed.choose(tool);
      // The tool whose button has the focus is no longer the one in use.
      if (isOnBoard(event) && document.activeElement instanceof HTMLElement) document.activeElement.blur();
    };
  }
  const direction = DIRECTIONS.get(key);
  if (direction && isOnBoard(event)) return () => go(direction, shiftKey, keyed);
  if (isRemoval && isOnBoard(event)) return () => repeat || remove(keyed);
  const step = { pagedown: 1, pageup: -1 }[name] as 1 | -1 | undefined;
  if (step !== undefined && isOnBoard(event)) return () => selectNext(step, keyed);
  if (key === " " && isOnTool(event)) return () => repeat || keyed.setPanning(true);
  return {
    n: () => keyed.add(),
    "+": () => keyed.zoomBy(ZOOM.in),
    "=": () => keyed.zoomBy(ZOOM.in),
    "-": () => keyed.zoomBy(ZOOM.out),
    "0": () => keyed.zoomTo(1),
    "1": () => keyed.zoomTo("fit"),
    escape: () => {
      if (keyed.cancel()) return;
      leave();
      keyed.selection.select([]);
    },
  }[name];
}

/** A key that writes; Space alone pans. */
const isText = (key: string): boolean => key.length === 1 && key !== " ";

/** Whether the selection is one note that can be written in. */
function isNoteSelected({ edits, selection, isFixed }: Keyed): boolean {
  const [id = "", ...others] = selection.state.ids;
  const item = edits.items.get(id);
  return !isFixed && others.length === 0 && item !== undefined && isNote(item);
}

/** From what is selected to the bar above it, if there is one. */
function enterBar(): boolean {
  const first = document.querySelector<HTMLElement>(".selection-bar button");
  first?.focus();
  return first !== null;
}

/** Handles the key; returns whether it meant anything. */
function handle(event: KeyboardEvent, keyed: Keyed): boolean {
  const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
  if (altKey) return false;
  if (key === "Enter") return isOnTool(event) && keyed.act();
  if (key === "Tab") return !shiftKey && isOnItem(event.target) && enterBar();
  const hasModifier = ctrlKey || metaKey;
  if (!hasModifier && isText(key) && isOnItem(event.target) && isNoteSelected(keyed)) {
    keyed.act();
    return false; // the note's text gets the key
  }
  const action = hasModifier ? commandOf(key.toLowerCase(), shiftKey, keyed) : actionOf(event, keyed);
  action?.();
  return action !== undefined;
}

export function useKeys(keyed: Keyed): void {
  const latest = useRef(keyed);
  latest.current = keyed;
  useEffect(() => {
    /** Whether an arrow key may have begun a step to undo. */
    let isStepping = false;
    const end = () => {
      if (isStepping) latest.current.history.resume();
      isStepping = false;
    };
    const press = (event: KeyboardEvent) => {
      const isArrow = DIRECTIONS.has(event.key);
      if (!isArrow) end();
      if (isTyping(event) || !handle(event, latest.current)) return;
      event.preventDefault();
      isStepping = isArrow;
    };
    const release = ({ key }: KeyboardEvent) => {
      // On a Mac, an arrow that is released before ⌘ has no event of its own.
      if (DIRECTIONS.has(key) || key === "Meta") end();
      if (key === " ") latest.current.setPanning(false);
    };
    const leave = () => {
      end();
      latest.current.setPanning(false);
    };
    addEventListener("keydown", press);
    addEventListener("keyup", release);
    addEventListener("blur", leave);
    return () => {
      removeEventListener("keydown", press);
      removeEventListener("keyup", release);
      removeEventListener("blur", leave);
    };
  }, []);
}
