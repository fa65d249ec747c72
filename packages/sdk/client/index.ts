/** `atrium/client`: the client for browsers and Node. */

export { AtriumError, type AtriumErrorCode } from "../core/error.ts";
export type { Frozen } from "../core/json.ts";
export type { FileFilter, Progress } from "../core/rest.ts";
export type { Abortable } from "../core/runtime.ts";
export type { NewComment } from "../wire/requests.ts";
export type {
  Comment,
  Identity,
  Mention,
  Permission,
  PresenceState,
  Resource,
  Role,
  Room,
  StorageFile,
  SubscriptionSettings,
  Thread,
  UploadResult,
  User as UserRecord,
} from "../wire/resources.ts";
export { Atrium, type AtriumOptions, type RoomOptions, redeemLink } from "./atrium.ts";
export {
  AtriumClient,
  type AtriumClientOptions,
  type ClientEvents,
  type ClientSocket,
  type FlushOptions,
  type JoinOptions,
} from "./client.ts";
export type {
  CommentFilter,
  CommentPage,
  Comments,
  CommentsEvents,
  ThreadFilter,
  ThreadPage,
  ThreadPlace,
} from "./comments.ts";
export type { SocketEvents, SocketState, SocketStatus } from "./connection/connection.ts";
export type { Access } from "./connection/frames.ts";
export type { AuthToken, TokenReason, TokenRequest } from "./connection/token.ts";
export type { BroadcastArguments, BroadcastListener, Notifications } from "./notifications.ts";
export type { OfflineSupport } from "./offline.ts";
export type { Guest, GuestOptions, Upload } from "./over-rest.ts";
export type { RefusedField } from "./own-presence.ts";
export type {
  Presence,
  PresenceEvents,
  PresenceOf,
  PresencePart,
  PresenceUpdate,
} from "./presence.ts";
export type { Storage } from "./storage.ts";
export type { ChangeReason, StoreChange, StoreEvents } from "./stores/entries.ts";
export type { History, HistoryEvents, HistoryState } from "./stores/history.ts";
export type { StoreState } from "./stores/replica.ts";
export type { Store, StoresOf } from "./stores/store.ts";
export type { DiscardedWrite, WriteQueueEvents } from "./stores/write-queue.ts";
export type { KeyedDeletion, KeyedWrite, Write, WriteOptions, Written } from "./stores/writes.ts";
export {
  defineStores,
  type InputOf,
  type PatchOf,
  type StoreShape,
  type StoreShapes,
  type ValueOf,
} from "./stores/writes.ts";
// All of the module, so that applications can add to its interface by the name of this entry.
export type * from "./types.ts";
export type { BroadcastsIn, ClientTypes, PresenceIn, Registered, StoresIn } from "./types.ts";
export type { Following, User, Users, UsersEvents } from "./users.ts";
