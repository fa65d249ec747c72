/** `atrium/documents/react`: the hook for a document of the room. */
"use client";
import { ExternalSource, type Source, together, type Unsubscribe } from "../react/external-source.ts";
import { useRoomHandle, useSelection, whole } from "../react/room-context.ts";
import type { RoomHandle } from "../react/room-handle.ts";
import type { AnyClient } from "../react/shared-connection.ts";
import { type DocumentProvider, type DocumentStatus, openDocument } from "./index.ts";

/** Returns a function that connects the document. Its result disconnects it, once all changes are stored. */
function connectWhileRead(provider: DocumentProvider): () => Unsubscribe {
  let isWatched = false;
  const release = () => {
    if (!isWatched && !provider.hasUnsyncedChanges) provider.disconnect();
  };
  provider.on("unsyncedChanges", release);
  return () => {
    isWatched = true;
    provider.connect();
    return () => {
      isWatched = false;
      // Asynchronously, because StrictMode releases and connects again at once.
      queueMicrotask(release);
    };
  };
}

/** The result of `useDocument`. */
export interface RoomDocument {
  /** For the editor: it has the document as `doc`, and who is in it as `awareness`. Always the same object. */
  readonly provider: DocumentProvider;
  readonly status: DocumentStatus;
  /** Whether the document has everything that the room has. */
  readonly synced: boolean;
  /** Whether there are changes that the room has not confirmed to be on disk. */
  readonly hasUnsyncedChanges: boolean;
}

interface SharedDocument {
  readonly source: Source<RoomDocument>;
}

/** React may render without mounting, so nothing is connected yet. */
function openShared(client: AnyClient, name: string): SharedDocument {
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

const documents = new WeakMap<RoomHandle, Map<string, SharedDocument>>();

/**
 * A document of the room: all components share one. It is connected while at least one of them is mounted, and until
 * its changes are stored; its content stays in memory as long as the room's client.
 */
export function useDocument(name: string): RoomDocument {
  return useSelection(sharedOf(useRoomHandle(), name).source, whole);
}

function sharedOf(handle: RoomHandle, name: string): SharedDocument {
  const ofRoom = documents.get(handle) ?? new Map<string, SharedDocument>();
  documents.set(handle, ofRoom);
  const known = ofRoom.get(name) ?? openShared(handle.client, name);
  ofRoom.set(name, known);
  return known;
}
