/** Counts REST requests, and has metrics written a while after the last of them. */
import { ERRORS, REQUESTS } from "./data-sets.ts";
import { type Metrics, WRITE_EVERY_MS } from "./metrics.ts";

/** What is counted of a request. */
interface Served {
  readonly endpoint: { readonly method: string; readonly path: string };
  readonly status: number;
  readonly durationMs: number;
  /** Round trips to the database. */
  readonly trips: number;
  readonly error: { readonly module: string; readonly code: string } | null;
}

interface RequestMetricsPorts {
  readonly metrics: Metrics;
  /** Writes the metrics, if that is due. */
  write(): void;
  /** Resolves after so many milliseconds. */
  wait(ms: number): Promise<unknown>;
}

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
    const series = metrics.series(REQUESTS, { route, status: String(status) });
    series.time("duration", durationMs);
    series.add("database_trips", trips);
    if (error !== null) {
      const { module, code } = error;
      metrics.series(ERRORS, { source: "rest", module, code }).add("errors");
    }
    write();
    // Without it, the latest figures would be lost with the isolate.
    if (metrics.expectWrite()) defer(wait(WRITE_EVERY_MS).then(write));
  }
}
