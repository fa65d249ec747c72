/** What the code under test adds to the metrics of its isolate. */
import { type DataSet, figuresOf } from "../../src/platform/telemetry/data-sets.ts";
import type { DataPoint } from "../../src/platform/telemetry/metrics.ts";
import { metrics } from "../../src/platform/telemetry/telemetry.ts";

/** What was added since the last call: the figures of each series by name. */
export function takeFigures(set: DataSet): { labels: readonly string[]; figures: Record<string, number> }[] {
  const points: DataPoint[] = [];
  metrics.write([{ writeDataPoint: (point) => void points.push(point) }], 10_000);
  return points
    .filter(({ indexes }) => indexes[0] === set.name)
    .map(({ blobs, doubles }) => ({
      labels: blobs,
      figures: Object.fromEntries(figuresOf(set).map((name, index) => [name, doubles[index] ?? 0])),
    }));
}
