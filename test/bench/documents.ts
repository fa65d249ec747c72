/** The documents bench: typing together, opening a document and storing updates, beside other servers of Yjs documents. */
import { measureAppends } from "./documents/part-appends.ts";
import { measureOpening } from "./documents/part-opening.ts";
import { measureTyping } from "./documents/part-typing.ts";
import { servingDocuments } from "./documents/subjects.ts";
import type { Section } from "./room/turns.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { ADVICE } from "./table.ts";

const PARTS = { typing: measureTyping, opening: measureOpening, appends: measureAppends };

export const bench: Bench = { parts: Object.keys(PARTS), run };

async function run(options: BenchOptions): Promise<BenchReport> {
  const isWanted = (part: string) => options.parts.length === 0 || options.parts.includes(part);
  const sections: Record<string, Section> = {};
  await servingDocuments(options.stop, async (servers) => {
    for (const [part, measure] of Object.entries(PARTS))
      if (isWanted(part)) sections[part] = await measure(servers, options);
  });
  const markdown = [...Object.values(sections).map((section) => section.markdown), ADVICE].join("\n\n");
  const raw = Object.fromEntries(Object.entries(sections).map(([part, section]) => [part, section.raw]));
  return { markdown, raw };
}
