/** This visitor's changes of the board: each method is one step to undo. */
import type { RoomClient } from "atrium/react";
import { type BoardItems, type Box, boxAround, boxOf, isNote, itemsOf } from "../room/items.ts";
import { frontAbove, paperOf, placeOf, readNote } from "../room/model.ts";
import { distanceTo, type Point, type Shape } from "../room/shape.ts";

/** Bounds of a board, which is for a day and a few people. */
const MAX = { notes: 100, shapes: 500 };
/** How far a copy is from its original. */
const ASIDE = 24;

type StoreName = keyof typeof MAX;

const partsOf = (id: string): [store: StoreName, key: string] => [
  id.startsWith("notes:") ? "notes" : "shapes",
  id.slice(id.indexOf(":") + 1),
];

export class Edits {
  readonly #client: RoomClient;
  #made = 0;

  constructor(client: RoomClient) {
    this.#client = client;
  }

  get items(): BoardItems {
    return itemsOf({ notes: this.#store("notes").getAll(), shapes: this.#store("shapes").getAll() });
  }

  /** The smallest box around all items; null while there is none. */
  get box(): Box | null {
    return boxAround([...this.items.values()].map(boxOf));
  }

  /** The id of a new, empty note. Throws when the board is full. */
  async addNote(place: Point, picture = ""): Promise<string> {
    const key = this.#newKey("notes", 1);
    const front = frontAbove(this.#store("notes").getAll());
    await this.#store("notes").set(key, { ...placeOf(place), text: "", picture, front });
    return `notes:${key}`;
  }

  /** The id of a new shape. Throws when the board is full. */
  async addShape(shape: Shape): Promise<string> {
    const key = this.#newKey("shapes", 1);
    await this.#store("shapes").set(key, shape);
    return `shapes:${key}`;
  }

  /** Moves items by a distance, to the front. */
  move(ids: Iterable<string>, by: Point): Promise<void> {
    return this.#update(ids, (name, key, value) => {
      const { x, y } = placeOf(value);
      return { ...placeOf({ x: x + by.x, y: y + by.y }), ...this.#front(name, key) };
    });
  }

  /** Gives a note another width, and moves it by a distance, to the front. */
  resize(id: string, width: number, by: Point): Promise<void> {
    return this.#update([id], (name, key, value) => {
      const { x, y } = placeOf(value);
      return { ...placeOf({ x: x + by.x, y: y + by.y }), width, ...this.#front(name, key) };
    });
  }

  /** Gives items a color: the index of a paper for notes, of a tint for shapes. */
  paint(ids: Iterable<string>, index: number): Promise<void> {
    return this.#update(ids, (name) => (name === "notes" ? { paper: index } : { tint: index }));
  }

  async remove(ids: Iterable<string>): Promise<void> {
    await this.#change(ids, (store, key) => store.delete(key));
  }

  /** Copies items a little aside; the ids of the copies. Throws when the board is full. */
  duplicate(ids: Iterable<string>): string[] {
    const originals = this.#inOrder(ids).map(partsOf);
    for (const name of ["notes", "shapes"] as const)
      this.#newKey(name, originals.filter(([each]) => each === name).length);
    return this.#client.history.transaction(() =>
      originals.map(([name, original]) => {
        const key = this.#newKey(name, 1);
        const store = this.#store(name);
        const before = store.get(original);
        const paper = name === "notes" && { paper: paperOf(original, readNote(before)) };
        const value: object = { ...Object(before), ...paper, ...this.#front(name) };
        const { x, y } = placeOf(value);
        void store.set(key, { ...value, ...placeOf({ x: x + ASIDE, y: y + ASIDE }) });
        return `${name}:${key}`;
      }),
    );
  }

  /** Removes shapes within this distance of a point. */
  erase(at: Point, distance: number): void {
    for (const [id, item] of this.items)
      if (!isNote(item) && distanceTo(item, at) < distance) void this.remove([id]);
  }

  #store = (name: StoreName) => this.#client.store(name);

  /** Those of the items that exist, from the back to the front. */
  #inOrder(ids: Iterable<string>): string[] {
    const wanted = new Set(ids);
    return [...this.items.keys()].filter((id) => wanted.has(id));
  }

  /** The field that brings a note to the front; none for a shape. */
  #front = (name: StoreName, key?: string) =>
    name === "notes" ? { front: frontAbove(this.#store(name).getAll(), key) } : {};

  /** Keys sort in the order in which items are drawn, and end with the user's id. Throws when so many more do not fit. */
  #newKey(name: StoreName, more: number): string {
    if (Object.keys(this.#store(name).getAll()).length + more > MAX[name])
      throw new Error(`The board is full. Delete some ${name} first.`);
    this.#made += 1;
    return `${Date.now()}-${this.#made}-${this.#client.userId}`;
  }

  /** Changes fields of items. Those that someone deletes meanwhile are gone all the same. */
  #update(
    ids: Iterable<string>,
    fieldsOf: (name: StoreName, key: string, value: unknown) => Record<string, unknown>,
  ): Promise<void> {
    return this.#change(this.#inOrder(ids), (store, key, name) =>
      store.update(key, fieldsOf(name, key, store.get(key))).catch((error: unknown) => {
        if (store.get(key) !== undefined) throw error;
      }),
    );
  }

  async #change(
    ids: Iterable<string>,
    write: (store: ReturnType<RoomClient["store"]>, key: string, name: StoreName) => Promise<unknown>,
  ): Promise<void> {
    const writes = this.#client.history.transaction(() =>
      [...ids].map((id) => {
        const [name, key] = partsOf(id);
        return write(this.#store(name), key, name);
      }),
    );
    await Promise.all(writes);
  }
}
