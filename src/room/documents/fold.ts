/** Plans how a document's updates are folded into its parts, so that each byte is merged a few times only. */
import type { StoredUpdate } from "../storage/storage-documents.ts";
import { foldTrail } from "./history/trail.ts";
import { MAX_PART_BYTES, MIN_PART_BYTES } from "./updates/limits.ts";
import { mergeWhole } from "./updates/merge-whole.ts";

interface FoldPlan {
  /** How many of the first parts stay as they are; the others are replaced by `parts`. */
  readonly kept: number;
  readonly parts: readonly Uint8Array[];
  /** The updates with those of an author that belong together as one. */
  readonly trail: readonly StoredUpdate[];
}

/** `ends` are the numbers of versions, as for {@link foldTrail}. Parts get smaller from the first to the last, each at most half of the one before: few of them, seldom rewritten. */
export function planFold(
  partBytes: readonly number[],
  updates: readonly StoredUpdate[],
  ends: ReadonlySet<number>,
  readPart: (part: number) => Uint8Array,
): FoldPlan {
  let kept = partBytes.length;
  const merging: Uint8Array[] = updates.map(({ data }) => data);
  let bytes = merging.reduce((sum, { length }) => sum + length, 0);
  for (; kept > 0; kept -= 1) {
    const last = partBytes[kept - 1] ?? 0;
    const isSmall = last < MIN_PART_BYTES || last < 2 * bytes;
    if (!isSmall || last + bytes > MAX_PART_BYTES) break;
    merging.unshift(readPart(kept - 1));
    bytes += last;
  }
  return { kept, parts: mergeGroups(merging), trail: foldTrail(updates, ends) };
}

/** As few updates as fit into parts, without what they delete: the trail has it. */
function mergeGroups(updates: readonly Uint8Array[]): Uint8Array[] {
  const groups: Uint8Array[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const update of updates) {
    bytes += update.length;
    if (bytes <= MAX_PART_BYTES) groups.at(-1)?.push(update);
    else {
      groups.push([update]);
      bytes = update.length;
    }
  }
  return groups.flatMap((group) => [...mergeWhole(group, "dropped")]);
}
