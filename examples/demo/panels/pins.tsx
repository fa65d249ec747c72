/** The pins of threads on the board. What is opened comes into view. */
import { type CanvasEditor, CommentPins } from "atrium/tldraw";
import { useEffect, useMemo, useRef } from "react";
import { freePart } from "../canvas/camera.ts";
import { type Shown, shownBox, useShown } from "../canvas/content.tsx";
import { itemAt } from "../room/items.ts";
import { BOARD, type CommentsProps } from "./threads.ts";

/** A shape whose line is within this distance of the click gets the pin. */
const REACH = 12;
/** The size of a pin, which is beside the card. */
const PIN = 44;

/** The board as a canvas of comments: it fills the window. */
const editorOf = (shown: Shown): CanvasEditor => ({
  getCurrentPageId: () => BOARD,
  getViewportScreenBounds: () => ({ x: 0, y: 0, w: innerWidth, h: innerHeight }),
  screenToPage: (point) => shown.camera.toBoard(point),
  pageToViewport: (point) => shown.camera.toWindow(point),
  getShapeAtPoint: (point) => {
    const id = itemAt(shown.items, point, REACH);
    return id === null ? undefined : { id };
  },
  getShapePageBounds: (id: string) => {
    const box = shownBox(shown, id);
    return box === null ? undefined : { x: box.x, y: box.y, w: box.width, h: box.height };
  },
  getSelectedShapeIds: () => [...shown.holds].flatMap(([id, { color }]) => (color === null ? id : [])),
  on: (_, listener) => {
    shown.camera.listeners.add(listener);
    addEventListener("resize", listener);
  },
  off: (_, listener) => {
    shown.camera.listeners.delete(listener);
    removeEventListener("resize", listener);
  },
});

export default function Pins({ active, setActive }: CommentsProps) {
  const shown = useShown();
  const editor = useMemo(() => editorOf(shown), [shown]);
  const layer = useRef<HTMLDivElement>(null);
  const reveal = () => {
    const card = layer.current?.querySelector(".atrium-pin-card");
    if (!card) return;
    const isSheet = getComputedStyle(card).position === "fixed"; // on a phone
    const { x, y, width, height } = ((isSheet && card.parentElement) || card).getBoundingClientRect();
    const corner = shown.camera.toBoard({ x: x - PIN, y: y - PIN });
    shown.camera.reveal(corner, freePart(), { width: width + 2 * PIN, height: height + 2 * PIN });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: each choice of a thread shows its card, also one that is open
  useEffect(reveal, [active]);
  return (
    <div ref={layer}>
      <CommentPins editor={editor} showButton={false} active={active} onActiveChange={setActive} />
    </div>
  );
}
