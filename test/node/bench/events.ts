/** The events bench: throughput and latency to webhooks, the effect of a dead receiver on others, and one queue by itself. */
import { measureHanging } from "./events/part-hanging.ts";
import { measureLatency } from "./events/part-latency.ts";
import { measureQueue } from "./events/part-queue.ts";
import { measureThroughput } from "./events/part-throughput.ts";
import { Stage } from "./events/stage.ts";
import { measureParts, reportOf } from "./parts.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { serving } from "./serve.ts";

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
    try {
      return reportOf(await measureParts(PARTS, stage, options));
    } finally {
      await stage.dispose();
    }
  });
}
