/** `useDocument`: a document of the nearest RoomProvider's room. */
import { useRoomHandle } from "../../react/context.ts";
import type { RoomHandle } from "../../react/room-handle.ts";
import { useSelection, whole } from "../../react/selection.ts";
import { openShared, type RoomDocument, type SharedDocument } from "./shared-document.ts";

const documents = new WeakMap<RoomHandle, Map<string, SharedDocument>>();

/**
 * A document of the room: all components share one. It is connected while at least one of them is mounted, and until
 * its changes are stored; what it has stays in memory as long as the room's client.
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
