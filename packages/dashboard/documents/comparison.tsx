/** The differences between two states of a document, in each of its shared types, with their authors. */

import type { DocumentAuthor, DocumentChange, DocumentSegment } from "atrium/server";
import { isUnreachable } from "../data/connection.ts";
import { joinNames } from "../data/messages.ts";
import { useApiQuery } from "../data/organization.tsx";
import { ScrollBox } from "../ui/button.tsx";
import { Loading } from "../ui/feedback.tsx";
import { previewOf } from "../ui/json-preview.ts";
import { TextDiff } from "../ui/text-diff.tsx";
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

type NameOf = (author: DocumentAuthor) => string;

interface ChangesProps {
  readonly changes: readonly DocumentChange[];
  readonly nameOf: NameOf;
  /** The name of the shared type. */
  readonly name: string;
}

const Changes = ({ changes, nameOf, name }: ChangesProps) => (
  <ScrollBox className="text-diff changes" label={`What changed in ${name}`}>
    {changes.map((change, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: changes never move, and can be equal
      <Change key={index} change={change} nameOf={nameOf} />
    ))}
  </ScrollBox>
);

interface ChangeProps {
  readonly change: DocumentChange;
  readonly nameOf: NameOf;
}

function Change({ change: { path, op, before, after, segments, authors }, nameOf }: ChangeProps) {
  return (
    <div className="change">
      {path.length > 0 && <code className="soft">{path.join(" › ")}</code>}
      {segments === null ? (
        <p>
          {op !== "insert" && <del>{previewOf(before)}</del>}{" "}
          {op !== "delete" && <ins>{previewOf(after)}</ins>}
          <By authors={authors} nameOf={nameOf} />
        </p>
      ) : (
        <p className="segments">
          {segments.map((segment, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            <Segment key={index} segment={segment} nameOf={nameOf} />
          ))}
        </p>
      )}
    </div>
  );
}

const By = ({ authors, nameOf }: { readonly authors: readonly DocumentAuthor[]; readonly nameOf: NameOf }) =>
  authors.length === 0 ? null : <span className="chip small by">{joinNames(authors.map(nameOf))}</span>;

function Segment({ segment, nameOf }: { readonly segment: DocumentSegment; readonly nameOf: NameOf }) {
  const { op, kind, text, authors } = segment;
  if (op === "keep")
    return kind === "text" ? shorten(text) : kind === "tag" ? lineAt(text) : <code>{text}</code>;
  // The author stands in the line of the change, before the ends of lines that belong to it.
  let end = text.length;
  while (text[end - 1] === "\n") end -= 1;
  const changed = text.slice(0, end);
  const shown = (
    <>
      {op === "format" ? <em>{changed} (formatting)</em> : changed}
      <By authors={authors} nameOf={nameOf} />
      {text.slice(end)}
    </>
  );
  return op === "delete" ? <del>{shown}</del> : <ins>{shown}</ins>;
}

/** The kept characters around each change. */
const CONTEXT = 300;

const shorten = (text: string): string =>
  text.length <= 2 * CONTEXT ? text : `${text.slice(0, CONTEXT)} ⋯ ${text.slice(-CONTEXT)}`;

/** A block begins on a line of its own. */
const lineAt = (tag: string): string => (tag.startsWith("</") ? "\n" : "");
