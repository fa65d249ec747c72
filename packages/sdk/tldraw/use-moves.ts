/** Moving a pin by its pointer or the arrow keys; it is saved where it is let go. */
import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import { useRoom, useRoomPermissions } from "../react/index.ts";
import { useAttempts } from "../react-ui/room.tsx";
import { anchorAt, type CanvasAnchor, type CanvasEditor, type Point } from "./anchor.ts";
import { type CanvasPin, usePlace } from "./use-canvas-pins.ts";

/** Shortest drag in pixels. A shorter way is a click. */
const DRAG = 4;
const STEP = 10;
const FINE_STEP = 1;

const DIRECTIONS: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

interface Drag {
  /** Position of the pointer and the pin at the start. */
  readonly from: Point;
  readonly place: Point;
  isMoving: boolean;
}

const within = (value: number, size: number): number => Math.min(Math.max(value, 0), size);

/** Authors move their pins, inside of the canvas. `handlers` belong to the pin's button. */
export function useMoves(pin: CanvasPin, editor: CanvasEditor) {
  const { client } = useRoom();
  const mayWrite = useRoomPermissions().canWrite("comments");
  const canMove = mayWrite && pin.first.user_id === client.userId;
  const { error, attempt } = useAttempts();
  const [isMoved, setMoved] = useState(false);
  /** Position of the pin while it is not saved. */
  const [anchor, setAnchor] = useState<CanvasAnchor | null>(null);
  const latest = useRef(anchor);
  const drag = useRef<Drag | null>(null);
  const place = usePlace(editor, anchor) ?? pin;

  const moveTo = ({ x, y }: Point) => {
    const canvas = editor.getViewportScreenBounds();
    const point = { x: canvas.x + within(x, canvas.w), y: canvas.y + within(y, canvas.h) };
    latest.current = anchorAt(editor, editor.screenToPage(point));
    setAnchor(latest.current);
    setMoved(false);
  };
  const save = async () => {
    const { current } = latest;
    if (current === null) return;
    latest.current = null;
    const saved = await attempt(() => client.comments.update({ commentId: pin.threadId, anchor: current }));
    setMoved(saved !== undefined);
    setAnchor((now) => (now === current ? null : now));
  };
  const handlers = {
    onPointerDown: ({ button, clientX, clientY, currentTarget, pointerId }: PointerEvent) => {
      drag.current = null;
      if (button !== 0) return;
      drag.current = { from: { x: clientX, y: clientY }, place, isMoving: false };
      currentTarget.setPointerCapture(pointerId);
    },
    onPointerMove: ({ clientX, clientY, currentTarget, pointerId }: PointerEvent) => {
      const { current } = drag;
      if (current === null || !currentTarget.hasPointerCapture(pointerId)) return;
      const [x, y] = [clientX - current.from.x, clientY - current.from.y];
      current.isMoving ||= Math.hypot(x, y) >= DRAG;
      if (current.isMoving) moveTo({ x: current.place.x + x, y: current.place.y + y });
    },
    onPointerCancel: () => {
      drag.current = null;
      latest.current = null;
      setAnchor(null);
    },
    onLostPointerCapture: () => void save(),
    /** The click that ends a drag opens nothing. */
    onClickCapture: (event: { stopPropagation(): void }) => {
      if (drag.current?.isMoving) event.stopPropagation();
      drag.current = null;
    },
    onKeyDown: (event: KeyboardEvent) => {
      const direction = DIRECTIONS[event.key];
      if (direction === undefined) return;
      event.preventDefault();
      const step = event.shiftKey ? FINE_STEP : STEP;
      moveTo({ x: place.x + step * direction.x, y: place.y + step * direction.y });
    },
    onKeyUp: ({ key }: KeyboardEvent) => {
      if (key in DIRECTIONS) void save();
    },
    onBlur: () => void save(),
  };
  return { canMove, place, error, isMoved, handlers: canMove ? handlers : {} };
}
