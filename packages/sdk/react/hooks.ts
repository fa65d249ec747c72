/** The hooks of `atrium/react`. */
import { useCallback, useEffect, useMemo, useRef } from "react";
import { canWrite } from "../client/connection/frames.ts";
import type * as atrium from "../client/index.ts";
import { assumeType } from "../core/json.ts";
import type { InboxFilter, NotificationSettings } from "../inbox/index.ts";
import type { Suggestion } from "../wire/resources.ts";
import type { CommentActions, Content, StoreActions, StoreContent, StoreEntries } from "./content-sources.ts";
import { type Equality, ExternalSource } from "./external-source.ts";
import { type InboxActions, type InboxList, inboxOf, type SharedInbox } from "./inbox-sources.ts";
import type { Loading, LoadState } from "./loaded.ts";
import { useAtrium } from "./provider.ts";
import {
  type Member,
  type RoomInfo,
  type Self,
  useRoomHandle,
  useSelection,
  useSource,
  whole,
} from "./room-handle.ts";
import type { ConnectionState, ConnectionStatus } from "./shared-connection.ts";
import {
  openSuggestion,
  type SuggestionActions,
  type SuggestionList,
  type SuggestionReading,
  suggestionsOf,
} from "./suggestion-sources.ts";
import type {
  Reloaded,
  SettingsContent,
  ThreadActions,
  ThreadFilter,
  ThreadList,
  ThreadsActions,
} from "./thread-sources.ts";
import { type VersionActions, type VersionList, versionsOf } from "./version-sources.ts";

/** The state of the connection, why it is closed, and a way to try again, for a notice such as "Reconnecting…". */
export const useConnection = (): ConnectionStatus => useSource(useRoomHandle().connection);

const statusOf = ({ status }: ConnectionStatus): ConnectionState => status;

/** The state of the connection. */
export const useStatus = (): ConnectionState => useSelection(useRoomHandle().connection, statusOf);

/** Calls `listener` with each error that no call of yours is rejected with, such as content that could not be loaded. */
export function useErrorListener(listener: (error: atrium.AtriumError) => void): void {
  const { client } = useRoomHandle();
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => client.on("error", (error) => latest.current(error)), [client]);
}

/** Whether there are changes of stores that the service has not confirmed, for a notice such as "Saving…". */
export const useHasUnsyncedChanges = (): boolean => useSource(useRoomHandle().hasUnsyncedChanges);

/** A value with the client as the application has registered its types. */
export type Typed<Info> = Omit<Info, "client"> & { readonly client: atrium.AtriumClient<RegisteredStores> };

/** The room and your role in it, null until it was joined, and the client, for everything without a hook. */
export const useRoom = (): Typed<RoomInfo> => assumeType(useSource(useRoomHandle().room));

/** Your permissions in the room. */
interface RoomPermissions {
  /** A list such as `["*:read", "comments:write"]`; empty until the room was joined. */
  readonly permissions: readonly atrium.Permission[];
  /** Whether you may change this part of the room. */
  readonly canWrite: (resource: atrium.Resource) => boolean;
}

/** Your permissions in the room, to show and disable controls. Renders when it changes. */
export function useRoomPermissions(): RoomPermissions {
  const permissions = useSelection(useRoomHandle().permissions, whole);
  return useMemo(
    () => ({ permissions, canWrite: (resource) => canWrite(permissions, resource) }),
    [permissions],
  );
}

type RegisteredBroadcasts = atrium.BroadcastsIn<atrium.Registered>;

/** A function that broadcasts to others who are online, or to `userIds`. `listener` receives the messages of others. */
export function useBroadcast<Name extends keyof RegisteredBroadcasts & string>(
  event: Name,
  listener?: atrium.BroadcastListener<RegisteredBroadcasts[Name]>,
): (...args: atrium.BroadcastArguments<RegisteredBroadcasts[Name]>) => Promise<number>;
export function useBroadcast(
  event: string,
  listener?: atrium.BroadcastListener,
): (data?: unknown, userIds?: readonly string[]) => Promise<number> {
  const { client } = useRoomHandle();
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(
    () => client.notifications.on(event, (data, from) => latest.current?.(data, from)),
    [client, event],
  );
  return useCallback(
    (data?: unknown, userIds?: readonly string[]) => client.notifications.broadcast(event, data, userIds),
    [client, event],
  );
}

