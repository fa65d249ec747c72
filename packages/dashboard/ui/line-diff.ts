/** The difference of two texts in lines. */
import { diffArrays } from "diff";

/** A longer search would block the page for about half a second. */
const MAX_CHANGED_LINES = 1_500;

export interface DiffLine {
  /** `removed` lines are in the first text only, `added` lines in the second only. */
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

/** The fewest changed lines between two texts. Beyond {@link MAX_CHANGED_LINES}, all lines count as replaced. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, current] = [linesOf(before), linesOf(after)];
  const changes = diffArrays(old, current, { maxEditLength: MAX_CHANGED_LINES }) ?? [
    { removed: true, added: false, value: old },
    { removed: false, added: true, value: current },
  ];
  return changes.flatMap(({ removed, added, value }) => {
    const changed = added ? "added" : "same";
    return value.map((text) => ({ kind: removed ? "removed" : changed, text }));
  });
}

/** An empty text has no line. */
const linesOf = (text: string): string[] => (text === "" ? [] : text.split("\n"));
