/** Which lines two texts share, and which only one of them has. */

export interface DiffLine {
  /** `removed` stands in the first text only, `added` in the second. */
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

/** A larger table would keep the page busy: beyond it, everything between the shared ends counts as replaced. */
const MAX_CELLS = 4_000_000;

/** The fewest changes of lines that lead from one text to the other, those that leave before those that come. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end])
    end += 1;
  return [
    ...a.slice(0, start).map(as("same")),
    ...diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(as("same")),
  ];
}

/** An empty text has no line. */
const linesOf = (text: string): string[] => (text === "" ? [] : text.split("\n"));

const as =
  (kind: DiffLine["kind"]) =>
  (text: string): DiffLine => ({ kind, text });

function diffMiddle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const width = b.length + 1;
  if ((a.length + 1) * width > MAX_CELLS) return [...a.map(as("removed")), ...b.map(as("added"))];
  // How many lines the rests of both share, from each pair of places on.
  const shared = new Uint32Array((a.length + 1) * width);
  const sharedFrom = (i: number, j: number): number => shared[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const longest = Math.max(sharedFrom(i + 1, j), sharedFrom(i, j + 1));
      shared[i * width + j] = a[i] === b[j] ? sharedFrom(i + 1, j + 1) + 1 : longest;
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      lines.push({ kind: "same", text: left });
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || sharedFrom(i + 1, j) >= sharedFrom(i, j + 1))) {
      lines.push({ kind: "removed", text: left });
      i += 1;
    } else if (right !== undefined) {
      lines.push({ kind: "added", text: right });
      j += 1;
    }
  }
  return lines;
}
