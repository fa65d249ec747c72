/** The application's own copy of the store: kept by its own calls and the event `changed` alone. */
import type { AtriumClient } from "atrium/client";
import { type Box, readShape, type Shape, type STORES } from "./shapes.ts";

export type Client = AtriumClient<typeof STORES>;

/**
 * Applications with a model of their own work like this: they change the model, write what they changed, and apply
 * what `changed` reports. The model then always equals the store.
 */
export class Mirror {
  /** In the order in which they were added, which is the order in which they are drawn. */
  readonly shapes = new Map<string, Shape>();
  readonly #client: Client;
  readonly #onChange: () => void;
  #created = 0;

  /** Call after the store is synced. */
  constructor(client: Client, onChange: () => void) {
    this.#client = client;
    this.#onChange = onChange;
    for (const [id, value] of Object.entries(client.stores.shapes.getAll())) this.#apply(id, value);
    client.stores.shapes.on("changed", ({ key, value }) => {
      this.#apply(key, value);
      onChange();
    });
  }

  /** An id that sorts after those made before it. */
  newId(): string {
    this.#created += 1;
    return `${Date.now().toString(36)}-${this.#created.toString(36)}-${this.#client.userId}`;
  }

  put(id: string, shape: Shape): void {
    this.#apply(id, shape);
    this.#write(this.#client.stores.shapes.set(id, { ...shape, points: [...shape.points] }));
    this.#onChange();
  }

  /** Moves and resizes. */
  place(id: string, box: Box): void {
    const shape = this.shapes.get(id);
    if (shape === undefined) return;
    const { x, y, width, height } = box;
    this.#apply(id, { ...shape, x, y, width, height });
    this.#write(this.#client.stores.shapes.update(id, { x, y, width, height }));
    this.#onChange();
  }

  remove(id: string): void {
    this.#apply(id, undefined);
    this.#write(this.#client.stores.shapes.delete(id));
    this.#onChange();
  }

  #apply(id: string, value: unknown): void {
    const shape = readShape(value);
    if (shape === null) this.shapes.delete(id);
    else this.shapes.set(id, shape);
  }

  /** A refused write is taken back by `changed`, so there is nothing to do but say so. */
  #write(written: Promise<unknown>): void {
    written.catch((error: unknown) => console.warn("A change was not saved:", error));
  }
}