/** Yourself as the others see you, with your role and permissions, or the result of `select`; null until the room was joined. */
export function useSelf(): Self | null;
export function useSelf<Selected>(
  select: (self: Self) => Selected,
  isEqual?: Equality<Selected>,
): Selected | null;
export function useSelf(select: (self: Self) => unknown = whole, isEqual?: Equality<unknown>): unknown {
  const selectSelf = useMemo(() => (self: Self | null) => self && select(self), [select]);
  return useSelection(useRoomHandle().self, selectSelf, isEqual);
}

/** All other users who are online, as they joined, or the result of `select`. Renders when that is no longer equal. */
export function useOthers(): readonly Member[];
export function useOthers<Selected>(
  select: (others: readonly Member[]) => Selected,
  isEqual?: Equality<Selected>,
): Selected;
export function useOthers(
  select: (others: readonly Member[]) => unknown = whole,
  isEqual?: Equality<unknown>,
): unknown {
  return useSelection(useRoomHandle().others, select, isEqual);
}

/** One of {@link useOthers}, or the result of `select`; null while this user is not online. */
export function useOther(userId: string): Member | null;
export function useOther<Selected>(
  userId: string,
  select: (other: Member) => Selected,
  isEqual?: Equality<Selected>,
): Selected | null;
export function useOther(
  userId: string,
  select: (other: Member) => unknown = whole,
  isEqual?: Equality<unknown>,
): unknown {
  const selectOther = useMemo(
    () => (others: readonly Member[]) => {
      const other = others.find(({ user }) => user.id === userId);
      return other === undefined ? null : select(other);
    },
    [select, userId],
  );
  return useSelection(useRoomHandle().others, selectOther, isEqual);
}

/**
 * Users of the room by their IDs, online or not, such as the authors of comments: undefined while one is looked up, and
 * null if the room has no such user. Renders when one of them changes.
 */
export function useUsers(userIds: readonly string[]): readonly (atrium.User | null | undefined)[] {
  const { client } = useRoomHandle();
  const { users } = client;
  const key = JSON.stringify(userIds);
  const source = useMemo(() => {
    const ids: readonly string[] = JSON.parse(key);
    const read = () =>
      ids.map((userId) => users.get({ userId }) ?? (users.isMissing({ userId }) ? null : undefined));
    const load = () => {
      const known = read();
      const unknown = ids.filter((_, index) => known[index] === undefined);
      if (unknown.length > 0) users.load({ userIds: unknown }).catch((error) => client.report(error));
    };
    const watch = (changed: () => void) => {
      load();
      return users.on("updated", () => {
        load();
        changed();
      });
    };
    const initial = ids.map(() => undefined);
    return new ExternalSource<readonly (atrium.User | null | undefined)[]>(watch, read, initial);
  }, [client, users, key]);
  return useSource(source);
}

/** Changes some fields of your presence and keeps the others; null removes all of it. */
export type UpdatePresence<Shown extends object> = (part: atrium.PresencePart<Shown> | null) => void;

type RegisteredPresence = atrium.PresenceIn<atrium.Registered>;

/** Your presence, at first the provider's `initialPresence`, and a function that changes some of its fields. */
export const useMyPresence = <Shown extends object = RegisteredPresence>(): [
  Readonly<Partial<Shown>>,
  UpdatePresence<Shown>,
] => [shownAs<Shown>(useSource(useRoomHandle().ownPresence)), useUpdateMyPresence<Shown>()];

