/** The changes in one shared type between two states of a document, with their authors. */
import type { DocumentAuthor, DocumentChange, DocumentSegment } from "atrium/server";
import { previewOf } from "../ui/json-preview.ts";
import { joinNames } from "./history.ts";

type NameOf = (author: DocumentAuthor) => string;

interface ChangesProps {
  readonly changes: readonly DocumentChange[];
  readonly nameOf: NameOf;
  /** The name of the shared type. */
  readonly name: string;
}

export const Changes = ({ changes, nameOf, name }: ChangesProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
  <section className="scroll text-diff changes" tabIndex={0} aria-label={`What changed in ${name}`}>
    {changes.map((change, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: changes never move, and can be equal
      <Change key={index} change={change} nameOf={nameOf} />
    ))}
  </section>
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
