/** Moves pointers without React: each frame draws those that are in view, and nothing else. */

/** A pointer takes as long for its way as its last two positions were apart in time, within these bounds. */
const [SHORTEST_MS, LONGEST_MS] = [50, 300];
/** Duration of a move after a pause. */
const FIRST_MS = 100;
/** Names of more pointers in view would cover the area. */
const MAX_NAMES = 30;
/** A pointer and its name reach this far to the right and down from its position, in pixels of the area. */
const REACH = 200;

export interface CursorPosition {
  readonly x: number;
  readonly y: number;
}

/** The place of the content's origin in its area, in pixels, and the scale. */
export interface CursorView extends CursorPosition {
  readonly zoom: number;
}

interface Pointer {
  readonly element: HTMLElement;
  readonly isFollowed: boolean;
  /** The latest position, and where the pointer was when it came; null while the user shows none. */
  to: CursorPosition | null;
  from: CursorPosition | null;
  receivedAt: number;
  durationMs: number;
  /** The drawn position. */
  at: CursorPosition | null;
}

/** A length of the content, rounded to less than a pixel of the area. */
export function rounded(length: number, zoom: number): number {
  const parts = 10 ** Math.max(Math.ceil(Math.log10(zoom)), 0);
  return Math.round(length * parts) / parts;
}

function isSame(one: CursorPosition | null, other: CursorPosition | null): boolean {
  return one?.x === other?.x && one?.y === other?.y;
}

/** The position after this part of the way, from 0 to 1. */
function between(from: CursorPosition, to: CursorPosition, part: number): CursorPosition {
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}

/** Any user can show anything. */
function readPosition(shown: unknown): CursorPosition | null {
  const { x, y } = Object(shown);
  return Number.isFinite(x) && Number.isFinite(y) ? { x, y } : null;
}

export class CursorMotion {
  readonly #pointers = new Map<string, Pointer>();
  #layer: HTMLElement | null = null;
  #view: CursorView = { x: 0, y: 0, zoom: 1 };
  #followedMoved: ((position: CursorPosition) => void) | undefined;
  #stillness: MediaQueryList | undefined;
  #frame = 0;

  /** Draws in this element from now on. `followedMoved` gets the position of a followed pointer in each frame in which it moves. */
  show(
    layer: HTMLElement | null,
    view: CursorView,
    followedMoved?: (position: CursorPosition) => void,
  ): void {
    this.#layer = layer;
    this.#view = view;
    this.#followedMoved = followedMoved;
    this.#request();
  }

  /** Moves the element of a user; returns a function that ends it. */
  add(userId: string, element: HTMLElement, isFollowed: boolean): () => void {
    const nowhere = { to: null, from: null, receivedAt: 0, durationMs: 0, at: null };
    this.#pointers.set(userId, { element, isFollowed, ...nowhere });
    return () => this.#pointers.delete(userId);
  }

  receive(userId: string, shown: unknown): void {
    const pointer = this.#pointers.get(userId);
    const to = readPosition(shown);
    if (pointer === undefined || isSame(to, pointer.to)) return;
    this.#stillness ??= matchMedia("(prefers-reduced-motion: reduce)");
    const now = performance.now();
    const elapsed = now - pointer.receivedAt;
    const wayMs = elapsed > LONGEST_MS ? FIRST_MS : Math.max(elapsed, SHORTEST_MS);
    pointer.durationMs = this.#stillness.matches ? 0 : wayMs;
    pointer.from = pointer.at;
    pointer.to = to;
    pointer.receivedAt = now;
    this.#request();
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  #request(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame((now) => this.#draw(now));
  }

  #draw(now: number): void {
    this.#frame = 0;
    const isInView = this.#viewer();
    let [isMoving, shown] = [false, 0];
    for (const pointer of this.#pointers.values()) {
      const { element, isFollowed, to, from, receivedAt, durationMs, at } = pointer;
      const isShown = to !== null && (isInView(to) || (at !== null && isInView(at)));
      if (element.hidden === isShown) element.hidden = !isShown;
      // Out of view, it is where it will be.
      const part = isShown && durationMs > 0 ? Math.max((now - receivedAt) / durationMs, 0) : 1;
      pointer.at = to !== null && from !== null && part < 1 ? between(from, to, part) : to;
      if (isShown) shown += 1;
      if (isShown && part < 1) isMoving = true;
      if (pointer.at === null || isSame(pointer.at, at)) continue;
      const [x, y] = [pointer.at.x, pointer.at.y].map((value) => rounded(value, 10 * this.#view.zoom));
      element.style.transform = `translate(${x}px, ${y}px)`;
      if (isFollowed) this.#followedMoved?.(pointer.at);
    }
    this.#layer?.toggleAttribute("data-crowded", shown > MAX_NAMES);
    if (isMoving) this.#request();
  }

  /** Whether a pointer would be seen at a position. */
  #viewer(): (position: CursorPosition) => boolean {
    const { x, y, zoom } = this.#view;
    const { clientWidth = 0, clientHeight = 0 } = this.#layer ?? {};
    const [left, top] = [(-REACH - x) / zoom, (-REACH - y) / zoom];
    const [right, bottom] = [(clientWidth - x) / zoom, (clientHeight - y) / zoom];
    return (at) => at.x > left && at.x < right && at.y > top && at.y < bottom;
  }
}
