/** Which operations a Yjs update has, and which it deletes. */
import type { ClockRange } from "./id-set.ts";
import { SKIP } from "./update-content.ts";
import { CONTENT_BITS, readUpdate } from "./update-reader.ts";

/** What an update has: operations, and deletions of operations. */
export interface UpdateContent {
  readonly inserted: readonly ClockRange[];
  readonly deleted: readonly ClockRange[];
}

/** Extends the last range, or begins another one. */
function append(ranges: ClockRange[], range: ClockRange): void {
  const last = ranges.at(-1);
  if (last?.client === range.client && last.end === range.start)
    ranges[ranges.length - 1] = { ...last, end: range.end };
  else ranges.push(range);
}

/** What the update has. Throws a MalformedUpdate for bytes that Yjs could not read, or only in part. */
export function scanUpdate(update: Uint8Array): UpdateContent {
  const [inserted, deleted]: [ClockRange[], ClockRange[]] = [[], []];
  readUpdate(update, {
    struct({ client, clock, length, info }) {
      if ((info & CONTENT_BITS) !== SKIP) append(inserted, { client, start: clock, end: clock + length });
    },
    deleted: (range) => append(deleted, range),
  });
  return { inserted, deleted };
}
