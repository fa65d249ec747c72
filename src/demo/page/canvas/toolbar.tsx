/** The tools: what a pointer does on the board, its color, undo and redo, and how large the board is shown. */
import { useCanRedo, useCanUndo, useRedo, useUndo } from "atrium/react";
import { type ReactNode, useSyncExternalStore } from "react";
import { TINTS } from "../room/shape.ts";
import type { Camera } from "./camera.ts";
import type { Tool } from "./gestures.ts";
import { KEYS } from "./keys.ts";

/** The lines of each icon in a square of 20 units. */
const ICONS: Readonly<Record<Tool | "undo" | "redo", string>> = {
  move: "M5 3l11 6-5 1.5L9 16z",
  pen: "M4 16l1-4 8.5-8.5a2 2 0 0 1 3 3L8 15zM12 5l3 3",
  box: "M4 5.5h12v9H4z",
  oval: "M10 4.5c4 0 6.5 2.4 6.5 5.5S14 15.5 10 15.5 3.5 13.1 3.5 10 6 4.5 10 4.5z",
  arrow: "M4 16L16 4M8.5 4H16v7.5",
  eraser: "M8 16l-4-4 8-8 5 5-7 7zM8 8l5 5M8 16h8",
  undo: "M8 4L4 8l4 4M4 8h8a4 4 0 0 1 0 8h-3",
  redo: "M12 4l4 4-4 4M16 8H8a4 4 0 0 0 0 8h3",
};
const TOOLS: readonly (readonly [Tool, string])[] = [
  ["move", "Move"],
  ["pen", "Pen"],
  ["box", "Box"],
  ["oval", "Oval"],
  ["arrow", "Arrow"],
  ["eraser", "Eraser"],
];

const Icon = ({ name }: { readonly name: keyof typeof ICONS }) => (
  <svg viewBox="0 0 20 20" aria-hidden="true">
    <path d={ICONS[name]} />
  </svg>
);

interface ToolbarProps {
  readonly tool: Tool;
  readonly tint: number;
  readonly camera: Camera;
  choose(tool: Tool): void;
  setTint(tint: number): void;
  fit(): void;
}

export function Toolbar({ tool, choose, tint, setTint, camera, fit }: ToolbarProps) {
  const isDrawing = tool !== "move" && tool !== "eraser";
  return (
    <section className="tools" aria-label="Drawing">
      {TOOLS.map(([name, label]) => (
        <button
          key={name}
          type="button"
          title={`${label} (${KEYS[name].toUpperCase()})`}
          aria-label={label}
          aria-keyshortcuts={KEYS[name]}
          aria-description={
            name === "move" ? undefined : "By keyboard: arrow keys move it, Space puts it down and lifts it"
          }
          aria-pressed={tool === name}
          onClick={() => choose(name)}
        >
          <Icon name={name} />
        </button>
      ))}
      <Steps />
      <Zoom camera={camera} fit={fit} />
      {isDrawing && (
        <fieldset className="tints">
          <legend>Color</legend>
          {TINTS.map((name, index) => (
            <input
              key={name}
              type="radio"
              name="tint"
              className={`tint-${index}`}
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

function Zoom({ camera, fit }: Pick<ToolbarProps, "camera" | "fit">): ReactNode {
  const { zoom } = useSyncExternalStore(camera.subscribe, () => camera.view);
  return (
    <button type="button" className="zoom" title="Show the middle (+ and − zoom)" onClick={fit}>
      {Math.round(zoom * 100)}%<span className="visually-hidden"> zoom; show the middle of the board</span>
    </button>
  );
}
