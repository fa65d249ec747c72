/** The selection of this visitor, and how far it is dragged. The others see both as presence. */
import type { RoomClient } from "atrium/react";
import { MAX_SHOWN, placeOf } from "../room/model.ts";
import type { Point } from "../room/shape.ts";
import { type Box, originOf, type Things } from "../room/things.ts";

interface SelectionState {
  readonly ids: ReadonlySet<string>;
  /** The distance of a drag in progress; null without one. */
  readonly by: Point | null;
  /** The area that is being selected. */
  readonly marquee: Box | null;
}

export class Selection {
  state: SelectionState = { ids: new Set(), by: null, marquee: null };
  readonly #presence: RoomClient["presence"];
  readonly #listeners = new Set<() => void>();

  constructor({ presence }: RoomClient) {
    this.#presence = presence;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  select(ids: Iterable<string>, marquee: Box | null = null): void {
    const next = new Set(ids);
    const isSame = next.size === this.state.ids.size && [...next].every((id) => this.state.ids.has(id));
    this.#show({ ids: isSame ? this.state.ids : next, by: null, marquee });
    if (!isSame) this.#presence.update({ selection: [...next].slice(0, MAX_SHOWN) });
  }

  /** Adds a thing, or takes it out. */
  toggle(id: string): void {
    const { ids } = this.state;
    this.select(ids.has(id) ? [...ids].filter((each) => each !== id) : [...ids, id]);
  }

  /** Shows the selected things this far from where they are; the others see the first one's place, and all follow it. */
  drag(by: Point, things: Things): void {
    this.#show({ ...this.state, by });
    const [first = ""] = this.state.ids;
    const thing = things.get(first);
    if (thing === undefined) return;
    const { x, y } = originOf(thing);
    this.#presence.update({ drag: placeOf({ x: x + by.x, y: y + by.y }) });
  }

  /** Ends a drag: for the others when `saved` has settled, so that they see the things where they were dropped meanwhile. */
  drop(saved: Promise<unknown>): void {
    this.#show({ ...this.state, by: null });
    const end = () => {
      if (this.state.by === null) this.#presence.update({ drag: null });
    };
    void saved.then(end, end);
  }

  #show(state: SelectionState): void {
    this.state = state;
    for (const listener of this.#listeners) listener();
  }
}
