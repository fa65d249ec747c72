/** The trail of a document: what each author wrote, minute by minute. Folding it loses no author and no operation. */
import { mergeUpdates } from "yjs";
import type { StoredUpdate } from "../storage/storage-documents.ts";
import { MAX_PART_BYTES, TRAIL_STRETCH_MS } from "./limits.ts";

/** The updates in which consecutive ones of an author that belong to one stretch of time are one. */
export function foldTrail(updates: readonly StoredUpdate[]): StoredUpdate[] {
  const stretches: StoredUpdate[][] = [];
  let bytes = 0;
  for (const update of updates) {
    const stretch = stretches.at(-1);
    const first = stretch?.[0];
    bytes += update.data.length;
    const continues =
      first?.userId === update.userId &&
      update.at - first.firstAt < TRAIL_STRETCH_MS &&
      bytes <= MAX_PART_BYTES;
    if (continues) stretch?.push(update);
    else {
      stretches.push([update]);
      bytes = update.data.length;
    }
  }
  return stretches.flatMap(joined);
}

function joined(stretch: readonly StoredUpdate[]): StoredUpdate[] {
  const [first, last] = [stretch[0], stretch.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (first === last) return [first];
  return [
    {
      seq: last.seq,
      updates: stretch.reduce((sum, { updates }) => sum + updates, 0),
      firstAt: first.firstAt,
      at: last.at,
      userId: last.userId,
      data: mergeUpdates(stretch.map(({ data }) => data)),
    },
  ];
}
