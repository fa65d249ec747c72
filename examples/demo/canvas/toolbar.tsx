/** The tools: what a pointer does on the board, its color, undo and redo, and how large the board is shown. */
import { useCanRedo, useCanUndo, useRedo, useUndo } from "atrium/react";
import { type MouseEvent, useState, useSyncExternalStore } from "react";
import { inkOf, TINTS } from "../room/shape.ts";
import { Icon } from "../ui/icon.tsx";
import { Popover } from "../ui/popover.tsx";
import { used } from "../ui/used.ts";
import type { Tool } from "./gestures.ts";
import { KEYS, type Keyed, ZOOM } from "./keys.ts";

/** How each tool is used without a pointer. */
const BY_KEYBOARD: Readonly<Record<Tool, string>> = {
  select:
    "Page Down and Page Up select the next and the previous item, arrow keys move it, with Ctrl they change a note's width, Enter edits a note",
  hand: "Arrow keys move the board while nothing is selected",
  pen: "Enter adds a line",
  box: "Enter adds a box",
  oval: "Enter adds an oval",
  arrow: "Enter adds an arrow",
  eraser: "Delete removes what is selected",
};

/** A click leaves the focus where it is, so that keys go on working on the board. */
const keepFocus = (event: MouseEvent): void => event.preventDefault();

/** The shapes that the arrow beside their tool offers. */
const SHAPES = [
  ["box", "Box"],
  ["oval", "Oval"],
] as const;
type ShapeTool = (typeof SHAPES)[number][0];
const isShape = (tool: Tool): tool is ShapeTool => SHAPES.some(([shape]) => shape === tool);

interface ToolbarProps {
  readonly tool: Tool;
  readonly tint: number;
  choose(tool: Tool): void;
  /** Adds a note. */
  add(): Promise<void>;
  setTint(tint: number): void;
}

export function Toolbar({ tool, choose, add, tint, setTint }: ToolbarProps) {
  const [shape, setShape] = useState<ShapeTool>("box");
  if (isShape(tool) && tool !== shape) setShape(tool);
  const isDrawing = tool !== "select" && tool !== "hand" && tool !== "eraser";
  const button = (name: Tool, label: string, className = "") => (
    <button
      type="button"
      className={className}
      title={`${label} (${KEYS[name].toUpperCase()})`}
      aria-label={label}
      aria-keyshortcuts={KEYS[name]}
      aria-description={BY_KEYBOARD[name]}
      aria-pressed={tool === name}
      onClick={() => choose(name)}
    >
      <Icon name={name} />
    </button>
  );
  return (
    <section className="tools" aria-label="Drawing" onMouseDown={keepFocus}>
      {button("select", "Select")}
      {button("hand", "Pan", "wide")}
      {button("pen", "Pen")}
      {button(shape, shape === "box" ? "Box" : "Oval")}
      <Popover label="Shapes" className="shapes-menu" face={<Icon name="down" />}>
        {(close) =>
          SHAPES.map(([name, label]) => (
            <button
              key={name}
              type="button"
              aria-label={label}
              aria-keyshortcuts={KEYS[name]}
              aria-pressed={name === tool}
              onClick={() => {
                close();
                choose(name);
              }}
            >
              <Icon name={name} />
              {label}
              <kbd>{KEYS[name].toUpperCase()}</kbd>
            </button>
          ))
        }
      </Popover>
      {button("arrow", "Arrow")}
      <button type="button" title="Note (N)" aria-label="Add note" aria-keyshortcuts="n" onClick={add}>
        <Icon name="note" />
      </button>
      {button("eraser", "Eraser")}
      <hr className="wide" />
      <Steps />
      <hr className="wide" />
      {isDrawing && (
        <fieldset className="tints swatches">
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
  const step = (back: () => unknown) => () => {
    back();
    used("Undo");
  };
  return (
    <>
      <button type="button" title="Undo (Ctrl+Z)" aria-label="Undo" disabled={!canUndo} onClick={step(undo)}>
        <Icon name="undo" />
      </button>
      <button
        type="button"
        title="Redo (Ctrl+Shift+Z)"
        aria-label="Redo"
        disabled={!canRedo}
        onClick={step(redo)}
      >
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
