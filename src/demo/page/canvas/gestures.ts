/** Pointer gestures on the board: one pointer draws, erases or moves it, two move and zoom it. */
import { type Kind, MAX_POINTS, type Point, type Shape } from "../room/shape.ts";
import type { Camera } from "./camera.ts";

export type Tool = "move" | "eraser" | Kind;

/** Points of a stroke are at least so far from each other, in pixels of the window. */
const STEP = 3;

/** Effects of gestures on the room; points are those of the board. */
export interface Drawing {
  /** A gesture begins: what it changes is one step to undo. */
  begin(): void;
  end(): void;
  /** Shows the shape while it is drawn; null when there is none. */
  show(draft: Shape | null): void;
  add(shape: Shape): void;
  /** Removes shapes within this distance of a point. */
  erase(at: Point, distance: number): void;
}

type Pressed = Pick<PointerEvent, "pointerId" | "clientX" | "clientY">;
const pointOf = ({ clientX, clientY }: Pressed): Point => ({ x: clientX, y: clientY });

export class Gestures {
  /** The color of what is drawn, as an index. */
  tint = 0;
  readonly #camera: Camera;
  readonly #drawing: Drawing;
  /** Positions of the pressed pointers in the window. */
  readonly #pressed = new Map<number, Point>();
  #draft: Shape | null = null;
  /** The gesture of a single pointer; null without one, and after a second one was pressed. */
  #mode: Tool | null = null;

  constructor(camera: Camera, drawing: Drawing) {
    this.#camera = camera;
    this.#drawing = drawing;
  }

  /** `mode` is what this pointer does as long as it is the only one; null if that is no matter of the board. */
  press(event: Pressed, mode: Tool | null): void {
    this.#pressed.set(event.pointerId, pointOf(event));
    if (this.#pressed.size > 1) {
      this.#finish(false);
      return;
    }
    if (mode === null) return;
    this.#mode = mode;
    this.#drawing.begin();
    if (this.#mode === "eraser") this.#erase(pointOf(event));
    else if (this.#mode !== "move") this.#start(this.#mode, this.#boardPoint(event));
  }

  move(event: Pressed): void {
    const before = this.#pressed.get(event.pointerId);
    if (before === undefined) return;
    const other = [...this.#pressed].find(([id]) => id !== event.pointerId)?.[1];
    const after = pointOf(event);
    if (other !== undefined) this.#pinch(other, before, after);
    else if (this.#mode === "move") this.#camera.pan({ x: after.x - before.x, y: after.y - before.y });
    else if (this.#mode === "eraser") this.#erase(after);
    else if (this.#draft !== null && !this.#draw(this.#draft, event)) return;
    this.#pressed.set(event.pointerId, after);
  }

  release(event: Pressed): void {
    this.#pressed.delete(event.pointerId);
    this.#finish(true);
  }

  /** The pointer is gone: what it was drawing is given up. */
  cancel(pointerId: number): void {
    this.#pressed.delete(pointerId);
    this.#finish(false);
  }

  #finish(isWhole: boolean): void {
    if (this.#mode === null) return;
    const draft = this.#draft;
    this.#mode = this.#draft = null;
    if (isWhole && draft !== null && draft.points.length >= 4) this.#drawing.add(draft);
    else this.#drawing.show(null);
    this.#drawing.end();
  }

  #boardPoint(event: Pressed): [number, number] {
    const { x, y } = this.#camera.toBoard(pointOf(event));
    return [Math.round(x), Math.round(y)];
  }

  #start(kind: Kind, from: readonly [number, number]): void {
    this.#draft = { kind, tint: this.tint, points: [...from] };
  }

  /** False if the pointer has moved too little. */
  #draw(draft: Shape, event: Pressed): boolean {
    const to = this.#boardPoint(event);
    const [x = 0, y = 0] = draft.points.slice(draft.kind === "pen" ? -2 : 0);
    if (Math.hypot(to[0] - x, to[1] - y) * this.#camera.view.zoom < STEP) return false;
    const points = draft.kind === "pen" ? [...draft.points, ...to] : [...draft.points.slice(0, 2), ...to];
    this.#draft = { ...draft, points };
    this.#drawing.show(this.#draft);
    if (points.length < 2 * MAX_POINTS) return true;
    this.#drawing.add(this.#draft);
    this.#start(draft.kind, to);
    return true;
  }

  #erase(inWindow: Point): void {
    this.#drawing.erase(this.#camera.toBoard(inWindow), 10 / this.#camera.view.zoom);
  }

  #pinch(other: Point, before: Point, after: Point): void {
    const middle = (point: Point) => ({ x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 });
    const distance = (point: Point) => Math.max(Math.hypot(point.x - other.x, point.y - other.y), 1);
    const [from, to] = [middle(before), middle(after)];
    this.#camera.pan({ x: to.x - from.x, y: to.y - from.y });
    this.#camera.zoomAt(to, distance(after) / distance(before));
  }
}
