/** `atrium/documents/react`: the hook for a document of the room. */
"use client";
import { getOrAdd } from "../core/emitter.ts";
import { ExternalSource, type Source, together, type Unsubscribe } from "../react/external-source.ts";
import { type RoomHandle, useRoomHandle, useSelection, whole } from "../react/room-handle.ts";
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

export interface RoomDocument {
  /** For the editor: the document is its `doc`, the users in it are its `awareness`. Always the same object. */
  readonly provider: DocumentProvider;
  readonly status: DocumentStatus;
  /** Whether the document has everything that the room has. */
  readonly synced: boolean;
  /** Whether there are changes that the room has not confirmed to be on disk. */
  readonly hasUnsyncedChanges: boolean;
}

/** React may render without mounting, so nothing is connected yet. */
function openShared(client: AnyClient, name: string): Source<RoomDocument> {
  const provider = openDocument(client, name, { connect: false });
  const connect = connectWhileRead(provider);
  const compute = (): RoomDocument => {
    const { status, synced, hasUnsyncedChanges } = provider;
    return { provider, status, synced, hasUnsyncedChanges };
  };
  const watch = (changed: () => void): Unsubscribe => {
    const stops = (["status", "sync", "unsyncedChanges"] as const).map((event) =>
      provider.on(event, changed),
    );
    return together(...stops, connect());
  };
  return new ExternalSource<RoomDocument>(watch, compute, compute());
}

const documents = new WeakMap<RoomHandle, Map<string, Source<RoomDocument>>>();

/**
 * A document of the room, which all components share. It is connected while one of them is mounted, and until its
 * changes are stored; its content stays in memory as long as the room's client.
 */
export function useDocument(name: string): RoomDocument {
  const handle = useRoomHandle();
  const ofRoom = getOrAdd(documents, handle, () => new Map<string, Source<RoomDocument>>());
  return useSelection(
    getOrAdd(ofRoom, name, () => openShared(handle.client, name)),
    whole,
  );
}
