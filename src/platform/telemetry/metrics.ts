/** The metrics of an isolate: values are added up in memory, and written together every few seconds. Pure. */
import { DATA_SETS, type DataSet, metricsOf } from "./data-sets.ts";

export interface DataPoint {
  readonly indexes: [string];
  readonly blobs: string[];
  readonly doubles: number[];
}

export interface MetricSink {
  writeDataPoint(point: DataPoint): void;
}

/** Interval between writes: the cost does not grow with the traffic. */
const WRITE_EVERY_MS = 10_000;
/** The platform takes 25 points per invocation; the next one writes the rest. */
export const MAX_POINTS = 25;
/** Labels have few values by design. Above this number, further combinations count together. */
export const MAX_SERIES = 3_000;
const REST = "other";
const SEPARATOR = "\n";

/** The values of one combination of labels. Adding to one costs an addition in memory. */
class Series<Counter extends string = string, Timed extends string = string> {
  readonly #set: DataSet;
  readonly #labels: readonly string[];
  readonly #columns: ReadonlyMap<string, number>;
  readonly #doubles: Float64Array;
  #isDirty = false;

  constructor(set: DataSet, labels: readonly string[], columns: ReadonlyMap<string, number>) {
    this.#set = set;
    this.#labels = labels;
    this.#columns = columns;
    this.#doubles = new Float64Array(columns.size);
  }

  add(counter: Counter, by = 1): void {
    this.#increase(this.#columns.get(counter) ?? 0, by);
  }

  time(name: Timed, ms: number): void {
    const column = this.#columns.get(`${name}_count`) ?? 0;
    this.#increase(column, 1);
    this.#increase(column + 1, ms);
    this.#set.timings[name]?.boundsMs.forEach((bound, index) => {
      if (ms <= bound) this.#increase(column + 2 + index, 1);
    });
  }

  #increase(column: number, by: number): void {
    this.#doubles[column] = (this.#doubles[column] ?? 0) + by;
    this.#isDirty = true;
  }

  /** The additions since the last call; null for none. */
  take(): DataPoint | null {
    if (!this.#isDirty) return null;
    const doubles = [...this.#doubles];
    this.#doubles.fill(0);
    this.#isDirty = false;
    return { indexes: [this.#set.name], blobs: [...this.#labels], doubles };
  }
}

/** All series of an isolate, and the time at which they are written. */
export class Metrics {
  readonly #series = new Map<string, Series>();
  readonly #columns = new Map<string, ReadonlyMap<string, number>>();
  #writtenAt = Number.NEGATIVE_INFINITY;
  #isWriteExpected = false;

  /** The series of these labels, which is the same for each call. */
  series<Label extends string, Counter extends string, Timed extends string>(
    set: DataSet<Label, Counter, Timed>,
    labels: Readonly<Record<Label, string>>,
  ): Series<Counter, Timed> {
    const values = set.labels.map((label) => labels[label]);
    const known = this.#series.get([set.name, ...values].join(SEPARATOR));
    if (known !== undefined) return known;
    const kept = this.#series.size < MAX_SERIES ? values : values.map(() => REST);
    const key = [set.name, ...kept].join(SEPARATOR);
    const series = this.#series.get(key) ?? new Series(set, kept, this.#columnsOf(set));
    this.#series.set(key, series);
    return series;
  }

  #columnsOf(set: DataSet): ReadonlyMap<string, number> {
    const known = this.#columns.get(set.name) ?? new Map(metricsOf(set).map((name, index) => [name, index]));
    this.#columns.set(set.name, known);
    return known;
  }

  /** Writes added values, unless it did so lately. `now` is in epoch milliseconds. */
  writeIfDue(sinks: () => readonly MetricSink[], now: number): void {
    if (now - this.#writtenAt < WRITE_EVERY_MS) return;
    this.#writtenAt = now;
    this.#isWriteExpected = false;
    this.write(sinks(), MAX_POINTS);
  }

  /** True for one caller, which then writes the latest values. */
  expectWrite(): boolean {
    const isFirst = !this.#isWriteExpected;
    this.#isWriteExpected = true;
    return isFirst;
  }

  write(sinks: readonly MetricSink[], maxPoints: number): void {
    if (sinks.length === 0) return;
    let written = 0;
    for (const [key, series] of this.#series) {
      if (written >= maxPoints) return;
      const point = series.take();
      if (point === null) continue;
      written += 1;
      this.#series.delete(key); // the next time, others come first
      this.#series.set(key, series);
      for (const sink of sinks) sink.writeDataPoint(point);
    }
  }
}

interface Served {
  readonly endpoint: { readonly method: string; readonly path: string };
  readonly status: number;
  readonly durationMs: number;
  readonly trips: number;
  readonly error: { readonly module: string; readonly code: string } | null;
}

interface RequestMetricsPorts {
  readonly metrics: Metrics;
  write(): void;
  wait(ms: number): Promise<unknown>;
}

/** Counts requests, and writes the metrics behind responses. */
export class RequestMetrics {
  readonly #ports: RequestMetricsPorts;

  constructor(ports: RequestMetricsPorts) {
    this.#ports = ports;
  }

  /** Counts a request. `defer` lets work finish after the response. */
  record(
    { endpoint, status, durationMs, trips, error }: Served,
    defer: (work: Promise<unknown>) => void,
  ): void {
    const { metrics, wait, write } = this.#ports;
    const route = `${endpoint.method} ${endpoint.path}`;
    const series = metrics.series(DATA_SETS.requests, { route, status: String(status) });
    series.time("duration", durationMs);
    series.add("database_trips", trips);
    if (error !== null) {
      const { module, code } = error;
      metrics.series(DATA_SETS.errors, { source: "rest", module, code }).add("errors");
    }
    write();
    // A delayed write: otherwise the latest values are lost with the isolate.
    if (metrics.expectWrite()) defer(wait(WRITE_EVERY_MS).then(write));
  }
}
