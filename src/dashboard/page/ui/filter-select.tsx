/** Narrows a list to what has one of a few values. */
import type { Filters } from "../data/use-filters.ts";
import { SelectField } from "./select-field.tsx";

export interface FilterSelectProps {
  /** For screen readers; the options say it to everyone else. */
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
  >
    <option value="">{all}</option>
    {Object.entries(options).map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </SelectField>
);
