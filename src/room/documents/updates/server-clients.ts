/** The client ids of edits that the service itself makes, by which they are recognized later. */
import type * as Y from "yjs";

/** The lower half of such an id; clients choose theirs at random among 2^32. */
const MARK = 0xa721;
const HALF = 0x1_0000;

export const isServerClient = (client: number): boolean => client % HALF === MARK;

/** Lets the edits that follow be the service's. The document has all that it is to have. */
export function editAsServer(doc: Y.Doc): void {
  do doc.clientID = (crypto.getRandomValues(new Uint16Array(1))[0] ?? 0) * HALF + MARK;
  while (doc.store.clients.has(doc.clientID));
}
