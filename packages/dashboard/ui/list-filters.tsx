/** Filters of lists, and the time that metrics are of. */

import { isComposing } from "atrium/internal/input-method";
import type { Usage } from "atrium/server";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Filters } from "../data/filters.ts";
import { Button, Icon } from "./button.tsx";
import { SelectField } from "./fields.tsx";

/** The range of metrics, kept in the URL. */
type Range = Usage["range"];

const NAME = "range";
const LONGER_OR_SHORTER = { "1h": "Last hour", "7d": "Last 7 days", "30d": "Last 30 days" };

/** The range that the person has chosen; a day if none. */
export function rangeOf({ get }: Pick<Filters, "get">): Range {
  const value = get(NAME);
  return value === "1h" || value === "7d" || value === "30d" ? value : "24h";
}

export const RangeSelect = ({ filters }: { readonly filters: Pick<Filters, "get" | "set"> }) => (
  <FilterSelect label="Time" filters={filters} name={NAME} all="Last 24 hours" options={LONGER_OR_SHORTER} />
);

/** Narrows a list by one of a few values. */
interface FilterSelectProps {
  /** The accessible name; the options show it to everyone else. */
  readonly label: string;
  readonly filters: Pick<Filters, "get" | "set">;
  /** The filter that it sets. */
  readonly name: string;
  /** The option for no filter, such as "All types". */
  readonly all: string;
  /** The labels of the other options by their values. */
  readonly options: Readonly<Record<string, string>>;
}

export const FilterSelect = ({ label, filters, name, all, options }: FilterSelectProps) => (
  <SelectField
    label={label}
    isLabelHidden
    value={filters.get(name)}
    onChange={(event) => filters.set(name, event.currentTarget.value)}
    options={[["", all], ...Object.entries(options)]}
  />
);

/** A search field, applied shortly after the last key press, or by Enter where a search is costly. */
const DEBOUNCE_MS = 250;

interface SearchBoxProps {
  readonly label: string;
  readonly initial: string;
  readonly onSearch: (text: string) => void;
  /** True where it is applied by Enter, and when it is emptied. */
  readonly isByEnter?: boolean;
}

export function SearchBox({ label, initial, onSearch, isByEnter = false }: SearchBoxProps) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const input = useRef<HTMLInputElement>(null);
  // The search can be cleared elsewhere on the page.
  useEffect(() => {
    if (input.current && input.current !== document.activeElement) input.current.value = initial;
  }, [initial]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const searchLater = (text: string) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onSearch(text), DEBOUNCE_MS);
  };
  return (
    <div className="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        className="input"
        aria-label={label}
        placeholder={label}
        maxLength={256}
        defaultValue={initial}
        data-shortcut="search"
        onChange={({ currentTarget: { value } }) => (!isByEnter || value === "") && searchLater(value)}
        onKeyDown={({ key, currentTarget, nativeEvent }) =>
          key === "Enter" && !isComposing(nativeEvent) && onSearch(currentTarget.value)
        }
      />
    </div>
  );
}

interface FoldedFiltersProps {
  /** The part that stays, such as a search. */
  readonly search?: ReactNode;
  readonly isOpenAtFirst: boolean;
  readonly children?: ReactNode;
}

/** The filters of a list, which phones fold behind a button. */
export function FoldedFilters({ search, isOpenAtFirst, children }: FoldedFiltersProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <div className="filters">
      {search}
      <Button className="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters
      </Button>
      {children}
    </div>
  );
}

interface ListFiltersProps {
  /** The label of the search. */
  readonly label: string;
  readonly filters: Filters;
  /** Further filters. */
  readonly children?: ReactNode;
}

/** The search of a list with its other filters. */
export const ListFilters = ({ label, filters, children }: ListFiltersProps) => (
  <FoldedFilters
    search={<SearchBox label={label} initial={filters.search} onSearch={filters.searchFor} />}
    isOpenAtFirst={filters.isNarrowed}
  >
    {children}
  </FoldedFilters>
);

/** The days between which the items of a list were created. */
export const CreatedFilter = ({ filters }: Pick<ListFiltersProps, "filters">) => (
  <>
    <DateFilter label="Created from" filters={filters} name="from" />
    <DateFilter label="to" filters={filters} name="to" />
  </>
);

/** A date input that bounds a list by a day such as `2026-01-31`. */
export const DateFilter = ({
  label,
  filters,
  name,
}: Pick<FilterSelectProps, "label" | "filters" | "name">) => (
  <label className="date-filter">
    <span className="soft">{label}</span>
    <input
      type="date"
      className="input"
      defaultValue={filters.get(name)}
      onChange={(event) => filters.set(name, event.currentTarget.value)}
    />
  </label>
);
