/** The workflows bench: the cost of a run beside a bare Worker Loader call, the latency and rate of runs on events, and the pool with many organizations. */
import { Organization } from "./organization.ts";
import type { Section } from "./room/turns.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { type Served, serving } from "./serve.ts";
import { ADVICE } from "./table.ts";
import { Automation } from "./workflows/automation.ts";
import { measureEvents } from "./workflows/part-events.ts";
import { measureLatency } from "./workflows/part-latency.ts";
import { measurePool } from "./workflows/part-pool.ts";
import { measureRuns } from "./workflows/part-runs.ts";

type Measure = (served: Served, options: BenchOptions) => Promise<Section>;

const onEvents =
  (measure: (automation: Automation, options: BenchOptions) => Promise<Section>): Measure =>
  async ({ db, origin }, options) => {
    const organization = await Organization.create(db, origin("atrium"));
    return measure(new Automation(origin("atrium"), organization), options);
  };

const PARTS: Readonly<Record<string, Measure>> = {
  runs: ({ origin }, options) => measureRuns(origin, options),
  latency: onEvents(measureLatency),
  events: onEvents(measureEvents),
  pool: measurePool,
};

export const bench: Bench = { parts: Object.keys(PARTS), run };

function run(options: BenchOptions): Promise<BenchReport> {
  return serving(["atrium", "runs", "pooled-runs", "pooled-atrium"], options.stop, async (served) => {
    const sections: Record<string, Section> = {};
    for (const [part, measure] of Object.entries(PARTS)) {
      if (options.parts.length > 0 && !options.parts.includes(part)) continue;
      sections[part] = await measure(served, options);
    }
    const markdown = [...Object.values(sections).map((section) => section.markdown), ADVICE].join("\n\n");
    const raw = Object.fromEntries(Object.entries(sections).map(([part, section]) => [part, section.raw]));
    return { markdown, raw };
  });
}
