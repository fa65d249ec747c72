/** The events bench: throughput and latency to webhooks, the effect of a dead receiver on others, and one queue by itself. */
import { measureHanging } from "./events/part-hanging.ts";
import { measureLatency } from "./events/part-latency.ts";
import { measureQueue } from "./events/part-queue.ts";
import { measureThroughput } from "./events/part-throughput.ts";
import { Stage } from "./events/stage.ts";
import type { Section } from "./room/turns.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { serving } from "./serve.ts";
import { ADVICE } from "./table.ts";

const PARTS = {
  latency: measureLatency,
  throughput: measureThroughput,
  hanging: measureHanging,
  queue: measureQueue,
};

export const bench: Bench = { parts: Object.keys(PARTS), run };

function run(options: BenchOptions): Promise<BenchReport> {
  return serving(["atrium", "deliveries"], options.stop, async ({ db, origin, pid }) => {
    const stage = await Stage.create(db, origin("atrium"), { origin: origin("deliveries"), pid });
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
