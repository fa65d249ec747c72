/** `atrium/react`: React hooks for a room. */
"use client";

export type {
  InboxFilter,
  InboxNotification,
  NotificationSettings,
  NotificationSettingsUpdate,
} from "../inbox/index.ts";
export type { CommentActions, StoreActions, StoreEntries } from "./content-sources.ts";
export { type Equality, shallowEqual } from "./external-source.ts";
export {
  type UpdatePresence,
  useBroadcast,
  useCanRedo,
  useCanUndo,
  useComments,
  useConnection,
  useDeleteInboxNotification,
  useDocumentVersions,
  useErrorListener,
  useHasUnsyncedChanges,
  useInboxNotifications,
  useMarkAllInboxNotificationsAsRead,
  useMarkInboxNotificationAsRead,
  useMarkThreadAsRead,
  useMyPresence,
  useNotificationSettings,
  useOther,
  useOthers,
  useRedo,
  useRoom,
  useRoomPermissions,
  useRoomSubscriptionSettings,
  useSelf,
  useStatus,
  useStore,
  useStoreActions,
  useSuggestion,
  useSuggestions,
  useThreadSubscription,
  useThreads,
  useUndo,
  useUnreadInboxNotificationsCount,
  useUpdateMyPresence,
  useUsers,
} from "./hooks.ts";
export type { InboxActions, InboxList } from "./inbox-sources.ts";
export type { Loading } from "./loaded.ts";
export {
  AtriumProvider,
  RoomProvider,
  type RoomProviderProps,
} from "./provider.ts";
export type { Member, RoomInfo, Self } from "./room-handle.ts";
export type { AnyClient, ConnectionState, ConnectionStatus, RoomClient } from "./shared-connection.ts";
export type { SuggestionActions, SuggestionList, SuggestionReading } from "./suggestion-sources.ts";
export type { LoadState, ThreadActions, ThreadFilter, ThreadList, ThreadsActions } from "./thread-sources.ts";
export type { ListedVersion, VersionActions, VersionComparison, VersionList } from "./version-sources.ts";
