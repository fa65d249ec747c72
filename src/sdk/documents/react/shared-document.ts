/** A document as components share it: connected while one of them reads it. */

import type { AnyClient } from "../../react/any-client.ts";
import { ExternalSource, type Source, together, type Unsubscribe } from "../../react/external-source.ts";
import { type DocumentProvider, type DocumentStatus, openDocument } from "../index.ts";
import { connectWhileRead } from "./connect-while-read.ts";

/** What `useDocument` returns. */
export interface RoomDocument {
  /** For the editor: it has the document as `doc`, and who is in it as `awareness`. Always the same object. */
  readonly provider: DocumentProvider;
  readonly status: DocumentStatus;
  /** Whether the document has everything that the room has. */
  readonly synced: boolean;
  /** Whether there are changes that the room has not confirmed to be on disk. */
  readonly hasUnsyncedChanges: boolean;
}

export interface SharedDocument {
  readonly source: Source<RoomDocument>;
}

/** Connects nothing before a component reads it: React may render without mounting. */
export function openShared(client: AnyClient, name: string): SharedDocument {
  const provider = openDocument(client, name, { connect: false });
  const compute = (): RoomDocument => ({
    provider,
    status: provider.status,
    synced: provider.synced,
    hasUnsyncedChanges: provider.hasUnsyncedChanges,
  });
  const connection = connectWhileRead(provider);
  const watch = (changed: () => void): Unsubscribe =>
    together(
      provider.on("status", changed),
      provider.on("sync", changed),
      provider.on("unsyncedChanges", changed),
      connection(),
    );
  return { source: new ExternalSource<RoomDocument>(watch, compute, compute()) };
}
