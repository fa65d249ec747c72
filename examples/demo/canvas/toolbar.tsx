/** The tools: what a pointer does on the board, its color, undo and redo, and how large the board is shown. */
import { useCanRedo, useCanUndo, useRedo, useUndo } from "atrium/react";
import { type MouseEvent, useSyncExternalStore } from "react";
import { inkOf, TINTS } from "../room/shape.ts";
import type { Tool } from "./gestures.ts";
import { KEYS, type Keyed, ZOOM } from "./keys.ts";

/** How each tool is used without a pointer. */
const BY_KEYBOARD: Readonly<Record<Tool, string>> = {
  select: "J and K select the next and the previous item, arrow keys move it, Enter edits a note",
  hand: "Arrow keys move the board while nothing is selected",
  pen: "Enter adds a line",
  box: "Enter adds a box",
  oval: "Enter adds an oval",
  arrow: "Enter adds an arrow",
  eraser: "Delete removes what is selected",
};

/** The lines of each icon in a square of 20 units. */
const ICONS: Readonly<Record<Tool | "undo" | "redo" | "fit", string>> = {
  select: "M5 3l11 6-5 1.5L9 16z",
  hand: "M6 11V6.2a1.2 1.2 0 0 1 2.4 0V10 4.2a1.2 1.2 0 0 1 2.4 0V10 5.2a1.2 1.2 0 0 1 2.4 0V11 7.7a1.2 1.2 0 0 1 2.4 0V12c0 3-2 5-4.8 5-2.5 0-3.6-1.3-4.9-3.6L3.6 10.6c-.7-1.3.9-2.2 1.7-1.2z",
  pen: "M4 16l1-4 8.5-8.5a2 2 0 0 1 3 3L8 15zM12 5l3 3",
  box: "M4 5.5h12v9H4z",
  oval: "M10 4.5c4 0 6.5 2.4 6.5 5.5S14 15.5 10 15.5 3.5 13.1 3.5 10 6 4.5 10 4.5z",
  arrow: "M4 16L16 4M8.5 4H16v7.5",
  eraser: "M8 16l-4-4 8-8 5 5-7 7zM8 8l5 5M8 16h8",
  undo: "M8 4L4 8l4 4M4 8h8a4 4 0 0 1 0 8h-3",
  redo: "M12 4l4 4-4 4M16 8H8a4 4 0 0 0 0 8h3",
  fit: "M4 8V4h4M12 4h4v4M16 12v4h-4M8 16H4v-4",
};
const TOOLS: readonly (readonly [Tool, string])[] = [
  ["select", "Select"],
  ["hand", "Pan"],
  ["pen", "Pen"],
  ["box", "Box"],
  ["oval", "Oval"],
  ["arrow", "Arrow"],
  ["eraser", "Eraser"],
];

/** A click leaves the focus where it is, so that keys go on working on the board. */
const keepFocus = (event: MouseEvent): void => event.preventDefault();

const Icon = ({ name }: { readonly name: keyof typeof ICONS }) => (
  <svg viewBox="0 0 20 20" aria-hidden="true">
    <path d={ICONS[name]} />
  </svg>
);

interface ToolbarProps {
  readonly tool: Tool;
  readonly tint: number;
  choose(tool: Tool): void;
  setTint(tint: number): void;
}

export function Toolbar({ tool, choose, tint, setTint }: ToolbarProps) {
  const isDrawing = tool !== "select" && tool !== "hand" && tool !== "eraser";
  return (
    <section className="tools" aria-label="Drawing" onMouseDown={keepFocus}>
      {TOOLS.map(([name, label]) => (
        <button
          key={name}
          type="button"
          title={`${label} (${KEYS[name].toUpperCase()})`}
          aria-label={label}
          aria-keyshortcuts={KEYS[name]}
          aria-description={BY_KEYBOARD[name]}
          aria-pressed={tool === name}
          onClick={() => choose(name)}
        >
          <Icon name={name} />
        </button>
      ))}
      <Steps />
      {isDrawing && (
        <fieldset className="tints">
          <legend>Color</legend>
          {TINTS.map((name, index) => (
            <input
              key={name}
              type="radio"
              name="tint"
              style={{ color: inkOf(index) }}
              title={name}
              aria-label={name}
              checked={tint === index}
              onChange={() => setTint(index)}
            />
          ))}
        </fieldset>
      )}
    </section>
  );
}

/** Undo takes back this user's own changes, and never what others have done since. */
function Steps() {
  const [undo, redo, canUndo, canRedo] = [useUndo(), useRedo(), useCanUndo(), useCanRedo()];
  return (
    <>
      <button type="button" title="Undo (Ctrl+Z)" aria-label="Undo" disabled={!canUndo} onClick={undo}>
        <Icon name="undo" />
      </button>
      <button type="button" title="Redo (Ctrl+Shift+Z)" aria-label="Redo" disabled={!canRedo} onClick={redo}>
        <Icon name="redo" />
      </button>
    </>
  );
}

type ZoomProps = Pick<Keyed, "camera" | "zoomTo" | "zoomBy">;

export function Zoom({ camera, zoomTo, zoomBy }: ZoomProps) {
  const { zoom } = useSyncExternalStore(camera.subscribe, () => camera.view);
  return (
    <section className="zoom" aria-label="Zoom" onMouseDown={keepFocus}>
      <button type="button" title="Zoom out (−)" aria-label="Zoom out" onClick={() => zoomBy(ZOOM.out)}>
        −
      </button>
      <button type="button" className="percent" title="Zoom to 100 % (0)" onClick={() => zoomTo(1)}>
        {Math.round(zoom * 100)}%<span className="visually-hidden"> zoom; back to 100 %</span>
      </button>
      <button type="button" title="Zoom in (+)" aria-label="Zoom in" onClick={() => zoomBy(ZOOM.in)}>
        +
      </button>
      <button
        type="button"
        title="Show everything (1)"
        aria-label="Show everything"
        onClick={() => zoomTo("fit")}
      >
        <Icon name="fit" />
      </button>
    </section>
  );
}
