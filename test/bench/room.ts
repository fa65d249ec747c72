/** The room bench: delivery rate, latency and cost in a room, beside a bare object and other servers. */
import { measureCrowd } from "./room/part-crowd.ts";
import { measureCursors } from "./room/part-cursors.ts";
import { measureIdle } from "./room/part-idle.ts";
import { measureLatency } from "./room/part-latency.ts";
import { measureSaturation } from "./room/part-saturation.ts";
import { measureWrites } from "./room/part-writes.ts";
import { servingSubjects } from "./room/subjects.ts";
import type { Section } from "./room/turns.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { ADVICE } from "./table.ts";

/** The parts that compare the same servers, which all run side by side; one at a time is under load. */
const TOGETHER = {
  latency: measureLatency,
  cursors: measureCursors,
  saturation: measureSaturation,
  crowd: measureCrowd,
  writes: measureWrites,
};

export const bench: Bench = { parts: [...Object.keys(TOGETHER), "idle"], run };

async function run(options: BenchOptions): Promise<BenchReport> {
  const isWanted = (part: string) => options.parts.length === 0 || options.parts.includes(part);
  const sections: Record<string, Section> = {};
  if (isWanted("idle")) sections.idle = await measureIdle(options);
  const together = Object.entries(TOGETHER).filter(([part]) => isWanted(part));
  if (together.length > 0) {
    await servingSubjects(options.stop, async (subjects) => {
      for (const [part, measure] of together) sections[part] = await measure(subjects, options);
    });
  }
  const markdown = [...Object.values(sections).map((section) => section.markdown), ADVICE].join("\n\n");
  const raw = Object.fromEntries(Object.entries(sections).map(([part, section]) => [part, section.raw]));
  return { markdown, raw };
}
