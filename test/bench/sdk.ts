/** The SDK bench: what it costs an application to use stores through the SDK. */
import { Organization } from "./organization.ts";
import type { Section } from "./room/turns.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { measureBundles } from "./sdk/part-bundles.ts";
import { measureChange } from "./sdk/part-change.ts";
import { measureLatency } from "./sdk/part-latency.ts";
import { measureOpening } from "./sdk/part-opening.ts";
import { measureResizing } from "./sdk/part-resizing.ts";
import { type Served, serving } from "./serve.ts";
import { ADVICE } from "./table.ts";

/** Where a part finds the service, an organization in it, the Worker that returns text, and the one that passes messages on. */
export interface SdkSubjects {
  readonly origin: string;
  readonly textOrigin: string;
  readonly bareOrigin: string;
  readonly organization: Organization;
  readonly pid: number;
}

const PARTS: Readonly<Record<string, (subjects: SdkSubjects, options: BenchOptions) => Promise<Section>>> = {
  opening: measureOpening,
  change: measureChange,
  latency: measureLatency,
  resizing: measureResizing,
  bundles: measureBundles,
};

export const bench: Bench = { parts: Object.keys(PARTS), run };

function run(options: BenchOptions): Promise<BenchReport> {
  return serving(["atrium", "text", "bare-room"], options.stop, async ({ origin, db, pid }: Served) => {
    const organization = await Organization.create(db, origin("atrium"));
    const subjects = {
      origin: origin("atrium"),
      textOrigin: origin("text"),
      bareOrigin: origin("bare-room"),
      organization,
      pid,
    };
    const sections: Record<string, Section> = {};
    for (const [part, measure] of Object.entries(PARTS)) {
      if (options.parts.length > 0 && !options.parts.includes(part)) continue;
      sections[part] = await measure(subjects, options);
    }
    const markdown = [...Object.values(sections).map((section) => section.markdown), ADVICE].join("\n\n");
    const raw = Object.fromEntries(Object.entries(sections).map(([part, section]) => [part, section.raw]));
    return { markdown, raw };
  });
}
