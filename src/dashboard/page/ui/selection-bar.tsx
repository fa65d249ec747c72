/** What can be done with the selected rows of a list: above the page's lower edge while any is selected. */
import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Selection } from "../data/use-selection.ts";
import type { BulkAction } from "./bulk-action.ts";
import { Button } from "./button.tsx";
import { countOf, type Noun } from "./noun.ts";
import { Several } from "./several.tsx";

export interface SelectionBarProps<Item> {
  readonly selection: Selection<Item>;
  readonly noun: Noun;
  readonly nameOf: (item: Item) => string;
  readonly actions: readonly BulkAction<Item>[];
  /** Prefixes of the query keys to refresh afterwards. */
  readonly invalidates: readonly QueryKey[];
}

/** What the person is asked about: it stays although the list changes. */
interface Asked<Item> {
  readonly action: BulkAction<Item>;
  readonly items: readonly Item[];
}

export function SelectionBar<Item>({
  selection,
  noun,
  nameOf,
  actions,
  invalidates,
}: SelectionBarProps<Item>) {
  const [asked, setAsked] = useState<Asked<Item> | null>(null);
  const queries = useQueryClient();
  const { items, clear } = selection;
  const refresh = () =>
    void Promise.all(invalidates.map((queryKey) => queries.invalidateQueries({ queryKey })));
  return (
    <>
      {items.length > 0 && (
        <section className="selection-bar" aria-label="Selection">
          <span role="status">{countOf(items.length, noun)} selected</span>
          {actions.map((action) => {
            const concerned = action.applies ? items.filter(action.applies) : items;
            if (concerned.length === 0) return null;
            return (
              <Button
                key={action.label}
                className={action.isDanger ? "bad-text" : ""}
                aria-label={`${action.label} ${countOf(concerned.length, noun)}`}
                onClick={() => setAsked({ action, items: concerned })}
              >
                {action.label} {concerned.length}
              </Button>
            );
          })}
          <Button variant="quiet" icon="close" aria-label="Clear selection" onClick={clear} />
        </section>
      )}
      {asked && (
        <Several
          {...asked}
          noun={noun}
          nameOf={nameOf}
          onEnd={({ refused, left }) => {
            if (refused.length + left.length === 0) clear();
            refresh();
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}
