/** The part of the board that the window shows: the board has no end. */

import type { Box } from "../room/items.ts";
import type { Point } from "../room/shape.ts";

const CLOSEST = 4;
const FARTHEST = 0.1;

/** The place of the board's middle in the window, in whole pixels, and the scale. */
interface View extends Point {
  readonly zoom: number;
}

/** Whether panels stand above and below the board: below the 68rem of the style sheets. */
export const isNarrow = (): boolean => innerWidth <= 1088;

const ALONE = { width: 0, height: 0 };
const SIDE = 16;
/** The columns of tools and of panels at both sides of a wide window. */
const COLUMN = 62;
/** On narrow screens, the panels are above and below each other. */
const panelHeights = () => (isNarrow() ? { top: 262, bottom: 250 } : { top: 76, bottom: 92 });

/** The part of the window that no panel covers, nor what is open beside the board; on a phone, a sheet covers all of it. */
export function freePart(): Box {
  const { top, bottom } = panelHeights();
  const column = isNarrow() ? 0 : COLUMN;
  const beside = isNarrow() ? null : document.querySelector(".side, atrium-devtools");
  const right = beside?.getBoundingClientRect().left ?? innerWidth - column;
  const x = column + SIDE;
  return { x, y: top, width: right - SIDE - x, height: innerHeight - top - bottom };
}

export const freeMiddle = (): Point => {
  const { x, y, width, height } = freePart();
  return { x: x + width / 2, y: y + height / 2 };
};

export class Camera {
  view: View = { x: 0, y: 0, zoom: 1 };
  /** Is called when the visitor moves the board. */
  readonly #moved: () => void;
  /** Are called when the board has moved. */
  readonly listeners = new Set<() => void>();

  constructor(moved: () => void) {
    this.#moved = moved;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The point of the board under a point of the window. */
  toBoard({ x, y }: Point): Point {
    const { view } = this;
    return { x: (x - view.x) / view.zoom, y: (y - view.y) / view.zoom };
  }

  toWindow({ x, y }: Point): Point {
    const { view } = this;
    return { x: x * view.zoom + view.x, y: y * view.zoom + view.y };
  }

  /** Moves the board by a distance in the window. */
  pan({ x, y }: Point): void {
    this.#moved();
    this.#shift({ x, y });
  }

  /** Zooms by a factor; the board's point under `center` stays where it is. */
  zoomAt(center: Point, factor: number): void {
    this.#moved();
    const fixed = this.toBoard(center);
    const next = Math.min(Math.max(this.view.zoom * factor, FARTHEST), CLOSEST);
    // Back to 100 % after steps that come close to it.
    const zoom = Math.abs(next - 1) < 0.01 ? 1 : next;
    this.#show({ x: center.x - fixed.x * zoom, y: center.y - fixed.y * zoom, zoom });
  }

  /** Shows a box of the board in the middle of a part of the window, as large as it may be up to `closest`. */
  fit(box: Box, part: Box, closest = 1, farthest = FARTHEST): void {
    const fitting = Math.min(part.width / box.width, part.height / box.height, closest);
    const zoom = Math.max(fitting, farthest);
    this.#show({
      x: part.x + part.width / 2 - (box.x + box.width / 2) * zoom,
      y: part.y + part.height / 2 - (box.y + box.height / 2) * zoom,
      zoom,
    });
  }

  /** Moves as little as necessary for a point of the board, and what begins there in the window, to be in this part. */
  reveal(point: Point, part: Box, { width, height } = ALONE): void {
    const { x, y } = this.toWindow(point);
    const missing = (at: number, size: number, start: number, length: number) =>
      at < start ? start - at : Math.min(start + length - at - Math.min(size, length), 0);
    const by = {
      x: missing(x, width, part.x, part.width),
      y: missing(y, height, part.y, part.height),
    };
    if (by.x !== 0 || by.y !== 0) this.#shift(by);
  }

  #shift({ x, y }: Point): void {
    this.#show({ ...this.view, x: this.view.x + x, y: this.view.y + y });
  }

  #show({ x, y, zoom }: View): void {
    this.view = { x: Math.round(x), y: Math.round(y), zoom };
    for (const listener of this.listeners) listener();
  }
}
