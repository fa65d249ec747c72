/** How far back figures go, kept in the URL. */
import type { Usage } from "atrium/server";
import type { Filters } from "../data/use-filters.ts";
import { FilterSelect } from "./filter-select.tsx";

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
