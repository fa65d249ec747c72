/** Merges updates, and verifies that nothing is missing from the result. */
import { mergeUpdates } from "yjs";
import { compactUpdate } from "./compact-update.ts";
import { KnownContent } from "./known-content.ts";
import { scanUpdate } from "./update-scan.ts";

/** What becomes of content that the updates delete themselves. */
export type Deleted = "kept" | "dropped";

/**
 * The updates as one, compacted, if that has all the operations that they have; otherwise as they are. Losing one is the
 * one thing that folding must not do.
 */
export function mergeWhole(updates: readonly Uint8Array[], deleted: Deleted): readonly Uint8Array[] {
  const merged = compactUpdate(mergeUpdates([...updates]), deleted === "dropped");
  const known = new KnownContent();
  known.add(scanUpdate(merged));
  return updates.every((update) => known.covers(scanUpdate(update))) ? [merged] : updates;
}
