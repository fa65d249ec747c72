/** Benches of several parts: selects them, runs them one after the other, and joins their reports. */
import type { Section } from "./room/turns.ts";
import type { BenchOptions, BenchReport } from "./run.ts";
import { ADVICE } from "./table.ts";

/** Parts by the names of the command line. */
export type Parts<Subjects> = Readonly<
  Record<string, (subjects: Subjects, options: BenchOptions) => Promise<Section>>
>;

type Sections = Readonly<Record<string, Section>>;

/** All parts, where none is asked for. */
export const isWanted = ({ parts }: BenchOptions, part: string): boolean =>
  parts.length === 0 || parts.includes(part);

export async function measureParts<Subjects>(
  parts: Parts<Subjects>,
  subjects: Subjects,
  options: BenchOptions,
): Promise<Sections> {
  const sections: Record<string, Section> = {};
  for (const [part, measure] of Object.entries(parts)) {
    if (!isWanted(options, part)) continue;
    options.progress(`Measuring ${part}`);
    sections[part] = await measure(subjects, options);
  }
  return sections;
}

export const reportOf = (sections: Sections): BenchReport => ({
  markdown: [...Object.values(sections).map(({ markdown }) => markdown), ADVICE].join("\n\n"),
  raw: Object.fromEntries(Object.entries(sections).map(([part, { raw }]) => [part, raw])),
});