/** The function of {@link useMyPresence} alone, for a component that does not read your presence. */
export function useUpdateMyPresence<Shown extends object = RegisteredPresence>(): UpdatePresence<Shown> {
  const { presence } = useRoomHandle().client;
  return useCallback((part) => presence.update(part), [presence]);
}

const shownAs = <Shown extends object>(state: atrium.PresenceState) => state as Readonly<Partial<Shown>>;

type RegisteredStores = atrium.StoresIn<atrium.Registered>;
type StoreName = keyof RegisteredStores & string;
type EntriesOf<Name extends StoreName> = StoreEntries<atrium.ValueOf<RegisteredStores[Name]>>;
type ActionsOf<Name extends StoreName> = StoreActions<
  atrium.ValueOf<RegisteredStores[Name]>,
  atrium.InputOf<RegisteredStores[Name]>,
  atrium.PatchOf<RegisteredStores[Name]>
>;

/**
 * The values of a store by key, or the result of `select`, and functions that change them. Types are those that the
 * application registered, or `Value`. Values are not checked: other clients can write anything.
 */
export function useStore<Name extends StoreName>(name: Name): [EntriesOf<Name>, ActionsOf<Name>, Loading];
export function useStore<Value = unknown>(name: string): [StoreEntries<Value>, StoreActions<Value>, Loading];
export function useStore<Name extends StoreName, Selected>(
  name: Name,
  select: (entries: EntriesOf<Name>) => Selected,
  isEqual?: Equality<Selected>,
): [Selected, ActionsOf<Name>, Loading];
export function useStore<Value, Selected>(
  name: string,
  select: (entries: StoreEntries<Value>) => Selected,
  isEqual?: Equality<Selected>,
): [Selected, StoreActions<Value>, Loading];
export function useStore(
  name: string,
  select: (entries: StoreEntries<never>) => unknown = whole,
  isEqual?: Equality<unknown>,
): [unknown, object, Loading] {
  const { source, actions, state } = useRoomHandle().store(name) as unknown as StoreContent<never>;
  return [useSelection(source, select, isEqual), actions, useSource(state)];
}

/** The functions that change a store, for a component that does not read it. Always the same object. */
export function useStoreActions<Name extends StoreName>(name: Name): ActionsOf<Name>;
export function useStoreActions<Value = unknown>(name: string): StoreActions<Value>;
export function useStoreActions(name: string): StoreActions<unknown> {
  return useRoomHandle().store(name).actions;
}

function useHistory(move: "undo" | "redo"): () => boolean {
  const { history } = useRoomHandle().client;
  return useCallback(() => history[move](), [history, move]);
}

/** A function that undoes your latest step, and returns whether anything has changed. */
export const useUndo = (): (() => boolean) => useHistory("undo");

/** A function that redoes the step that you undid last, and returns whether anything has changed. */
export const useRedo = (): (() => boolean) => useHistory("redo");

/** Whether there are changes of yours to undo, for a button. */
export const useCanUndo = (): boolean => useSelection(useRoomHandle().history, ({ canUndo }) => canUndo);

/** Whether there are changes of yours to redo, for a button. */
export const useCanRedo = (): boolean => useSelection(useRoomHandle().history, ({ canRedo }) => canRedo);

/** A value, functions that change it, and how its loading goes. */
function useContent<Value, Actions>({
  source,
  actions,
  state,
}: Content<Value, Actions>): [Value, Actions, Loading] {
  return [useSource(source), actions, useSource(state)];
}

/** All comments of the room or of one thread, oldest first, and functions that change them. */
export const useComments = (threadId?: string): [readonly atrium.Comment[], CommentActions, Loading] =>
  useContent(useRoomHandle().comments(threadId));

/**
 * The threads of the room that match, the latest comment first, with your read positions: the first 50, and 50
 * more after each `loadMore`.
 */
export const useThreads = (filter: ThreadFilter = {}): [ThreadList & LoadState, ThreadsActions] =>
  useLoaded(useRoomHandle().threads(filter));

