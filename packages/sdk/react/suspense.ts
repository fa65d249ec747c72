/** `atrium/react/suspense`: the hooks of `atrium/react` for components that suspend until the room is there. */
"use client";
import { createElement, type ReactNode, Suspense, useSyncExternalStore } from "react";
import type { Role, Room } from "../client/index.ts";
import { invalid } from "../core/error.ts";
import { assumeType } from "../core/json.ts";
import type { InboxFilter } from "../inbox/index.ts";
import type { Equality, Readiness } from "./external-source.ts";
import {
  type Typed,
  useComments as useCommentsNow,
  useInboxNotifications as useInboxNotificationsNow,
  useOther as useOtherNow,
  useOthers as useOthersNow,
  useRoom as useRoomNow,
  useRoomPermissions as useRoomPermissionsNow,
  useRoomSubscriptionSettings as useRoomSubscriptionSettingsNow,
  useSelf as useSelfNow,
  useStore as useStoreNow,
  useThreadSubscription as useThreadSubscriptionNow,
  useThreads as useThreadsNow,
  useUnreadInboxNotificationsCount as useUnreadInboxNotificationsCountNow,
} from "./hooks.ts";
import { inboxOf, type SharedInbox } from "./inbox-sources.ts";
import { useAtrium } from "./provider.ts";
import { type RoomHandle, type Self, useRoomHandle } from "./room-handle.ts";
import type { ThreadFilter } from "./thread-sources.ts";

// The hooks below take the place of the hooks of the same names.
export * from "./index.ts";

const never = () => () => {};
const yes = () => true;
const no = () => false;

function refuse(): never {
  throw invalid(
    "Client",
    "A component that waits for its room renders in browsers only: wrap it in <ClientSideSuspense>",
  );
}

/** Suspends until the room is joined, and throws the error of a failed join. */
function useJoinedRoom(): RoomHandle {
  const handle = useRoomHandle();
  // React renders the fallback of the nearest boundary on the server.
  useSyncExternalStore(never, yes, refuse);
  handle.connection.joined.require();
  return handle;
}

export interface ClientSideSuspenseProps {
  readonly fallback: ReactNode;
  readonly children?: ReactNode;
}

/** `Suspense` for components that render in browsers only: the server renders the fallback. */
export function ClientSideSuspense({ fallback, children }: ClientSideSuspenseProps): ReactNode {
  const isInBrowser = useSyncExternalStore(never, yes, no);
  // React 18 would report an update of a boundary before its hydration.
  return isInBrowser ? createElement(Suspense, { fallback }, children) : fallback;
}

/** The room, your role in it, and the client, for everything without a hook. */
export interface JoinedRoom {
  readonly client: Typed<unknown>["client"];
  readonly room: Room;
  readonly role: Role;
}

interface UseSelf {
  (): Self;
  <Selected>(select: (self: Self) => Selected, isEqual?: Equality<Selected>): Selected;
}

/** The hook, for a component that waits for its room and for `loaded`. `Waiting` is its type without the values before. */
function waiting<Waiting, First = string | undefined>(
  useNow: (...args: never[]) => unknown,
  loaded: (handle: RoomHandle, first: First) => Readiness | null = () => null,
): Waiting {
  const useWhenLoaded = (...args: never[]): unknown => {
    loaded(useJoinedRoom(), assumeType(args[0]))?.require();
    return useNow(...args);
  };
  return useWhenLoaded as Waiting;
}

export const useSelf = /* @__PURE__ */ waiting<UseSelf>(useSelfNow);
export const useOthers = /* @__PURE__ */ waiting<typeof useOthersNow>(useOthersNow);
export const useOther = /* @__PURE__ */ waiting<typeof useOtherNow>(useOtherNow);
export const useRoom = /* @__PURE__ */ waiting<() => JoinedRoom>(useRoomNow);
export const useRoomPermissions =
  /* @__PURE__ */ waiting<typeof useRoomPermissionsNow>(useRoomPermissionsNow);
export const useStore = /* @__PURE__ */ waiting<typeof useStoreNow>(
  useStoreNow,
  (handle, name = "") => handle.store(name).loaded,
);
export const useComments = /* @__PURE__ */ waiting<typeof useCommentsNow>(
  useCommentsNow,
  (handle, threadId) => handle.comments(threadId).loaded,
);

export const useThreads = /* @__PURE__ */ waiting<typeof useThreadsNow, ThreadFilter | undefined>(
  useThreadsNow,
  (handle, filter) => handle.threads(filter ?? {}).loaded,
);
export const useThreadSubscription = /* @__PURE__ */ waiting<typeof useThreadSubscriptionNow>(
  useThreadSubscriptionNow,
  (handle, threadId = "") => handle.thread(threadId).loaded,
);

/** The hook, for a component that waits for data of the inbox. */
function waitingForInbox<Waiting>(
  useNow: (...args: never[]) => unknown,
  loaded: (inbox: SharedInbox, filter: InboxFilter) => Readiness,
): Waiting {
  const useWhenLoaded = (...args: never[]): unknown => {
    const inbox = inboxOf(useAtrium());
    useSyncExternalStore(never, yes, refuse);
    loaded(inbox, args[0] ?? {}).require();
    return useNow(...args);
  };
  return useWhenLoaded as Waiting;
}

export const useInboxNotifications = /* @__PURE__ */ waitingForInbox<typeof useInboxNotificationsNow>(
  useInboxNotificationsNow,
  (inbox, filter) => inbox.list(filter).loaded,
);
export const useUnreadInboxNotificationsCount = /* @__PURE__ */ waitingForInbox<() => number>(
  useUnreadInboxNotificationsCountNow,
  (inbox) => inbox.counted,
);

type Settings = ReturnType<typeof useRoomSubscriptionSettingsNow>;

export const useRoomSubscriptionSettings = /* @__PURE__ */ waiting<
  () => [NonNullable<Settings[0]>, Settings[1], Settings[2]]
>(useRoomSubscriptionSettingsNow, (handle) => handle.settings().loaded);
