/** Brings a document back to an earlier state by an ordinary edit. */
import { BuiltDocument } from "../updates/built-document.ts";

/**
 * The update that makes a document show what it showed after `before`, where `current` is all that it has now; null when
 * it shows that already. It deletes what was written since and writes again what was deleted, as an undo does. What
 * `current` does not have stays. CONFLICT when the document is too large to be built.
 */
export function revertingUpdate(before: Uint8Array, current: Uint8Array): Uint8Array | null {
  const built = new BuiltDocument([before], [current]);
  return built.undo(built.applyLater(), { ignoreRemoteMapChanges: true });
}