/** A thread with your subscription and read position, and functions that change them. Null until it is read. */
export const useThreadSubscription = (threadId: string): [atrium.Thread | null, ThreadActions, Loading] =>
  useContent(useRoomHandle().thread(threadId));

/** A function that marks a thread of the room as read up to a `seq`, or to its end. Always the same function. */
export const useMarkThreadAsRead = (): ThreadsActions["markAsRead"] =>
  useRoomHandle().threads({}).actions.markAsRead;

/** Your subscription settings of the room, null until they are read, and a function that changes some of them. */
export function useRoomSubscriptionSettings(): [
  atrium.SubscriptionSettings | null,
  SettingsContent["actions"]["update"],
  Loading,
] {
  const [settings, { update }, loading] = useContent(useRoomHandle().settings());
  return [settings, update, loading];
}

/**
 * The versions of a document of the room, newest first: the first 50, and 50 more after each `loadMore`. They are read
 * again after a change by these actions, and by `reload`.
 */
export function useDocumentVersions(name: string): [VersionList & LoadState, VersionActions] {
  return useLoaded(versionsOf(useRoomHandle(), name));
}

/**
 * The suggestions of a document of the room, newest first: those that are pending, and the latest that were reviewed.
 * They follow the room.
 */
export function useSuggestions(document: string): [SuggestionList & LoadState, SuggestionActions] {
  return useLoaded(suggestionsOf(useRoomHandle(), document));
}

/** A suggestion with its parts and its `seq`, read again when its author writes, and once it is reviewed. */
export function useSuggestion({
  id,
  document,
  fork,
}: Pick<Suggestion, "id" | "document" | "fork">): SuggestionReading & Loading {
  const handle = useRoomHandle();
  const { source, state, reload } = useMemo(
    () => openSuggestion(handle, { id, document, fork }),
    [handle, id, document, fork],
  );
  const reading = useSource(source);
  const loading = useSource(state);
  return useMemo(() => ({ ...reading, ...loading, reload }), [reading, loading, reload]);
}

/** A value, and how its reading has gone. */
function useLoaded<Value extends object, Actions>({
  source,
  state,
  actions,
}: Pick<Reloaded<Value>, "source" | "state"> & { readonly actions: Actions }): [Value & LoadState, Actions] {
  const value = useSource(source);
  const { isLoading, error } = useSource(state);
  return [useMemo(() => ({ ...value, isLoading, error }), [value, isLoading, error]), actions];
}

/**
 * The notifications of the nearest `AtriumProvider`'s identity that match, newest first: the first 50, and 50 more after
 * each `loadMore`. They are read again when one changes, here or elsewhere.
 */
export function useInboxNotifications(filter: InboxFilter = {}): [InboxList & LoadState, InboxActions] {
  return useLoaded(inboxOf(useAtrium()).list(filter));
}

/** The number of unread notifications, for a badge; null until it is known. */
export const useUnreadInboxNotificationsCount = (): number | null => useSource(inboxOf(useAtrium()).unread);

/**
 * A function that marks a notification as read, up to a `seq` or to its latest activity. Always the same
 * function.
 */
export const useMarkInboxNotificationAsRead = (): InboxActions["markAsRead"] =>
  inboxOf(useAtrium()).changes.markAsRead;

/** A function that marks all notifications as read. Always the same function. */
export const useMarkAllInboxNotificationsAsRead = (): InboxActions["markAllAsRead"] =>
  inboxOf(useAtrium()).changes.markAllAsRead;

/** A function that deletes a notification, which a later activity shows again. Always the same function. */
export const useDeleteInboxNotification = (): InboxActions["delete"] => inboxOf(useAtrium()).changes.delete;

/** Your settings for notifications that stay unread, null until they are read, and a function that changes some of them. */
export function useNotificationSettings(): [
  NotificationSettings | null,
  SharedInbox["settings"]["actions"]["update"],
  Loading,
] {
  const [settings, { update }, loading] = useContent(inboxOf(useAtrium()).settings);
  return [settings, update, loading];
}
