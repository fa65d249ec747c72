/** The differences between two states of a document, in each of its shared types. */
import type { DocumentAuthor } from "atrium/server";
import { isUnreachable } from "../data/connection.ts";
import { useApiQuery } from "../data/organization.tsx";
import { Loading } from "../ui/feedback.tsx";
import { TextDiff } from "../ui/text-diff.tsx";
import { Changes } from "./changes.tsx";
import type { DocumentRoot } from "./document.ts";
import type { Chosen, DocumentPlace } from "./history.ts";

interface ComparisonProps {
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
  const { data, error } = useApiQuery(
    ["document comparison", place.roomId, place.name, { from, to: to ?? seq, name, type }],
    ({ documents }) =>
      documents.compare(place.roomId, place.name, { from, root: name, type, ...(to !== null && { to }) }),
    { staleTime: Number.POSITIVE_INFINITY },
  );
  if (data === undefined && !error) return <Loading />;
  if (data !== undefined && data.length > 0)
    return <Changes changes={data} nameOf={authorName} name={name} />;
  return (
    <>
      {error && !isUnreachable(error) && (
        <p className="soft">The authors of these changes cannot be shown: {error.message}</p>
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
