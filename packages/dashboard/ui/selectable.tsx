/** Lists whose rows can be selected, and the bar with the actions on selected rows. */

import type { QueryKey } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type Selection, useSelection } from "../data/use-selection.ts";
import { type BulkAction, BulkDialog, countOf, type Noun } from "./bulk-dialog.tsx";
import { Button } from "./button.tsx";
import { type Counted, Details, Paged, type PagedProps } from "./feedback.tsx";
import { SelectAll, SelectBox, Table, type TableProps } from "./table.tsx";

interface SelectableProps<Item> {
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
  readonly nameOf: (item: Item) => string;
  readonly noun: Noun;
  readonly actions: readonly BulkAction<Item>[];
  /** Prefixes of the query keys to refresh after an action. */
  readonly refreshes: readonly QueryKey[];
}

interface SelectableTableProps<Item>
  extends SelectableProps<Item>,
    Omit<TableProps<Item>, "selection" | "selectedName"> {
  /** The accessible name of an item's box, where the item's name does not say what is selected. */
  readonly selectedName?: (item: Item) => string;
  readonly isSelectable?: (item: Item) => boolean;
}

export function SelectableTable<Item>({
  isSelectable = () => true,
  selectedName,
  ...props
}: SelectableTableProps<Item>) {
  const { items, idOf, nameOf } = props;
  const selectable = items.filter(isSelectable);
  const selection = useSelection(selectable, idOf);
  return (
    <>
      <Table
        {...props}
        selection={selectable.length > 0 ? selection : undefined}
        selectedName={(item) => (isSelectable(item) ? (selectedName ?? nameOf)(item) : null)}
      />
      <SelectionBar {...props} selection={selection} />
    </>
  );
}

interface SelectablePageProps<Item, Data>
  extends Omit<SelectableTableProps<Item>, "items" | "filters">,
    Omit<PagedProps<Data>, "children"> {
  readonly itemsOf: (data: Data) => readonly Item[];
}

/** A page of a list as a table whose rows can be selected. */
export const SelectablePage = <Item, Data extends Counted>({
  query,
  filters,
  empty,
  itemsOf,
  ...table
}: SelectablePageProps<Item, Data>) => (
  <Paged {...{ query, filters, empty }}>
    {(data) => <SelectableTable {...table} filters={filters} items={itemsOf(data)} />}
  </Paged>
);

/** Accessors for items with an ID and a name. */
export const NAMED = {
  idOf: ({ id }: { readonly id: string }) => id,
  nameOf: ({ name }: { readonly name: string }) => name,
};

interface SelectableCardsProps<Item> extends SelectableProps<Item> {
  readonly tag: "ol" | "ul";
  readonly className: string;
  readonly cardClass: (item: Item) => string;
  /** The label of a card's box, for screen readers. */
  readonly selectedName: (item: Item) => string;
  /** Puts neighbours together in a row that expands, if they are several. */
  readonly grouping?: Grouping<Item>;
  readonly children: (item: Item, box: ReactNode) => ReactNode;
}

export interface Grouping<Item> {
  readonly groupsOf: (items: readonly Item[]) => readonly (readonly [Item, ...Item[]])[];
  readonly summaryOf: (items: readonly [Item, ...Item[]]) => ReactNode;
  /** True for an item whose group is open at first. */
  readonly isOpenAtFirst?: (item: Item) => boolean;
}

interface GroupedProps<Item> extends Grouping<Item>, Pick<SelectableCardsProps<Item>, "tag" | "className"> {
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
  /** The box that selects a group. */
  readonly boxOf?: (group: readonly Item[]) => ReactNode;
  /** The `li` of an item. */
  readonly children: (item: Item) => ReactNode;
}

/** The rows of a list, and groups of them. A group that grows at its begin stays open. */
export const Grouped = <Item,>(props: GroupedProps<Item>) => {
  const {
    tag: List,
    className,
    items,
    idOf,
    groupsOf,
    summaryOf,
    isOpenAtFirst = () => false,
    boxOf,
    children,
  } = props;
  return groupsOf(items).map((group) =>
    group.length === 1 ? (
      children(group[0])
    ) : (
      <li key={`group ${idOf(group.at(-1) ?? group[0])}`} className={boxOf ? "group selectable" : "group"}>
        {boxOf?.(group)}
        <Details summary={summaryOf(group)} isOpenAtFirst={group.some(isOpenAtFirst)}>
          <List className={className}>{group.map(children)}</List>
        </Details>
      </li>
    ),
  );
};

const alone = <Item,>(): Grouping<Item> => ({
  groupsOf: (items) => items.map((item): [Item] => [item]),
  summaryOf: () => null,
});

export function SelectableCards<Item>(props: SelectableCardsProps<Item>) {
  const {
    tag: List,
    items,
    idOf,
    className,
    cardClass,
    selectedName,
    grouping = alone<Item>(),
    children,
  } = props;
  const selection = useSelection(items, idOf);
  return (
    <div className="selectable-list" data-selection="">
      {items.length > 1 && (
        // biome-ignore lint/a11y/noLabelWithoutControl: the checkbox is a control
        <label className="select-all soft">
          <SelectAll selection={selection} /> Select all on this page
        </label>
      )}
      <List className={className}>
        <Grouped
          tag={List}
          {...{ className, items, idOf, ...grouping }}
          boxOf={(group) => (
            <SelectAll
              selection={selection.within(group.map(idOf))}
              label={`Select the group of ${countOf(group.length, props.noun)}`}
            />
          )}
        >
          {(item) => {
            const id = idOf(item);
            return (
              <li key={id} className={cardClass(item)} data-selected={selection.has(id) || undefined}>
                {children(item, <SelectBox {...{ selection, id }} name={selectedName(item)} />)}
              </li>
            );
          }}
        </Grouped>
      </List>
      <SelectionBar {...props} selection={selection} />
    </div>
  );
}

interface SelectionBarProps<Item>
  extends Pick<SelectableProps<Item>, "nameOf" | "noun" | "actions" | "refreshes"> {
  readonly selection: Selection<Item>;
}

/** Rows of the dialog; they stay although the list changes. */
interface Asked<Item> {
  readonly action: BulkAction<Item>;
  readonly items: readonly Item[];
}

/** A bar above the page's lower edge while any row is selected. */
function SelectionBar<Item>({ selection, noun, nameOf, actions, refreshes }: SelectionBarProps<Item>) {
  const [asked, setAsked] = useState<Asked<Item> | null>(null);
  const { items, clear } = selection;
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
        <BulkDialog
          {...{ ...asked, noun, nameOf, refreshes }}
          onEnd={({ refused, left }) => refused.length + left.length === 0 && clear()}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}
