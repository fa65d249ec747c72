/** `atrium/documents/react`: the hook for a document of the room. */
"use client";
import { getOrAdd } from "../core/emitter.ts";
import type { AtriumError } from "../core/error.ts";
import { ExternalSource, type Source, together, type Unsubscribe } from "../react/external-source.ts";
import { type RoomHandle, useRoomHandle, useSelection, whole } from "../react/room-handle.ts";
import type { AnyClient } from "../react/shared-connection.ts";
import { type DocumentProvider, type DocumentStatus, openDocument } from "./index.ts";

export interface RoomDocument {
  /**
   * Binds an editor: the document is its `doc`, the users in it are its `awareness`. Another object after
   * `discard`.
   */
  readonly provider: DocumentProvider;
  readonly status: DocumentStatus;
  /** Whether the document has everything that the room has. */
  readonly synced: boolean;
  /** Whether there are changes that the room has not confirmed to be on disk. */
  readonly hasUnsyncedChanges: boolean;
  /** Why the room has refused a change, or closed the document; null again once it has all changes. */
  readonly error: AtriumError | null;
  /** Gives up the changes that the room does not have: all components get another `provider`, as the room has it. */
  readonly discard: () => void;
}

const EVENTS = ["status", "sync", "unsyncedChanges", "error"] as const;

/** React may render without mounting, so nothing is connected yet. */
function openShared(client: AnyClient, name: string): Source<RoomDocument> {
  let provider = openDocument(client, name, { connect: false });
  /** Null while no component reads it. */
  let changed: (() => void) | null = null;
  let unfollow = () => {};
  const follow = (listener: () => void) => {
    const followed = provider;
    unfollow = together(...EVENTS.map((event) => followed.on(event, listener)));
    followed.connect();
  };
  /** Asynchronously, because StrictMode releases and connects again at once. `error` has the reason of a refusal. */
  const release = async () => {
    await provider.flush().catch(() => {});
    if (changed === null) provider.disconnect();
  };
  const discard = () => {
    unfollow();
    provider = provider.discard({ connect: false });
    if (changed === null) return;
    follow(changed);
    changed();
  };
  const compute = (): RoomDocument => {
    const { status, synced, hasUnsyncedChanges, error } = provider;
    return { provider, status, synced, hasUnsyncedChanges, error, discard };
  };
  const watch = (listener: () => void): Unsubscribe => {
    changed = listener;
    follow(listener);
    return () => {
      changed = null;
      unfollow();
      void release();
    };
  };
  return new ExternalSource<RoomDocument>(watch, compute, compute());
}

const documents = new WeakMap<RoomHandle, Map<string, Source<RoomDocument>>>();

/**
 * A document of the room, which all components share. It stays connected while a component uses it, and until
 * each of its changes is stored or refused; its content stays in memory as long as the room's client.
 */
export function useDocument(name: string): RoomDocument {
  const handle = useRoomHandle();
  const ofRoom = getOrAdd(documents, handle, () => new Map<string, Source<RoomDocument>>());
  return useSelection(
    getOrAdd(ofRoom, name, () => openShared(handle.client, name)),
    whole,
  );
}
