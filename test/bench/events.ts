/** The events bench: event throughput and latency to webhooks, and the effect of a dead receiver on others. */
import { measureHanging } from "./events/part-hanging.ts";
import { measureLatency } from "./events/part-latency.ts";
import { measureThroughput } from "./events/part-throughput.ts";
import { Stage } from "./events/stage.ts";
import type { Section } from "./room/turns.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { serving } from "./serve.ts";
import { ADVICE } from "./table.ts";

const PARTS = { latency: measureLatency, throughput: measureThroughput, hanging: measureHanging };

export const bench: Bench = { parts: Object.keys(PARTS), run };

function run(options: BenchOptions): Promise<BenchReport> {
  return serving(["atrium"], options.stop, async ({ db, origin }) => {
    const stage = await Stage.create(db, origin("atrium"));
    const sections: Record<string, Section> = {};
    try {
      for (const [part, measure] of Object.entries(PARTS)) {
        if (options.parts.length > 0 && !options.parts.includes(part)) continue;
        sections[part] = await measure(stage, options);
      }
    } finally {
      await stage.dispose();
    }
    const markdown = [...Object.values(sections).map((section) => section.markdown), ADVICE].join("\n\n");
    const raw = Object.fromEntries(Object.entries(sections).map(([part, section]) => [part, section.raw]));
    return { markdown, raw };
  });
}
