/** The changed lines between two texts. Long unchanged parts are left out. */
import { ScrollBox } from "./button.tsx";
import { type DiffLine, diffLines } from "./line-diff.ts";

/** Unchanged lines shown around each change. */
const CONTEXT = 3;
const MARKS = { same: " ", removed: "−", added: "+" } as const;

interface TextDiffProps {
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

export function TextDiff({ what, before, after }: TextDiffProps) {
  const lines = diffLines(before, after);
  const isShown = (index: number) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ kind }) => kind !== "same");
  return (
    <ScrollBox className="text-diff" label={what}>
      <pre>
        {lines.map((line, index) => {
          // biome-ignore lint/suspicious/noArrayIndexKey: lines never move, and can be equal
          if (isShown(index)) return <Line key={index} line={line} />;
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          return index > 0 && isShown(index - 1) ? <span key={index}>{" ⋯\n"}</span> : null;
        })}
      </pre>
    </ScrollBox>
  );
}

function Line({ line: { kind, text } }: { readonly line: DiffLine }) {
  const shown = `${MARKS[kind]} ${text}\n`;
  if (kind === "added") return <ins>{shown}</ins>;
  return kind === "removed" ? <del>{shown}</del> : <span>{shown}</span>;
}
