/** Brings a document back to an earlier state by an ordinary edit. Builds the document, so it has to be small. */
import * as Y from "yjs";
import { editAsServer } from "../updates/server-clients.ts";
import { requireBuildable } from "../updates/shared-types.ts";

/**
 * The update that makes a document show what it showed after `before`, where `current` is all that it has now; null when
 * it shows that already. It deletes what was written since and writes again what was deleted, as an undo does. What
 * `current` does not have stays. CONFLICT when the document is too large to be built.
 */
export function revertingUpdate(before: Uint8Array, current: Uint8Array): Uint8Array | null {
  for (const update of [before, current]) requireBuildable([update]);
  const doc = new Y.Doc({ gc: false });
  Y.applyUpdate(doc, before);
  const since = {};
  const undo = new Y.UndoManager(doc, {
    trackedOrigins: new Set([since]),
    captureTimeout: Number.MAX_SAFE_INTEGER,
    ignoreRemoteMapChanges: true,
  });
  Y.applyUpdate(doc, current, since);
  editAsServer(doc);
  let reverting: Uint8Array | null = null;
  doc.on("update", (update: Uint8Array) => {
    reverting = update;
  });
  undo.undo();
  doc.destroy();
  return reverting;
}
