/** The rows of a list that the person has selected, to act on them together. */
import { useState } from "react";
import { NONE, switchAll, switchRow } from "./selection.ts";

export interface Selection<Item> {
  /** The selected rows that are shown, in their order: what is not shown is never acted on. */
  readonly items: readonly Item[];
  readonly has: (id: string) => boolean;
  /** Switches a row; as a range, also the rows between it and the one before. */
  readonly toggle: (id: string, isRange: boolean) => void;
  readonly all: "none" | "some" | "all";
  readonly toggleAll: () => void;
  readonly clear: () => void;
}

/** `shown` are the rows of the page. */
export function useSelection<Item>(shown: readonly Item[], idOf: (item: Item) => string): Selection<Item> {
  const [selected, setSelected] = useState(NONE);
  const ids = shown.map(idOf);
  const items = shown.filter((item) => selected.ids.has(idOf(item)));
  return {
    items,
    has: (id) => selected.ids.has(id),
    toggle: (id, isRange) => setSelected((known) => switchRow(known, ids, id, isRange)),
    all: items.length === 0 ? "none" : items.length < shown.length ? "some" : "all",
    toggleAll: () => setSelected((known) => switchAll(known, ids)),
    clear: () => setSelected(NONE),
  };
}
