/** `atrium/react/suspense`: the hooks of `atrium/react` for components that suspend until the room is there. */
"use client";

export type { AnyClient, RoomClient } from "../any-client.ts";
export type { CommentActions } from "../comment-source.ts";
export { type Equality, shallowEqual } from "../equality.ts";
export { useCanRedo, useCanUndo, useRedo, useUndo } from "../history.ts";
export type { Member } from "../members.ts";
export { type UpdatePresence, useMyPresence, useUpdateMyPresence } from "../presence.ts";
export { RoomProvider, type RoomProviderProps } from "../provider.ts";
export { useBroadcast, useConnection, useHasUnsyncedChanges, useStatus } from "../room.ts";
export type { ConnectionState, ConnectionStatus } from "../shared-connection.ts";
export { useStoreActions } from "../store.ts";
export type { StoreActions } from "../store-actions.ts";
export type { StoreEntries } from "../store-source.ts";
export { type JoinedRoom, useComments, useOther, useOthers, useRoom, useSelf, useStore } from "./hooks.ts";
export { ClientSideSuspense, type ClientSideSuspenseProps } from "./joined.ts";
