/** Pointer gestures on the board: one pointer selects, drags, draws, erases or pans; two pan and zoom. */
import type { History } from "atrium/client";
import { boxAround, boxBetween, boxOf, contains, isNote, itemAt, itemsIn } from "../room/items.ts";
import { widthOf } from "../room/model.ts";
import { type Kind, MAX_POINTS, type Point, type Shape } from "../room/shape.ts";
import type { Camera } from "./camera.ts";
import type { Edits } from "./edits.ts";
import type { Selection } from "./selection.ts";

export type Tool = "select" | "hand" | "eraser" | Kind;

/** A drag begins, and a stroke gets its next point, this far from where the pointer was, in pixels of the window. */
const STEP = 3;
/** How far a pointer reaches around itself, in pixels of the window. */
const REACH = 10;

/** The pointer that begins a gesture. */
interface Press {
  readonly tool: Tool;
  /** The note below the pointer. */
  readonly noteId: string | null;
  /** The side of the selected note whose handle is below the pointer. */
  readonly side: "left" | "right" | null;
  /** Adds to the selection, or takes out of it. */
  readonly isAdding: boolean;
  readonly isTouch: boolean;
}

/** The gesture of one pointer until it is released; points are those of the window. */
interface Gesture {
  move?(to: Point): void;
  /** `isWhole` is false if it is given up. */
  end?(isWhole: boolean): void;
}

type Pressed = Pick<PointerEvent, "pointerId" | "clientX" | "clientY">;
export const pointOf = ({ clientX, clientY }: Omit<Pressed, "pointerId">): Point => ({
  x: clientX,
  y: clientY,
});
const distanceBetween = (one: Point, other: Point): number => Math.hypot(one.x - other.x, one.y - other.y);

interface Effects {
  readonly camera: Camera;
  readonly edits: Edits;
  readonly selection: Selection;
  readonly history: Pick<History, "pause" | "resume">;
}

export class Gestures {
  /** The color of what is drawn, as an index. */
  tint = 0;
  readonly #effects: Effects;
  /** Positions of the pressed pointers in the window. */
  readonly #pressed = new Map<number, Point>();
  /** That of a single pointer; null without one, and after a second one was pressed. */
  #gesture: Gesture | null = null;
  #pressedAt: Point = { x: 0, y: 0 };

  constructor(effects: Effects) {
    this.#effects = effects;
  }

  /** `press` is what this pointer does as long as it is the only one; null if that is no matter of the board. */
  press(event: Pressed, press: Press | null): void {
    const at = pointOf(event);
    this.#pressed.set(event.pointerId, at);
    if (this.#pressed.size > 1) {
      this.cancel();
      return;
    }
    if (press === null) return;
    this.#effects.history.pause();
    this.#pressedAt = at;
    this.#gesture = this.#begin(press, at);
  }

  move(event: Pressed): void {
    const before = this.#pressed.get(event.pointerId);
    if (before === undefined) return;
    const other = [...this.#pressed].find(([id]) => id !== event.pointerId)?.[1];
    const after = pointOf(event);
    if (other !== undefined) this.#pinch(other, before, after);
    else this.#gesture?.move?.(after);
    this.#pressed.set(event.pointerId, after);
  }

  /** Returns whether it was a click: the only pointer, released where it was pressed. */
  release(event: Pressed): boolean {
    const isClick = this.#gesture !== null && distanceBetween(this.#pressedAt, pointOf(event)) < STEP;
    this.#pressed.delete(event.pointerId);
    this.#finish(true);
    return isClick;
  }

  /** Gives up what a pointer is doing; false if it is doing nothing. */
  cancel(): boolean {
    const isBusy = this.#gesture !== null;
    this.#finish(false);
    return isBusy;
  }

  #finish(isWhole: boolean): void {
    const gesture = this.#gesture;
    if (gesture === null) return;
    this.#gesture = null;
    gesture.end?.(isWhole);
    this.#effects.history.resume();
  }

