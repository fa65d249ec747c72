/** Which shape is selected, and what a pointer does with it before the room knows. */
import type { Point, Shape } from "../room/shape.ts";
import { distanceTo } from "./geometry.ts";
import { boxOf, movedBy, resizedBy, type ShapeEdit, sayEdit, titleOf } from "./shape-edits.ts";

/** The shapes of the room. */
export interface ShapeStore {
  /** In the order in which they are drawn. */
  list(): readonly (readonly [id: string, shape: Shape])[];
  put(id: string, shape: Shape): void;
  delete(id: string): void;
  /** Shows others the shape that is held; null for none. */
  show(shape: Shape | null): void;
}

export interface Selected {
  /** The shape that the Tab key reaches; null before one was selected. */
  readonly id: string | null;
  /** Whether it has the focus. */
  readonly isActive: boolean;
  /** What it looks like while a pointer holds it. */
  readonly held: Shape | null;
  /** What has happened, for those who do not see it. */
  readonly said: string;
}

interface Hold {
  readonly id: string;
  readonly shape: Shape;
  readonly from: Point;
  readonly type: "move" | "resize";
}

export class ShapeSelection {
  state: Selected = { id: null, isActive: false, held: null, said: "" };
  readonly #shapes: ShapeStore;
  readonly #listeners = new Set<() => void>();
  #hold: Hold | null = null;

  constructor(shapes: ShapeStore) {
    this.#shapes = shapes;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #set(change: Partial<Selected>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.#listeners) listener();
  }

  select(id: string): void {
    this.#set({ id, isActive: true });
  }

  leave(): void {
    this.#set({ isActive: false });
  }

  /** Changes the selected shape as a key says. Returns it as it is then; null if there is none. */
  edit(edit: ShapeEdit): Shape | null {
    const { id } = this.state;
    const shape = this.#shapes.list().find(([one]) => one === id)?.[1];
    if (id === null || shape === undefined) return null;
    const after =
      edit.type === "move"
        ? movedBy(shape, edit.by)
        : edit.type === "resize"
          ? resizedBy(shape, edit.by)
          : shape;
    if (after !== shape) this.#shapes.put(id, after);
    if (edit.type === "delete") this.#shapes.delete(id);
    this.#set({ said: sayEdit(edit, after, this.#shapes.list().length) });
    return after;
  }

  /** A pointer goes down at a point of the board. Returns the shape that it holds from then on; null if it reaches none. */
  press(at: Point, reach: number): string | null {
    const hold = this.#grip(at, reach);
    this.#hold = hold;
    if (hold === null) return null;
    this.#set({
      id: hold.id,
      isActive: true,
      said: hold.id === this.state.id ? "" : `${titleOf(hold.shape)} selected`,
    });
    return hold.id;
  }

  /** The selected shape is held by its box and its corner, others by their lines. */
  #grip(from: Point, reach: number): Hold | null {
    const shapes = this.#shapes.list();
    const [id, shape] = (this.state.isActive && shapes.find(([one]) => one === this.state.id)) || [];
    if (id !== undefined && shape !== undefined) {
      const { x, y, width, height } = boxOf(shape);
      if (Math.hypot(from.x - x - width, from.y - y - height) < 2 * reach)
        return { id, shape, from, type: "resize" };
      const isWithin = from.x > x && from.x < x + width && from.y > y && from.y < y + height;
      if (isWithin) return { id, shape, from, type: "move" };
    }
    const touched = shapes.findLast(([, one]) => distanceTo(one, from) < reach);
    return touched === undefined ? null : { id: touched[0], shape: touched[1], from, type: "move" };
  }

  move(at: Point): void {
    if (this.#hold === null) return;
    const { shape, from, type } = this.#hold;
    const by = { x: at.x - from.x, y: at.y - from.y };
    const held = type === "move" ? movedBy(shape, by) : resizedBy(shape, by);
    this.#shapes.show(held);
    this.#set({ held });
  }

  /** The pointer lets the shape go. False for `isKept` takes back what it has done. */
  release(isKept: boolean): void {
    const { held } = this.state;
    const hold = this.#hold;
    this.#hold = null;
    if (hold === null || held === null) return;
    const isThere = this.#shapes.list().some(([id]) => id === hold.id);
    if (isKept && isThere) this.#shapes.put(hold.id, held);
    this.#shapes.show(null);
    this.#set({ held: null });
  }
}
