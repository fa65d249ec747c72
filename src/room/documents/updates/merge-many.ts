/** Merges many updates a few at a time: what Yjs needs for all at once grows with the square of their number. */
import { mergeUpdates } from "yjs";

const AT_ONCE = 32;

/** At least one. */
export function mergeMany(updates: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = updates;
  if (first === undefined) throw new Error("There is no update to merge");
  if (others.length === 0) return first;
  const merged: Uint8Array[] = [];
  for (let at = 0; at < updates.length; at += AT_ONCE)
    merged.push(mergeUpdates(updates.slice(at, at + AT_ONCE)));
  return mergeMany(merged);
}
