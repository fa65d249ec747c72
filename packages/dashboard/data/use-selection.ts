/** The rows of a list that the person has selected, to act on them together. */
import { useState } from "react";

/** The selected ones, and the row from which a range extends. */
export interface Selected {
  readonly ids: ReadonlySet<string>;
  /** The row that was switched last; null for none. */
  readonly anchor: string | null;
}

export const NONE: Selected = { ids: new Set(), anchor: null };

/**
 * The selection after a row of those `shown` was switched: the others stay. As a range, all rows from the anchor on
 * become as this one.
 */
export function switchRow(
  { ids, anchor }: Selected,
  shown: readonly string[],
  id: string,
  isRange: boolean,
): Selected {
  const isOn = !ids.has(id);
  const [from, to] = [shown.indexOf(anchor ?? id), shown.indexOf(id)];
  const changed = isRange && from !== -1 ? shown.slice(Math.min(from, to), Math.max(from, to) + 1) : [id];
  const next = new Set(ids);
  for (const one of changed) {
    if (isOn) next.add(one);
    else next.delete(one);
  }
  return { ids: next, anchor: id };
}

/** All rows that are shown, or none if all of them are selected already. */
export const switchAll = ({ ids }: Selected, shown: readonly string[]): Selected =>
  shown.every((id) => ids.has(id)) ? NONE : { ids: new Set(shown), anchor: null };

/** These rows beside the others, which stay; without these if all of them are selected already. */
export function switchSome({ ids }: Selected, some: readonly string[]): Selected {
  const others = [...ids].filter((id) => !some.includes(id));
  return { ids: new Set(some.every((id) => ids.has(id)) ? others : [...others, ...some]), anchor: null };
}

export type Selection<Item> = ReturnType<typeof useSelection<Item>>;

/** `shown` are the rows of the page. */
export function useSelection<Item>(shown: readonly Item[], idOf: (item: Item) => string) {
  const [selected, setSelected] = useState(NONE);
  const ids = shown.map(idOf);
  const items = shown.filter((item) => selected.ids.has(idOf(item)));
  const shareOf = (some: readonly string[]) => {
    const chosen = some.filter((id) => selected.ids.has(id)).length;
    if (chosen === 0) return "none";
    return chosen < some.length ? "some" : "all";
  };
  return {
    /** The selected rows that are shown, in their order. Hidden rows are never acted on. */
    items,
    has: (id: string) => selected.ids.has(id),
    /** Switches a row; as a range, also the rows between it and the one before. */
    toggle: (id: string, isRange: boolean) => setSelected((known) => switchRow(known, ids, id, isRange)),
    all: shareOf(ids),
    toggleAll: () => setSelected((known) => switchAll(known, ids)),
    /** The box of several neighbours. */
    within: (some: readonly string[]) => ({
      all: shareOf(some),
      toggleAll: () => setSelected((known) => switchSome(known, some)),
    }),
    clear: () => setSelected(NONE),
  };
}
