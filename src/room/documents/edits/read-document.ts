/** The part of a document that a program has read before it edits. */
import * as Y from "yjs";
import type { AuthoredUpdate } from "../../types/documents.ts";
import { scanUpdate } from "../updates/update-reader.ts";

export interface ReadDocument {
  /** Its state vector. */
  readonly state: Uint8Array;
  /** The updates since, with their authors; none where these are unknown. */
  readonly since: readonly AuthoredUpdate[];
}

/** The state vector of a document before these updates. */
export function stateBefore(document: Uint8Array, since: readonly AuthoredUpdate[]): Uint8Array {
  const clocks = Y.decodeStateVector(Y.encodeStateVectorFromUpdate(document));
  for (const { data } of since)
    for (const { client, start } of scanUpdate(data).inserted) {
      const clock = clocks.get(client);
      if (clock !== undefined && start < clock) clocks.set(client, start);
    }
  return Y.encodeStateVector(clocks);
}
