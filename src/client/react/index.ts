/** `atrium/react`: a room as React components see it. */
"use client";

export { type CommentActions, useComments } from "./comments.ts";
export type { ConnectionState, ConnectionStatus } from "./connection.ts";
export type { AnyClient } from "./context.ts";
export { type Member, useOthers, usePresence, useSelf } from "./people.ts";
export { RoomProvider, type RoomProviderProps } from "./provider.ts";
export { useBroadcast, useConnection, useRoom } from "./room.ts";
export { type StoreActions, useStore } from "./store.ts";
