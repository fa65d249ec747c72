/** What this visitor does on the board: what is selected, how far it is dragged, what is drawn. The others see it as presence. */
import type { RoomClient } from "atrium/react";
import { type BoardItems, type Box, originOf } from "../room/items.ts";
import { MAX_SHOWN, placeOf } from "../room/model.ts";
import type { Point, Shape } from "../room/shape.ts";

interface SelectionState {
  readonly ids: ReadonlySet<string>;
  /** The distance of a drag in progress; null without one. */
  readonly by: Point | null;
  /** The width of the selected note while it is changed. */
  readonly width: number | null;
  /** The area that is being selected. */
  readonly marquee: Box | null;
  /** The shape that is being drawn. */
  readonly draft: Shape | null;
}

export class Selection {
  state: SelectionState = { ids: new Set(), by: null, width: null, marquee: null, draft: null };
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
    this.#show({ ids: isSame ? this.state.ids : next, by: null, width: null, marquee, draft: null });
    if (!isSame) this.#presence.update({ selection: [...next].slice(0, MAX_SHOWN) });
  }

  /** Adds an item, or takes it out. */
  toggle(id: string): void {
    const { ids } = this.state;
    this.select(ids.has(id) ? [...ids].filter((each) => each !== id) : [...ids, id]);
  }

  /** Shows the selected items this far from where they are, at this width; the others see the first one's place, and all follow it. */
  drag(by: Point, items: BoardItems, width: number | null = null): void {
    this.#show({ ...this.state, by, width });
    const [first = ""] = this.state.ids;
    const item = items.get(first);
    if (item === undefined) return;
    const { x, y } = originOf(item);
    this.#presence.update({ drag: placeOf({ x: x + by.x, y: y + by.y }), width });
  }

  draw(draft: Shape): void {
    this.#show({ ...this.state, draft });
    this.#presence.update({ draft });
  }

  /** Ends a drag or a drawing: for the others when `saved` has settled, so that they see what was dropped meanwhile. */
  drop(saved: Promise<unknown> = Promise.resolve()): void {
    this.#show({ ...this.state, by: null, width: null, draft: null });
    const end = () => {
      const { by, draft } = this.state;
      if (by === null && draft === null) this.#presence.update({ drag: null, width: null, draft: null });
    };
    void saved.finally(end); // a refusal is a toast
  }

  #show(state: SelectionState): void {
    this.state = state;
    for (const listener of this.#listeners) listener();
  }
}
