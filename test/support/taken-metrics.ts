/** Takes the metrics that the code under test adds in its isolate. */
import { type DataSet, metricsOf } from "../../src/platform/telemetry/data-sets.ts";
import type { DataPoint } from "../../src/platform/telemetry/metrics.ts";
import { metrics } from "../../src/platform/telemetry/telemetry.ts";

/** Growth since the last call: the values of each series by name. */
export function takeMetrics(set: DataSet): { labels: readonly string[]; values: Record<string, number> }[] {
  const points: DataPoint[] = [];
  metrics.write([{ writeDataPoint: (point) => void points.push(point) }], 10_000);
  return points
    .filter(({ indexes }) => indexes[0] === set.name)
    .map(({ blobs, doubles }) => ({
      labels: blobs,
      values: Object.fromEntries(metricsOf(set).map((name, index) => [name, doubles[index] ?? 0])),
    }));
}
