/** How a document's provider is opened, and what it reports. */
import type { Awareness } from "y-protocols/awareness";
import type * as Y from "yjs";

/** `connected`: the client has joined the room, and the document is being kept in step with it. */
export type DocumentStatus = "connected" | "connecting" | "disconnected";

export interface DocumentEvents {
  status: { readonly status: DocumentStatus };
  /** True once the document has everything that the room has; false when the connection is lost. */
  sync: boolean;
  /** Whether there are changes that the room has not confirmed to be on disk. */
  unsyncedChanges: boolean;
  /** The room does not take a change, which stays in this document: a viewer's, or one that is too large. */
  refused: { readonly reason: string };
  /** The document was deleted, or the room cannot open it: it stays closed until `connect()` is called. */
  closed: { readonly reason: string };
}

export interface DocumentOptions {
  /** The document to keep in step; a new one by default. */
  readonly doc?: Y.Doc;
  /** Who is in the document; by default a new one, which sends nothing while nothing changes. */
  readonly awareness?: Awareness;
  /** False to begin with {@link DocumentProvider.connect}; true by default. */
  readonly connect?: boolean;
}
