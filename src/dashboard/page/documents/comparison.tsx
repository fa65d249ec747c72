/** What differs between two states of a document: texts line by line, other shared types as the lines of their JSON. */
import { TextDiff } from "../ui/text-diff.tsx";
import type { DocumentRoot } from "./document-root.ts";

export interface ComparisonProps {
  readonly before: readonly DocumentRoot[];
  readonly after: readonly DocumentRoot[];
  /** For example "Draft and now". */
  readonly what: string;
}

export function Comparison({ before, after, what }: ComparisonProps) {
  const names = [...new Set([...before, ...after].map(({ name }) => name))].sort();
  const differences = names.flatMap((name) => {
    const [old, current] = [linesOf(before, name), linesOf(after, name)];
    return old === current ? [] : [{ name, old, current }];
  });
  return (
    <section aria-label={`Comparison of ${what}`}>
      {differences.length === 0 && <p className="soft">Both show the same.</p>}
      {differences.map(({ name, old, current }) => (
        <div key={name}>
          {names.length > 1 && <h3>{name}</h3>}
          <TextDiff what={`What changed in ${name}`} before={old} after={current} />
        </div>
      ))}
    </section>
  );
}

/** Text as it is where both have only text, so that formats do not drown it; else JSON. */
function linesOf(roots: readonly DocumentRoot[], name: string): string {
  const root = roots.find((one) => one.name === name);
  if (root === undefined) return "";
  return root.text ?? JSON.stringify(root.json, null, 2);
}