  #begin(press: Press, at: Point): Gesture {
    const { tool, side } = press;
    if (side !== null) return this.#resize(side, at);
    if (tool === "hand") return this.#pan(at);
    if (tool === "eraser") return this.#erase(at);
    if (tool === "select") return this.#select(press, at);
    return this.#draw(tool, at);
  }

  /** The board's point under the pointer stays there. */
  #pan(at: Point): Gesture {
    const { camera } = this.#effects;
    const fixed = camera.toBoard(at);
    return {
      move: (to) => {
        const { x, y } = camera.toWindow(fixed);
        camera.pan({ x: to.x - x, y: to.y - y });
      },
    };
  }

  #erase(at: Point): Gesture {
    const { camera, edits } = this.#effects;
    const erase = (to: Point) => edits.erase(camera.toBoard(to), REACH / camera.view.zoom);
    erase(at);
    return { move: erase };
  }

  #draw(kind: Kind, at: Point): Gesture {
    const { camera, edits, selection } = this.#effects;
    let draft: Shape = { kind, tint: this.tint, points: this.#boardPoint(at) };
    return {
      move: (to) => {
        const [x = 0, y = 0] = draft.points.slice(kind === "pen" ? -2 : 0);
        if (distanceBetween(camera.toWindow({ x, y }), to) < STEP) return;
        const kept = kind === "pen" ? draft.points : draft.points.slice(0, 2);
        draft = { ...draft, points: [...kept, ...this.#boardPoint(to)] };
        selection.draw(draft);
        if (draft.points.length < 2 * MAX_POINTS) return;
        selection.drop(edits.addShape(draft));
        draft = { ...draft, points: this.#boardPoint(to) };
      },
      end: (isWhole) =>
        selection.drop(isWhole && draft.points.length >= 4 ? edits.addShape(draft) : undefined),
    };
  }

  /** On an item, the selection is dragged; beside all, an area is selected, or the finger pans. */
  #select({ noteId, isAdding, isTouch }: Press, at: Point): Gesture {
    const { camera, edits, selection } = this.#effects;
    const start = camera.toBoard(at);
    const hit = noteId ?? itemAt(edits.items, start, REACH / camera.view.zoom);
    if (hit !== null && isAdding) selection.toggle(hit);
    else if (hit !== null && !selection.state.ids.has(hit)) selection.select([hit]);
    if (hit !== null || this.#isOnSelection(start)) return this.#drag(at, isAdding ? null : hit);
    if (!isTouch) return this.#selectArea(start, isAdding);
    return { ...this.#pan(at), end: () => isAdding || selection.select([]) };
  }

  #isOnSelection(point: Point): boolean {
    const { edits, selection } = this.#effects;
    const boxes = [...selection.state.ids].flatMap((id) => {
      const item = edits.items.get(id);
      return item === undefined ? [] : [boxOf(item)];
    });
    const around = boxAround(boxes);
    return around !== null && contains(around, point);
  }

  /** A click without a drag selects `clicked` alone. */
  #drag(at: Point, clicked: string | null): Gesture {
    const { camera, edits, selection } = this.#effects;
    const from = camera.toBoard(at);
    const { items } = edits;
    let by: Point | null = null;
    return {
      move: (to) => {
        if (by === null && distanceBetween(at, to) < STEP) return;
        const [x, y] = this.#boardPoint(to);
        by = { x: Math.round(x - from.x), y: Math.round(y - from.y) };
        selection.drag(by, items);
      },
      end: (isWhole) => {
        if (by === null) {
          if (isWhole && clicked !== null) selection.select([clicked]);
          return;
        }
        selection.drop(isWhole ? edits.move(selection.state.ids, by) : undefined);
      },
    };
  }

  /** Changes the width of the selected note; the other side stays where it is. */
  #resize(side: "left" | "right", at: Point): Gesture {
    const { camera, edits, selection } = this.#effects;
    const { items } = edits;
    const [id = ""] = selection.state.ids;
    const note = items.get(id);
    if (note === undefined || !isNote(note)) return {};
    const from = camera.toBoard(at);
    let changed: { readonly width: number; readonly by: Point } | null = null;
    return {
      move: (to) => {
        if (changed === null && distanceBetween(at, to) < STEP) return;
        const wider = camera.toBoard(to).x - from.x;
        const width = widthOf(note.width + (side === "right" ? wider : -wider));
        changed = { width, by: { x: side === "left" ? note.width - width : 0, y: 0 } };
        selection.drag(changed.by, items, width);
      },
      end: (isWhole) =>
        changed && selection.drop(isWhole ? edits.resize(id, changed.width, changed.by) : undefined),
    };
  }

  #selectArea(from: Point, isAdding: boolean): Gesture {
    const { camera, edits, selection } = this.#effects;
    const { items } = edits;
    const before = isAdding ? [...selection.state.ids] : [];
    selection.select(before);
    return {
      move: (to) => {
        const area = boxBetween(from, camera.toBoard(to));
        selection.select([...before, ...itemsIn(items, area)], area);
      },
      end: (isWhole) => selection.select(isWhole ? selection.state.ids : before),
    };
  }

  #boardPoint(inWindow: Point): [number, number] {
    const { x, y } = this.#effects.camera.toBoard(inWindow);
    return [Math.round(x), Math.round(y)];
  }

  #pinch(other: Point, before: Point, after: Point): void {
    const { camera } = this.#effects;
    const middle = (point: Point) => ({ x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 });
    const distance = (point: Point) => Math.max(distanceBetween(point, other), 1);
    const [from, to] = [middle(before), middle(after)];
    camera.pan({ x: to.x - from.x, y: to.y - from.y });
    camera.zoomAt(to, distance(after) / distance(before));
  }
}
