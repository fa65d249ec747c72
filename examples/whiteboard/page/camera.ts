/** The part of the board that the window shows. */
import type { Point } from "./shapes.ts";

const CLOSEST = 8;
const FARTHEST = 0.1;

export interface View extends Point {
  readonly zoom: number;
}

export class Camera {
  /** The board's point in the window's upper left corner. */
  view: View = { x: 0, y: 0, zoom: 1 };
  readonly #onMove: (view: View) => void;

  constructor(onMove: (view: View) => void) {
    this.#onMove = onMove;
  }

  /** The point of the board under a point of the window. */
  toBoard(inWindow: Point): Point {
    const { x, y, zoom } = this.view;
    return { x: x + inWindow.x / zoom, y: y + inWindow.y / zoom };
  }

  toWindow(onBoard: Point): Point {
    const { x, y, zoom } = this.view;
    return { x: (onBoard.x - x) * zoom, y: (onBoard.y - y) * zoom };
  }

  /** Moves by a distance in the window. */
  pan(by: Point): void {
    const { x, y, zoom } = this.view;
    this.show({ x: x + by.x / zoom, y: y + by.y / zoom, zoom });
  }

  /** Zooms by a factor; the board's point under `center` stays where it is. */
  zoomAt(center: Point, factor: number): void {
    const fixed = this.toBoard(center);
    const zoom = Math.min(Math.max(this.view.zoom * factor, FARTHEST), CLOSEST);
    this.show({ x: fixed.x - center.x / zoom, y: fixed.y - center.y / zoom, zoom });
  }

  show(view: View): void {
    this.view = view;
    this.#onMove(view);
  }
}
