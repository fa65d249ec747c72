/** Which version of a document is shown, and what it is compared with: kept in the URL, so that it can be shared. */
import { useSearchParams } from "wouter";
import { withParameters } from "../data/use-filters.ts";

/** The number of a version; null for the document as it is. */
export type Chosen = number | null;

export interface Choice {
  readonly version: Chosen;
  /** Undefined when nothing is compared. */
  readonly comparedWith: Chosen | undefined;
  readonly choose: (version: Chosen) => void;
  readonly compareWith: (version: Chosen | undefined) => void;
}

const NOW = "now";

export function useChoice(): Choice {
  const [parameters, setParameters] = useSearchParams();
  const set = (name: string, value: string) =>
    setParameters((known) => withParameters(known, { [name]: value }), { replace: true });
  return {
    version: parse(parameters.get("version")) ?? null,
    comparedWith: parse(parameters.get("compare")),
    choose: (version) => set("version", version === null ? "" : `${version}`),
    compareWith: (version) => set("compare", version === undefined ? "" : `${version ?? NOW}`),
  };
}

function parse(text: string | null): Chosen | undefined {
  if (text === NOW) return null;
  return text !== null && /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : undefined;
}
