/** The page and the search of a list, kept in the URL so that they can be shared and navigated. */
import { useSearchParams } from "wouter";

const PAGE_SIZE = 25;

export interface PageState {
  readonly limit: number;
  readonly offset: number;
  /** The search text; empty for all. */
  readonly search: string;
  readonly goTo: (offset: number) => void;
  readonly searchFor: (text: string) => void;
}

export function usePage(): PageState {
  const [parameters, setParameters] = useSearchParams();
  const page = Math.max(1, Math.trunc(Number(parameters.get("page"))) || 1);
  return {
    limit: PAGE_SIZE,
    offset: (page - 1) * PAGE_SIZE,
    search: parameters.get("q") ?? "",
    goTo: (offset) =>
      setParameters((known) => withParameter(known, "page", offset === 0 ? "" : `${offset / PAGE_SIZE + 1}`)),
    searchFor: (text) =>
      setParameters((known) => withParameter(withParameter(known, "page", ""), "q", text), { replace: true }),
  };
}

/** The parameters with one of them set, or removed when the value is empty. */
export function withParameter(parameters: URLSearchParams, name: string, value: string): URLSearchParams {
  const changed = new URLSearchParams(parameters);
  if (value === "") changed.delete(name);
  else changed.set(name, value);
  return changed;
}
