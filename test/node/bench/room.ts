/** The room bench: delivery rate, latency and cost in a room, beside a bare object and other servers. */

import { isWanted, measureParts, type Parts, reportOf } from "./parts.ts";
import { measureCrowd } from "./room/part-crowd.ts";
import { measureCursors } from "./room/part-cursors.ts";
import { measureIdle } from "./room/part-idle.ts";
import { measureLatency } from "./room/part-latency.ts";
import { measureSaturation } from "./room/part-saturation.ts";
import { measureWrites } from "./room/part-writes.ts";
import { servingSubjects } from "./room/subjects.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";

/** The parts that compare the same servers, which all run side by side; one at a time is under load. */
const TOGETHER = {
  latency: measureLatency,
  cursors: measureCursors,
  saturation: measureSaturation,
  crowd: measureCrowd,
  writes: measureWrites,
};

/** The part that serves its own, and nothing beside it. */
const ALONE: Parts<null> = { idle: (_, options) => measureIdle(options) };

export const bench: Bench = { parts: Object.keys({ ...TOGETHER, ...ALONE }), run };

async function run(options: BenchOptions): Promise<BenchReport> {
  const alone = await measureParts(ALONE, null, options);
  if (!Object.keys(TOGETHER).some((part) => isWanted(options, part))) return reportOf(alone);
  const together = await servingSubjects(options.stop, (subjects) =>
    measureParts(TOGETHER, subjects, options),
  );
  return reportOf({ ...alone, ...together });
}
