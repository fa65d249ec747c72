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

/** Milliseconds in the resolution of the load generator: integers, or halves in the median of an even number of runs. */
export const ms = (value: number): string => String(value);

export const verdict = (holds: boolean): string => (holds ? "ok" : "not");

/** The conditions of the measurement, printed with every table. */
export const ADVICE =
  "Ratios count: absolute figures move with the machine and with whatever else runs on it; each ratio is taken within one run, in turns.";
