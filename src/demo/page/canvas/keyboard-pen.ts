/** A pen that keys move: with it, people without a pointer draw and erase. */
import type { Point } from "../room/shape.ts";
import type { Box, Camera } from "./camera.ts";
import type { Gestures, Tool } from "./gestures.ts";

/** Its ID among the pointers; those of a browser are not negative. */
const POINTER_ID = -1;
/** The step of an arrow key, in pixels of the window. */
const STEP = 20;

export interface PenState {
  /** Its point of the board. */
  readonly at: Point;
  readonly isDown: boolean;
  readonly tool: Tool;
}

export class KeyboardPen {
  /** Null while it is not in use. */
  state: PenState | null = null;
  #tool: Tool = "move";
  readonly #camera: Camera;
  readonly #gestures: Gestures;
  readonly #freePart: () => Box;
  readonly #listeners = new Set<() => void>();

  /** `freePart` is the part of the window that no panel covers: it begins in its middle, and stays in it. */
  constructor(camera: Camera, gestures: Gestures, freePart: () => Box) {
    this.#camera = camera;
    this.#gestures = gestures;
    this.#freePart = freePart;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Changes what it does; what it is drawing is given up. */
  take(tool: Tool): void {
    this.cancel();
    this.#tool = tool;
    if (tool === "move") this.hide();
    else if (this.state !== null) this.#show({ ...this.state, tool });
  }

  /** Moves it by so many steps; false if its tool is not for drawing. */
  move(right: number, down: number): boolean {
    if (this.#tool === "move") return false;
    const { at, ...rest } = this.state ?? this.#inTheMiddle();
    const step = STEP / this.#camera.view.zoom;
    const to = { x: at.x + right * step, y: at.y + down * step };
    this.#camera.reveal(to, this.#freePart());
    this.#show({ at: to, ...rest });
    if (rest.isDown) this.#gestures.move(this.#pressedAt(to));
    return true;
  }

  /** Puts it down, or lifts it; false if its tool is not for drawing. */
  press(): boolean {
    if (this.#tool === "move") return false;
    const { at, isDown, tool } = this.state ?? this.#inTheMiddle();
    if (isDown) this.#gestures.release(this.#pressedAt(at));
    else this.#gestures.press(this.#pressedAt(at), tool);
    this.#show({ at, isDown: !isDown, tool });
    return true;
  }

  /** Lifts it, and gives up what it is drawing; false if it is not down. */
  cancel(): boolean {
    if (this.state?.isDown !== true) return false;
    this.#gestures.cancel(POINTER_ID);
    this.#show({ ...this.state, isDown: false });
    return true;
  }

  /** Puts it away; false if it is not in use. */
  hide(): boolean {
    if (this.state === null) return false;
    this.cancel();
    this.#show(null);
    return true;
  }

  #inTheMiddle(): PenState {
    const { x, y, width, height } = this.#freePart();
    const at = this.#camera.toBoard({ x: x + width / 2, y: y + height / 2 });
    return { at, isDown: false, tool: this.#tool };
  }

  #pressedAt(point: Point) {
    const { x, y } = this.#camera.toWindow(point);
    return { pointerId: POINTER_ID, clientX: x, clientY: y };
  }

  #show(state: PenState | null): void {
    this.state = state;
    for (const listener of this.#listeners) listener();
  }
}
