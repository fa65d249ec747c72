/** What differs between two states of a document, in each of its shared types. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { DocumentAuthor } from "atrium/server";
import { isUnreachable } from "../data/connection.ts";
import { useCurrent, useKey } from "../data/organization.tsx";
import { Loading } from "../ui/feedback.tsx";
import { TextDiff } from "../ui/text-diff.tsx";
import { Changes } from "./changes.tsx";
import type { DocumentRoot } from "./document-root.ts";
import type { Chosen } from "./use-choice.ts";
import type { DocumentPlace } from "./use-history.ts";

export interface ComparisonProps {
  readonly place: DocumentPlace;
  /** The earlier version. */
  readonly from: number;
  readonly to: Chosen;
  /** The number of the document's latest update. */
  readonly seq: number;
  readonly before: readonly DocumentRoot[];
  readonly after: readonly DocumentRoot[];
  readonly authorName: (author: DocumentAuthor) => string;
}

export function Comparison({ before, after, ...rest }: ComparisonProps) {
  const names = [...new Set([...before, ...after].map(({ name }) => name))].sort();
  const differences = names.flatMap((name) => {
    const [old, current] = [before, after].map((roots) => roots.find((root) => root.name === name));
    return linesOf(old) === linesOf(current) && isEqual(old, current) ? [] : [{ name, old, current }];
  });
  return (
    <section aria-label="Comparison">
      {differences.length === 0 && <p className="soft">Both show the same.</p>}
      {differences.map(({ name, old, current }) => (
        <div key={name}>
          {names.length > 1 && <h3>{name}</h3>}
          <Difference {...rest} name={name} old={old} current={current} />
        </div>
      ))}
    </section>
  );
}

const isEqual = (one: DocumentRoot | undefined, other: DocumentRoot | undefined): boolean =>
  JSON.stringify(one?.json) === JSON.stringify(other?.json);

interface DifferenceProps extends Omit<ComparisonProps, "before" | "after"> {
  readonly name: string;
  readonly old: DocumentRoot | undefined;
  readonly current: DocumentRoot | undefined;
}

function Difference({ place, from, to, seq, name, old, current, authorName }: DifferenceProps) {
  const type = (current ?? old)?.kind ?? "text";
  const { data, error } = useComparison(place, { from, to, seq, root: name, type });
  if (data === undefined && !error) return <Loading />;
  if (data !== undefined && data.length > 0)
    return <Changes changes={data} nameOf={authorName} name={name} />;
  return (
    <>
      {error && !isUnreachable(error) && (
        <p className="soft">Whose changes these are cannot be shown: {error.message}</p>
      )}
      <TextDiff what={`What changed in ${name}`} before={linesOf(old)} after={linesOf(current)} />
    </>
  );
}

/** Text as it is, so that formats do not drown it; else JSON. */
function linesOf(root: DocumentRoot | undefined): string {
  if (root === undefined) return "";
  return root.text ?? JSON.stringify(root.json, null, 2);
}

/** What differs in one shared type between two versions of a document, and whose change it is. */
interface ComparisonQuery {
  readonly from: number;
  readonly to: Chosen;
  /** The number of the document's latest update. */
  readonly seq: number;
  /** The name of the shared type. */
  readonly root: string;
  readonly type: DocumentRoot["kind"];
}

function useComparison({ roomId, name }: DocumentPlace, query: ComparisonQuery) {
  const { atrium } = useCurrent();
  const key = useKey();
  const { from, to, seq, root, type } = query;
  return useQuery({
    queryKey: key("document comparison", roomId, name, { from, to: to ?? seq, root, type }),
    queryFn: () => atrium.documents.compare(roomId, name, { from, root, type, ...(to !== null && { to }) }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
