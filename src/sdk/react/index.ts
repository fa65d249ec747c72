/** `atrium/react`: React hooks for a room. */
"use client";

export type { AnyClient } from "./any-client.ts";
export { type CommentActions, useComments } from "./comments.ts";
export { RoomProvider, type RoomProviderProps } from "./provider.ts";
export { useBroadcast, useConnection, useRoom } from "./room.ts";
export type { ConnectionState, ConnectionStatus } from "./shared-connection.ts";
export { type StoreActions, useStore } from "./store.ts";
export { type Member, useOthers, usePresence, useSelf } from "./users.ts";
