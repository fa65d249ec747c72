/** The filters and the place of a log, kept in the URL so that they can be shared and navigated. */
import { useSearchParams } from "wouter";
import { withParameter } from "./use-page.ts";

export interface Filters {
  /** The value of a filter; empty for none. */
  readonly get: (name: string) => string;
  /** Sets one, and goes back to the newest. */
  readonly set: (name: string, value: string) => void;
  /** The cursor of the page before; empty for the newest. */
  readonly after: string;
  readonly goTo: (cursor: string) => void;
}

const AFTER = "after";

export function useFilters(): Filters {
  const [parameters, setParameters] = useSearchParams();
  const get = (name: string) => parameters.get(name) ?? "";
  return {
    get,
    set: (name, value) =>
      setParameters((known) => withParameter(withParameter(known, AFTER, ""), name, value), {
        replace: true,
      }),
    after: get(AFTER),
    goTo: (cursor) => setParameters((known) => withParameter(known, AFTER, cursor)),
  };
}

/** The filters that have a value. */
export const chosen = <Value extends object>(filters: Value): Partial<Value> =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== "")) as Partial<Value>;
