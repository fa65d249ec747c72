/** The workflows bench: the cost of a run beside a bare Worker Loader call, the latency and rate of runs on events, and the pool with many organizations. */
import { Organization } from "./organization.ts";
import { measureParts, type Parts, reportOf } from "./parts.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { type Served, serving } from "./serve.ts";
import { Automation } from "./workflows/automation.ts";
import { measureEvents } from "./workflows/part-events.ts";
import { measureLatency } from "./workflows/part-latency.ts";
import { measurePool } from "./workflows/part-pool.ts";
import { measureRuns } from "./workflows/part-runs.ts";

const onEvents =
  (measure: Parts<Automation>[string]): Parts<Served>[string] =>
  async ({ db, origin }, options) => {
    const organization = await Organization.create(db, origin("atrium"));
    return measure(new Automation(origin("atrium"), organization), options);
  };

const PARTS: Parts<Served> = {
  runs: ({ origin }, options) => measureRuns(origin, options),
  latency: onEvents(measureLatency),
  events: onEvents(measureEvents),
  pool: measurePool,
};

export const bench: Bench = { parts: Object.keys(PARTS), run };

function run(options: BenchOptions): Promise<BenchReport> {
  return serving(["atrium", "runs", "pooled-runs", "pooled-atrium"], options.stop, async (served) =>
    reportOf(await measureParts(PARTS, served, options)),
  );
}
