/** Merges updates, and verifies that nothing is missing from the result. */
import { mergeUpdates } from "yjs";
import { KnownContent } from "./known-content.ts";
import { scanUpdate } from "./update-scan.ts";

/** The updates as one, if that has all that they have; otherwise as they are. Losing an operation is the one thing that folding must not do. */
export function mergeWhole(updates: readonly Uint8Array[]): readonly Uint8Array[] {
  if (updates.length === 1) return updates;
  const merged = mergeUpdates([...updates]);
  const known = new KnownContent();
  known.add(scanUpdate(merged));
  return updates.every((update) => known.covers(scanUpdate(update))) ? [merged] : updates;
}
