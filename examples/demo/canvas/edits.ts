/** This visitor's changes of the board: each method is one step to undo. */
import type { RoomClient } from "atrium/react";
import { type BoardItems, isNote, itemsOf } from "../room/items.ts";
import { placeOf } from "../room/model.ts";
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

  /** The id of a new, empty note. Throws when the board is full. */
  async addNote(place: Point, picture = ""): Promise<string> {
    const key = this.#newKey("notes", 1);
    await this.#store("notes").set(key, { ...placeOf(place), text: "", picture });
    return `notes:${key}`;
  }

  /** The id of a new shape. Throws when the board is full. */
  async addShape(shape: Shape): Promise<string> {
    const key = this.#newKey("shapes", 1);
    await this.#store("shapes").set(key, shape);
    return `shapes:${key}`;
  }

  /** Moves items by a distance. Those that someone deletes meanwhile are gone all the same. */
  async move(ids: Iterable<string>, by: Point): Promise<void> {
    await this.#change(ids, (store, key) => {
      const { x, y } = placeOf(store.get(key));
      return store.update(key, placeOf({ x: x + by.x, y: y + by.y })).catch((error: unknown) => {
        if (store.get(key) !== undefined) throw error;
      });
    });
  }

  async remove(ids: Iterable<string>): Promise<void> {
    await this.#change(ids, (store, key) => store.delete(key));
  }

  /** Copies items a little aside; the ids of the copies. Throws when the board is full. */
  duplicate(ids: Iterable<string>): string[] {
    const originals = [...ids].map(partsOf).filter(([name, key]) => this.#store(name).get(key) !== undefined);
    for (const name of ["notes", "shapes"] as const)
      this.#newKey(name, originals.filter(([each]) => each === name).length);
    return this.#client.history.transaction(() =>
      originals.map(([name, original]) => {
        const key = this.#newKey(name, 1);
        const value: object = { ...Object(this.#store(name).get(original)) };
        const { x, y } = placeOf(value);
        void this.#store(name).set(key, { ...value, ...placeOf({ x: x + ASIDE, y: y + ASIDE }) });
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

  /** Keys sort in the order in which items are drawn, and end with the user's id. Throws when so many more do not fit. */
  #newKey(name: StoreName, more: number): string {
    if (Object.keys(this.#store(name).getAll()).length + more > MAX[name])
      throw new Error(`The board is full. Delete some ${name} first.`);
    this.#made += 1;
    return `${Date.now()}-${this.#made}-${this.#client.userId}`;
  }

  async #change(
    ids: Iterable<string>,
    write: (store: ReturnType<RoomClient["store"]>, key: string) => Promise<unknown>,
  ): Promise<void> {
    const writes = this.#client.history.transaction(() =>
      [...ids].map((id) => {
        const [name, key] = partsOf(id);
        return write(this.#store(name), key);
      }),
    );
    await Promise.all(writes);
  }
}
