/** The metrics of this isolate, and where they are written: Analytics Engine if it is bound, and the stand-in that `GET /metrics` reads. */

import { isFenced } from "../d1/d1.ts";
import { type LogFields, logError } from "../log.ts";
import { readSetting, type Settings } from "../settings.ts";
import { DATA_SETS } from "./data-sets.ts";
import { MAX_POINTS, type MetricSink, Metrics } from "./metrics.ts";
import { MemorySink, presentMetrics } from "./prometheus.ts";

/** An isolate has one, whatever request or object adds to it. */
export const metrics = new Metrics();

const standIn = new MemorySink(() => Date.now());

export interface MetricBindings extends Pick<Settings, "METRICS_TOKEN"> {
  /** The destination of metrics; absent for none. */
  readonly METRICS?: AnalyticsEngineDataset;
}

const sinksOf = (env: MetricBindings): readonly MetricSink[] => [
  ...(env.METRICS === undefined ? [] : [env.METRICS]),
  ...(readSetting(env, "METRICS_TOKEN") === undefined ? [] : [standIn]),
];

/** Never throws: metrics are no reason to fail. */
export function writeMetrics(env: MetricBindings): void {
  try {
    metrics.writeIfDue(() => sinksOf(env), Date.now());
  } catch (error) {
    logError("Metrics could not be written", {}, error);
  }
}

export const hasMetrics = (env: MetricBindings): boolean => sinksOf(env).length > 0;

export function readMetrics(env: MetricBindings): string {
  metrics.write(sinksOf(env), env.METRICS === undefined ? Number.POSITIVE_INFINITY : MAX_POINTS);
  return presentMetrics(Object.values(DATA_SETS), standIn.totals());
}

/** Logs and counts a failure, unless a fence caused it: that work is retried. */
export function reportFailure(
  source: "room" | "delivery" | "schedule",
  message: string,
  fields: LogFields,
  error: unknown,
): void {
  if (isFenced(error)) return;
  metrics.series(DATA_SETS.errors, { source, module: "Server", code: "INTERNAL_ERROR" }).add("errors");
  logError(message, fields, error);
}
