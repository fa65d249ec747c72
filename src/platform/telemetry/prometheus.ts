/** Metrics in the text format that Prometheus reads (version 0.0.4). Pure. */
import { type DataSet, metricsOf } from "./data-sets.ts";
import type { DataPoint, MetricSink } from "./metrics.ts";

const escaped = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

const labelled = (labels: readonly (readonly [string, string])[]): string =>
  labels.length === 0 ? "" : `{${labels.map(([name, value]) => `${name}="${escaped(value)}"`).join()}}`;

const family = (
  name: string,
  type: "counter" | "histogram",
  help: string,
  lines: readonly string[],
): string =>
  lines.length === 0 ? "" : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("\n")}\n`;

export const presentMetrics = (sets: readonly DataSet[], totals: readonly Total[]): string =>
  sets
    .map((set) =>
      presentSet(
        set,
        totals.filter((total) => total.set === set.name),
      ),
    )
    .join("");

function presentSet(set: DataSet, totals: readonly Total[]): string {
  const columns = new Map(metricsOf(set).map((metric, index) => [metric, index]));
  const metricIn = ({ values }: Total, name: string): number => values[columns.get(name) ?? -1] ?? 0;
  const labelsOf = ({ labels }: Total) =>
    set.labels.map((name, index) => [name, labels[index] ?? ""] as const);
  const counters = Object.entries(set.counters).map(([counter, help]) => {
    const name = `atrium_${set.name}_${counter}_total`;
    const lines = totals.map((total) => `${name}${labelled(labelsOf(total))} ${metricIn(total, counter)}`);
    return family(name, "counter", help, lines);
  });
  const timings = Object.entries(set.timings).map(([timing, { help, boundsMs }]) => {
    const name = `atrium_${set.name}_${timing}_seconds`;
    const lines = totals.flatMap((total) => {
      const count = metricIn(total, `${timing}_count`);
      const bucket = (le: string, value: number) =>
        `${name}_bucket${labelled([...labelsOf(total), ["le", le]])} ${value}`;
      return [
        ...boundsMs.map((bound) => bucket(String(bound / 1000), metricIn(total, `${timing}_le_${bound}`))),
        bucket("+Inf", count),
        `${name}_sum${labelled(labelsOf(total))} ${metricIn(total, `${timing}_ms`) / 1000}`,
        `${name}_count${labelled(labelsOf(total))} ${count}`,
      ];
    });
    return family(name, "histogram", help, lines);
  });
  return [...counters, ...timings].join("");
}

/** A series without a change for this time is forgotten, and restarts at 0, as after a restart. */
const KEPT_MS = 6 * 60 * 60 * 1000;
const MAX_SERIES = 5_000;

interface Total {
  readonly set: string;
  readonly labels: readonly string[];
  readonly values: readonly number[];
}

/** Keeps the totals of a local service in memory, where `/metrics` reads them. */
export class MemorySink implements MetricSink {
  readonly #now: () => number;
  readonly #totals = new Map<string, Total & { readonly at: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  writeDataPoint({ indexes: [set], blobs, doubles }: DataPoint): void {
    const key = [set, ...blobs].join("\n");
    const known = this.#totals.get(key);
    const values = doubles.map((each, index) => each + (known?.values[index] ?? 0));
    this.#totals.delete(key);
    this.#totals.set(key, { set, labels: blobs, values, at: this.#now() });
    const oldest = this.#totals.keys().next();
    if (this.#totals.size > MAX_SERIES && !oldest.done) this.#totals.delete(oldest.value);
  }

  totals(): Total[] {
    const from = this.#now() - KEPT_MS;
    for (const [key, { at }] of this.#totals) {
      if (at >= from) break;
      this.#totals.delete(key);
    }
    return [...this.#totals.values()];
  }
}
