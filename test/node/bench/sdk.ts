/** The SDK bench: cost of stores for an application through the SDK. */
import { Organization } from "./organization.ts";
import { measureParts, type Parts, reportOf } from "./parts.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";
import { measureBundles } from "./sdk/part-bundles.ts";
import { measureChange } from "./sdk/part-change.ts";
import { measureLatency } from "./sdk/part-latency.ts";
import { measureOpening } from "./sdk/part-opening.ts";
import { measureResizing } from "./sdk/part-resizing.ts";
import { measureSlowLine } from "./sdk/part-slow-line.ts";
import { type Served, serving } from "./serve.ts";

/** Where a part finds the service, an organization in it, the Worker that returns text, and the one that passes messages on. */
export interface SdkSubjects {
  readonly origin: string;
  readonly textOrigin: string;
  readonly bareOrigin: string;
  readonly organization: Organization;
  readonly pid: number;
}

const PARTS: Parts<SdkSubjects> = {
  opening: measureOpening,
  change: measureChange,
  latency: measureLatency,
  resizing: measureResizing,
  "slow-line": measureSlowLine,
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
    return reportOf(await measureParts(PARTS, subjects, options));
  });
}
