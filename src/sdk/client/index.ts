/** `atrium/client`: the client for browsers and Node. */

export { AtriumError, type AtriumErrorCode } from "../core/error.ts";
export type { FileFilter, Progress } from "../core/upload.ts";
export type {
  Comment,
  PresenceState,
  Role,
  Room,
  StorageFile,
  UploadResult,
  UserRecord,
} from "../wire/resources.ts";
export { AtriumClient, type AtriumClientOptions, type ClientEvents, type ClientSocket } from "./client.ts";
export type { CommentFilter, CommentPage, Comments, CommentsEvents, NewComment } from "./comments.ts";
export type { SocketEvents, SocketState } from "./connection/connection.ts";
export type { AuthToken } from "./connection/token.ts";
export type { BroadcastArguments, BroadcastListener, Notifications } from "./notifications.ts";
export type { OfflineSupport } from "./offline.ts";
export type { RefusedField } from "./presence/own-state.ts";
export type {
  Presence,
  PresenceEvents,
  PresenceOf,
  PresencePart,
  PresenceUpdate,
} from "./presence/presence.ts";
export type { Upload } from "./room-files.ts";
export type { Storage } from "./storage.ts";
export type { History, HistoryEvents, HistoryState } from "./stores/history.ts";
export type { StoreState } from "./stores/replica.ts";
export {
  defineStores,
  type InputOf,
  type PatchOf,
  type StoreShape,
  type StoreShapes,
  type ValueOf,
} from "./stores/shapes.ts";
export type { Store } from "./stores/store.ts";
export type { ChangeReason, StoreChange, StoreEvents } from "./stores/store-change.ts";
export type { StoresOf } from "./stores/stores.ts";
export type { DiscardedWrite, WriteQueueEvents } from "./stores/write-queue.ts";
export type { KeyedDeletion, KeyedWrite, Write, WriteOptions, Written } from "./stores/writes.ts";
// All of the module, so that applications can add to its interface by the name of this entry.
export type * from "./types.ts";
export type { BroadcastsIn, ClientTypes, PresenceIn, Registered, StoresIn } from "./types.ts";
export type { User } from "./users/user-cache.ts";
export type { Following, Users, UsersEvents } from "./users/users.ts";
