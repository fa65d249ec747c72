/** Merges updates into one, without building a document. */
import { mergeUpdates } from "yjs";
import { compactUpdate } from "./compact-update.ts";
import { KnownContent } from "./known-content.ts";
import { scanUpdate } from "./update-reader.ts";

/** Yjs needs memory by the square of the number of updates that it merges. */
const AT_ONCE = 32;

/** Merges updates, of which there is at least one. */
export function mergeMany(updates: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = updates;
  if (first === undefined) throw new Error("There is no update to merge");
  if (others.length === 0) return first;
  const merged: Uint8Array[] = [];
  for (let at = 0; at < updates.length; at += AT_ONCE)
    merged.push(mergeUpdates(updates.slice(at, at + AT_ONCE)));
  return mergeMany(merged);
}

/** The fate of content that the updates delete themselves. */
export type Deleted = "kept" | "dropped";

/** The updates as one, compacted. Returns them as they are if an operation were lost: folding must never lose one. */
export function mergeWhole(updates: readonly Uint8Array[], deleted: Deleted): readonly Uint8Array[] {
  const merged = compactUpdate(mergeUpdates([...updates]), deleted === "dropped");
  const known = new KnownContent();
  known.add(scanUpdate(merged));
  return updates.every((update) => known.covers(scanUpdate(update))) ? [merged] : updates;
}
