/** What a drag of the pointer does, from press to release: draw, add a box, select, move, resize or pan. */
import type { Camera } from "./camera.ts";
import type { Mirror } from "./mirror.ts";
import { HANDLE } from "./painter.ts";
import {
  type Box,
  boxAround,
  boxBetween,
  contains,
  mapBox,
  overlap,
  type Point,
  type Shape,
  strokeThrough,
} from "./shapes.ts";

export type Tool = "select" | "draw" | "box" | "pan";

/** A drag in progress; points are those of the board. */
interface Drag {
  move(to: Point): void;
}

export class Gestures {
  tool: Tool = "draw";
  color = "#1f2937";
  /** The ids of the selected shapes. */
  selected: ReadonlySet<string> = new Set();
  marquee: Box | null = null;
  readonly #mirror: Mirror;
  readonly #camera: Camera;
  #drag: Drag | null = null;

  constructor(mirror: Mirror, camera: Camera) {
    this.#mirror = mirror;
    this.#camera = camera;
  }

  /** The selected shapes that still exist. */
  get selection(): readonly Shape[] {
    return [...this.selected].flatMap((id) => this.#mirror.shapes.get(id) ?? []);
  }

  press(at: Point): void {
    this.#drag = this.#begin(at);
  }

  move(to: Point): void {
    this.#drag?.move(to);
  }

  release(): void {
    this.#drag = null;
    this.marquee = null;
  }

  removeSelection(): void {
    for (const id of this.selected) this.#mirror.remove(id);
    this.selected = new Set();
  }

  #begin(at: Point): Drag {
    if (this.tool === "draw") return this.#draw(at);
    if (this.tool === "box") return this.#addBox(at);
    if (this.tool === "pan") return this.#pan(at);
    const around = boxAround(this.selection);
    if (around !== null && contains(this.#handleOf(around), at)) return this.#resize(around);
    if (around !== null && contains(around, at)) return this.#moveSelection(around, at);
    return this.#select(at);
  }

  #draw(at: Point): Drag {
    const id = this.#mirror.newId();
    const points = [at];
    return {
      move: (to) => {
        points.push(to);
        this.#mirror.put(id, strokeThrough(points, this.color));
      },
    };
  }

  #addBox(at: Point): Drag {
    const id = this.#mirror.newId();
    return {
      move: (to) =>
        this.#mirror.put(id, { kind: "box", ...boxBetween(at, to), color: this.color, points: [], file: "" }),
    };
  }

  #pan(at: Point): Drag {
    const { zoom } = this.#camera.view;
    // `to` is relative to the moved view, so that `at` stays under the pointer.
    return { move: (to) => this.#camera.pan({ x: (at.x - to.x) * zoom, y: (at.y - to.y) * zoom }) };
  }

  #select(at: Point): Drag {
    const hit = [...this.#mirror.shapes].findLast(([, shape]) => contains(shape, at));
    this.selected = new Set(hit && [hit[0]]);
    const around = hit && boxAround([hit[1]]);
    if (around) return this.#moveSelection(around, at);
    return {
      move: (to) => {
        const marquee = boxBetween(at, to);
        this.marquee = marquee;
        const inside = [...this.#mirror.shapes].filter(([, shape]) => overlap(shape, marquee));
        this.selected = new Set(inside.map(([id]) => id));
      },
    };
  }

  #moveSelection(from: Box, at: Point): Drag {
    return this.#transform(from, (to) => ({ ...from, x: from.x + to.x - at.x, y: from.y + to.y - at.y }));
  }

  #resize(from: Box): Drag {
    const size = (length: number) => Math.max(length, 1);
    return this.#transform(from, (to) => ({
      ...from,
      width: size(to.x - from.x),
      height: size(to.y - from.y),
    }));
  }

  /** Every movement writes every selected shape: the SDK sends the latest place of each. */
  #transform(from: Box, target: (to: Point) => Box): Drag {
    const originals = [...this.selected].flatMap((id) => {
      const shape = this.#mirror.shapes.get(id);
      return shape === undefined ? [] : ([[id, shape]] as const);
    });
    return {
      move: (to) => {
        for (const [id, shape] of originals) this.#mirror.place(id, mapBox(shape, from, target(to)));
      },
    };
  }

  #handleOf({ x, y, width, height }: Box): Box {
    const size = (2 * HANDLE) / this.#camera.view.zoom;
    return { x: x + width - size / 2, y: y + height - size / 2, width: size, height: size };
  }
}
