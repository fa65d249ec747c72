/** `atrium/react`: React hooks for a room. */
"use client";

export type { AnyClient, RoomClient } from "./any-client.ts";
export type { CommentActions } from "./comment-source.ts";
export { useComments } from "./comments.ts";
export { type Equality, shallowEqual } from "./equality.ts";
export { useCanRedo, useCanUndo, useRedo, useUndo } from "./history.ts";
export type { Member } from "./members.ts";
export { type UpdatePresence, useMyPresence, useUpdateMyPresence } from "./presence.ts";
export { RoomProvider, type RoomProviderProps } from "./provider.ts";
export { useBroadcast, useConnection, useHasUnsyncedChanges, useRoom, useStatus } from "./room.ts";
export type { RoomInfo } from "./room-handle.ts";
export { useSelf } from "./self.ts";
export type { ConnectionState, ConnectionStatus } from "./shared-connection.ts";
export { useStore, useStoreActions } from "./store.ts";
export type { StoreActions } from "./store-actions.ts";
export type { StoreEntries } from "./store-source.ts";
export { useOther, useOthers } from "./users.ts";
