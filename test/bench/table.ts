/** Results as a table for docs/benchmarks.md. */

/** A Markdown table; the first column is text, all others are aligned as numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

/** `12,345`. */
export const count = (value: number): string => Math.round(value).toLocaleString("en-US");

/** `0.87`. */
export const ratio = (value: number): string => value.toFixed(2);

/** Milliseconds as the load generator resolves them: whole ones, halves in a median of an even number of runs. */
export const ms = (value: number): string => String(value);

export const verdict = (holds: boolean): string => (holds ? "ok" : "not");

/** What every table must be read with. */
export const ADVICE =
  "Ratios count: absolute figures move with the machine and with whatever else runs on it; each ratio is taken within one run, in turns.";
