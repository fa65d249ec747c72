/** `atrium/client`: the client for browsers and Node. */
export { AtriumClient, type AtriumClientOptions, type ClientEvents, type ClientSocket } from "./client.ts";
export type { CommentFilter, CommentPage, Comments, CommentsEvents, NewComment } from "./comments.ts";
export { AtriumError } from "./error.ts";
export type { Notification, Notifications } from "./notifications.ts";
export type { Presence, PresenceUpdate } from "./presence.ts";
export type { Progress } from "./rest.ts";
export type { User } from "./roster.ts";
export { defineStores, type StoreShape, type StoreShapes } from "./shapes.ts";
export type { SocketEvents, SocketState } from "./socket.ts";
export type { FileFilter, Storage, Upload } from "./storage.ts";
export type { Store, StoreChange, StoreEvents } from "./store.ts";
export type { StoresOf } from "./stores.ts";
export type { Following, Users, UsersEvents } from "./users.ts";
export type { Comment, PresenceState, Role, Room, StorageFile, UploadResult, UserRecord } from "./wire.ts";
export type { Write, WriteOptions, Written } from "./writes.ts";
