/** What can be done with the selected items, above them: their color, a copy, a comment, their removal; and the handles of a note. */
import { type KeyboardEvent, type MouseEvent, useLayoutEffect, useRef, useSyncExternalStore } from "react";
import { flushSync } from "react-dom";
import { boxAround, isNote } from "../room/items.ts";
import { PAPERS, paperOf } from "../room/model.ts";
import { useMayWrite } from "../room/participants.ts";
import { inkOf, TINTS } from "../room/shape.ts";
import { freePart } from "./camera.ts";
import { shownBox, useShown } from "./content.tsx";
import type { Edits } from "./edits.ts";
import { leaveItems } from "./leaving.ts";
import type { Selection } from "./selection.ts";

/** The distance between the bar and the selection, in pixels of the window. */
const GAP = 14;

/** The lines of each icon in a square of 20 units. */
const ICONS = {
  Duplicate: "M7.5 7.5h9v9h-9zM12.5 7.5v-4h-9v9h4",
  Comment: "M4 4.5h12v9H9.5L6 16.5v-3H4z",
  Delete: "M4 6h12M8 6V4h4v2M5.5 6l.7 10.5h7.6L14.5 6M8.5 9v4.5M11.5 9v4.5",
};

const cardOf = (id: string): HTMLElement | null =>
  document.querySelector(`.note[data-item="${CSS.escape(id)}"]`);

export interface SelectionBarProps {
  readonly selection: Selection;
  readonly edits: Edits;
  /** Lets the visitor choose the place of a comment; null where comments are not loaded. */
  readonly comment: (() => void) | null;
}

export function SelectionBar({ selection, edits, comment }: SelectionBarProps) {
  const shown = useShown();
  const { items, camera } = shown;
  const { ids, by, width, marquee } = useSyncExternalStore(selection.subscribe, () => selection.state);
  const { zoom } = useSyncExternalStore(camera.subscribe, () => camera.view);
  const mayComment = useMayWrite("comments");
  const bar = useRef<HTMLDivElement>(null);
  const selected = [...ids].flatMap((id) => {
    const [item, box] = [items.get(id), shownBox(shown, id)];
    return item && box ? [{ id, item, box }] : [];
  });
  const around = boxAround(selected.map(({ box }) => box));
  const [single, ...others] = selected;
  const isAlone = others.length === 0;

  useLayoutEffect(() => {
    if (bar.current === null || around === null) return;
    const { offsetWidth, offsetHeight } = bar.current;
    const part = freePart();
    const from = camera.toWindow(around);
    const to = camera.toWindow({ x: around.x + around.width, y: around.y + around.height });
    const above = from.y - GAP - offsetHeight;
    const top = above >= part.y ? above : to.y + GAP;
    const within = (at: number, start: number, length: number) =>
      Math.round(Math.max(Math.min(at, start + length), start));
    const x = within((from.x + to.x - offsetWidth) / 2, part.x, part.width - offsetWidth);
    const y = within(top, part.y, part.height - offsetHeight);
    bar.current.style.transform = `translate(${x}px, ${y}px)`;
  });

  if (single === undefined || around === null || marquee !== null) return null;
  const areNotes = selected.every(({ item }) => isNote(item));
  const areShapes = selected.every(({ item }) => !isNote(item));
  const colorOf = ({ id, item }: (typeof selected)[number]) =>
    isNote(item) ? paperOf(id.slice("notes:".length), item) : item.tint;
  const isOfColor = (index: number) => selected.every((each) => colorOf(each) === index);
  const commentOn = () => {
    const { x, y, width } = single.box;
    camera.reveal({ x: x + width, y }, freePart());
    cardOf(single.id)?.focus(); // it gets the focus back
    flushSync(() => comment?.());
    // As Enter does: the comment goes to what is selected.
    document.querySelector<HTMLElement>(".atrium-pin-surface")?.click();
    selection.select([]);
  };
  const actions = {
    Duplicate: () => selection.select(edits.duplicate(ids)),
    ...(isAlone && comment && mayComment && { Comment: commentOn }),
    // A pointer has its place on the board, and need not hold the next note.
    Delete: ({ detail }: MouseEvent) => {
      void edits.remove(ids);
      selection.select([]);
      leaveItems(ids, detail === 0);
    },
  };
  /** After its last button, Tab leads to the next note; before its first, back to the selected one. */
  const leave = (event: KeyboardEvent<HTMLElement>) => {
    const { key, shiftKey, target, currentTarget } = event;
    const edge = shiftKey ? currentTarget.firstElementChild : currentTarget.lastElementChild;
    if (key !== "Tab" || target !== edge) return;
    cardOf(single.id)?.focus();
    if (shiftKey) event.preventDefault();
  };
  const corner = camera.toWindow(around);
  return (
    <>
      {isAlone &&
        areNotes &&
        (by === null || width !== null) &&
        (["left", "right"] as const).map((side) => (
          <span
            key={side}
            className="handle"
            data-side={side}
            style={{
              height: around.height * zoom,
              transform: `translate(${corner.x + (side === "right" ? around.width * zoom : 0)}px, ${corner.y}px)`,
            }}
          />
        ))}
      {by === null && (
        <div ref={bar} className="selection-bar" role="toolbar" aria-label="Selection" onKeyDown={leave}>
          {(areNotes || areShapes) &&
            (areNotes ? PAPERS : TINTS).map((name, index) => (
              <button
                key={name}
                type="button"
                className="swatch"
                style={{ color: areNotes ? `var(--paper-${index})` : inkOf(index) }}
                title={name}
                aria-label={name}
                aria-pressed={isOfColor(index)}
                onClick={() => void edits.paint(ids, index)}
              />
            ))}
          {(Object.keys(actions) as (keyof typeof ICONS)[]).map((name) => (
            <button key={name} type="button" title={name} aria-label={name} onClick={actions[name]}>
              <svg viewBox="0 0 20 20" aria-hidden="true">
                <path d={ICONS[name]} />
              </svg>
            </button>
          ))}
        </div>
      )}
    </>
  );
}
