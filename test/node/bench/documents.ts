/** The documents bench: typing together, opening a document and storing updates, beside other servers of Yjs documents. */
import { measureAppends } from "./documents/part-appends.ts";
import { measureOpening } from "./documents/part-opening.ts";
import { measureTyping } from "./documents/part-typing.ts";
import { servingDocuments } from "./documents/subjects.ts";
import { measureParts, reportOf } from "./parts.ts";
import type { Bench, BenchOptions, BenchReport } from "./run.ts";

const PARTS = { typing: measureTyping, opening: measureOpening, appends: measureAppends };

export const bench: Bench = { parts: Object.keys(PARTS), run };

function run(options: BenchOptions): Promise<BenchReport> {
  return servingDocuments(options.stop, async (servers) =>
    reportOf(await measureParts(PARTS, servers, options)),
  );
}
