/** The part of the board that the window shows: the board has no end. */

import type { Box } from "../room/items.ts";
import type { Point } from "../room/shape.ts";

const CLOSEST = 4;
const FARTHEST = 0.1;

/** The place of the board's middle in the window, in whole pixels, and the scale. */
interface View extends Point {
  readonly zoom: number;
}

/** Whether panels are sheets: below the 40rem of the style sheets. */
export const isNarrow = (): boolean => innerWidth < 640;

/** Whether this is a window of the front page, which has the board alone. */
export const isFramed = (): boolean => self !== top;
/** What it shows at first: the first notes and drawings, and below them those of helpers. */
export const FRAMED_BOX = { x: -346, y: -246, width: 686, height: 686 };
/** Text is read at this zoom and above: a window that is too small for the box shows its left top corner. */
export const FARTHEST_FRAMED = 0.75;

const ALONE = { width: 0, height: 0 };
const SIDE = 16;
/** Below the bar at the top, and above that of the tools, which the drawer lifts. */
const TOP = 68;
const ABOVE = 24;

/** The part of the window that no panel covers, nor what is open beside the board; on a phone, a sheet covers all of it. */
export function freePart(): Box {
  if (isFramed()) return { x: 0, y: 0, width: innerWidth, height: innerHeight };
  const beside = isNarrow() ? null : document.querySelector(".side, atrium-devtools");
  const right = beside?.getBoundingClientRect().left ?? innerWidth;
  const bottom = document.querySelector(".bar")?.getBoundingClientRect().top ?? innerHeight;
  return { x: SIDE, y: TOP, width: right - 2 * SIDE, height: bottom - ABOVE - TOP };
}

/** The part for what is written next: without that of the invitation, which leaves by and by. */
export function writingPart(): Box {
  const part = freePart();
  const invitation = document.querySelector(".invitation")?.getBoundingClientRect().bottom ?? 0;
  const covered = Math.max(invitation + SIDE - part.y, 0);
  return { ...part, y: part.y + covered, height: part.height - covered };
}

/** The widths of a comment's card and its pin. */
const CARD = 380;

/** Whether a card fits beside an open panel. */
export const hasRoomBeside = (): boolean => !isNarrow() && freePart().width >= CARD;

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

  /** Shows in one part of the window what a view shows in another: all of the content if that does, or else the same middle. */
  adapt(view: View, from: Box, to: Box, content: Box | null): void {
    this.#show(view);
    const { zoom } = view;
    const size = content && { width: content.width * zoom, height: content.height * zoom };
    if (content && size && isWithin({ ...this.toWindow(content), ...size }, from)) {
      if (size.width > to.width || size.height > to.height) this.fit(content, to, zoom);
      else this.reveal(content, to, size);
    } else {
      this.#shift({
        x: to.x - from.x + (to.width - from.width) / 2,
        y: to.y - from.y + (to.height - from.height) / 2,
      });
    }
  }

  #shift({ x, y }: Point): void {
    this.#show({ ...this.view, x: this.view.x + x, y: this.view.y + y });
  }

  #show({ x, y, zoom }: View): void {
    this.view = { x: Math.round(x), y: Math.round(y), zoom };
    for (const listener of this.listeners) listener();
  }
}

const endOf = ({ x, y, width, height }: Box): Point => ({ x: x + width, y: y + height });

const isWithin = (box: Box, part: Box): boolean => {
  const [end, edge] = [endOf(box), endOf(part)];
  return box.x >= part.x && box.y >= part.y && end.x <= edge.x && end.y <= edge.y;
};

/**
 * Keeps what was in view there when a panel or the drawer opens: all of the content, smaller if it must be, or else the
 * same middle. When that closes, the view is as it was before, unless the visitor has moved it meanwhile. Returns a
 * function that ends this.
 */
export function keepInView(camera: Camera, content: () => Box | null): () => void {
  let part = freePart();
  let before = { view: camera.view, part };
  let shown = camera.view;
  const begin = () => {
    part = freePart();
    before = { view: camera.view, part };
    shown = camera.view;
  };
  const adapt = () => {
    const next = freePart();
    if (JSON.stringify(next) === JSON.stringify(part)) return;
    if (camera.view !== shown) before = { view: camera.view, part };
    part = next;
    camera.adapt(before.view, before.part, next, content());
    shown = camera.view;
  };
  const observer = new MutationObserver(adapt);
  observer.observe(document.body, { childList: true });
  addEventListener("resize", begin);
  return () => {
    observer.disconnect();
    removeEventListener("resize", begin);
  };
}
