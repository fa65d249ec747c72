/** A page that uses every hook and exposes their results in `window.hooks` for a test to read and call. */

import { AtriumClient, type AuthToken, defineStores } from "atrium/client";
import { useDocument } from "atrium/documents/react";
import {
  type AnyClient,
  AtriumProvider,
  RoomProvider,
  type RoomProviderProps,
  useBroadcast,
  useCanRedo,
  useCanUndo,
  useComments,
  useConnection,
  useDeleteInboxNotification,
  useErrorListener,
  useHasUnsyncedChanges,
  useInboxNotifications,
  useMarkAllInboxNotificationsAsRead,
  useMarkInboxNotificationAsRead,
  useMarkThreadAsRead,
  useMyPresence,
  useNotificationSettings,
  useOthers,
  useRedo,
  useRoom,
  useRoomPermissions,
  useRoomSubscriptionSettings,
  useSelf,
  useStore,
  useStoreActions,
  useThreadSubscription,
  useThreads,
  useUndo,
  useUnreadInboxNotificationsCount,
} from "atrium/react";
import { Component, type ReactNode, StrictMode, useEffect, useRef, useState, version } from "react";
import { createRoot, type Root } from "react-dom/client";
import { type GroupResolver, useGroupInfo } from "../../../../packages/sdk/react-ui/resolve.ts";

interface Task {
  readonly title: string;
  readonly done?: boolean;
}

import {
  ClientSideSuspense,
  useInboxNotifications as useNotificationsNow,
  useUnreadInboxNotificationsCount as useUnreadNow,
} from "atrium/react/suspense";

const STORES = defineStores({
  tasks: { title: { type: "string", required: true }, done: { type: "boolean", default: false } },
});

function useEverything() {
  const renders = useRef(0);
  renders.current += 1;
  const [label, setLabel] = useState("first");
  const heard = useRef<string[]>([]);
  const threads = useThreads();
  const broadcast = useBroadcast("call", (data, from) => {
    heard.current.push(`${label}: ${JSON.stringify(data)} from ${from}`);
  });
  useEffect(() => {
    window.stage.label = label;
  }, [label]);
  useErrorListener(({ code }) => window.stage.errors.push(code));
  return {
    renders: renders.current,
    heard: heard.current,
    setLabel,
    broadcast,
    connection: useConnection(),
    room: useRoom(),
    isUnsynced: useHasUnsyncedChanges(),
    undo: useUndo(),
    redo: useRedo(),
    canUndo: useCanUndo(),
    canRedo: useCanRedo(),
    self: useSelf(),
    others: useOthers(),
    presence: useMyPresence<{ x: number; y: number }>(),
    tasks: useStore<Task>("tasks"),
    comments: useComments(),
    threads,
    unread: useThreads({ unread: true })[0],
    thread: useThreadSubscription(threads[0].threads[0]?.id ?? "none"),
    markAsRead: useMarkThreadAsRead(),
    settings: useRoomSubscriptionSettings(),
    notes: useDocument("notes"),
  };
}

type Hooks = ReturnType<typeof useEverything>;

const useInbox = () => ({
  unread: useUnreadInboxNotificationsCount(),
  all: useInboxNotifications(),
  invoices: useInboxNotifications({ kind: "$invoice" }),
  markAsRead: useMarkInboxNotificationAsRead(),
  markAllAsRead: useMarkAllInboxNotificationsAsRead(),
  remove: useDeleteInboxNotification(),
  settings: useNotificationSettings(),
});

function Inbox() {
  window.stage.inbox = useInbox();
  return null;
}

const resolveGroup: GroupResolver = async (id) => {
  window.stage.resolved += 1;
  if (window.stage.resolved === 1) throw new Error("not now");
  return { name: `Group ${id}` };
};

function Group() {
  return <b>{useGroupInfo("a", resolveGroup)?.name ?? "unknown"}</b>;
}

function WaitingInbox() {
  window.stage.waited.push([useUnreadNow(), useNotificationsNow()[0].notifications.length]);
  return null;
}

/**
 * A provider with the page's own client, or with a new one; `writing` has the own client, and only a component that
 * writes in its first effect. With `asked`, it gets a function, another one after each
 * `mount`, which notes this word and returns the token; null in place of an empty one.
 */
export type Provided =
  | "given"
  | "writing"
  | {
      readonly token: string;
      readonly role?: "viewer";
      readonly asked?: string;
      readonly warns?: true;
      readonly initial?: { readonly x: number; readonly y: number };
      /** Without any hook below it. */
      readonly isBare?: true;
    };

export interface Stage {
  /** The version of React. */
  readonly version: string;
  /** Those of the latest render; none once all providers are unmounted. */
  hooks: Hooks;
  /** The results of the hooks below the provider of `mountRooms`. */
  inbox: ReturnType<typeof useInbox>;
  /** The unread and the loaded notifications of each render that waited for them. */
  readonly waited: (number | null)[][];
  /** How the writes in first effects have ended. */
  readonly written: string[];
  /** The codes of the errors that the listener of the hook has received. */
  readonly errors: string[];
  /** The label of the latest render whose effects have run. */
  label: string;
  /** The clients of all providers that were ever rendered. */
  readonly clients: Set<AnyClient>;
  /** The `asked` of each function that was asked for a token. */
  readonly asked: string[];
  /** The page's own client, to pass to a provider. */
  client: AtriumClient<typeof STORES>;
  /** Renders these providers side by side, and unmounts the previous ones. */
  mount(providers: readonly Provided[]): void;
  unmount(): void;
  /**
   * Renders the inbox of an identity, and a button for each room, which is enabled while the room's store may be written. The
   * provider gets a function that returns the token, or its text.
   */
  mountRooms(token: string, roomIds: readonly string[], isText?: boolean): void;
  /** Renders a group in place of the one before. */
  mountGroup(key: string): void;
  /** How often the resolver of groups was asked. */
  resolved: number;
  makeClient(token: string): void;
  /** The error of a hook outside any provider. */
  errorOutside(): Promise<string>;
}

declare global {
  interface Window {
    stage: Stage;
  }
}

/** An error boundary, because React 18 reports uncaught errors to the console only. */
class ReportingBoundary extends Component<{
  readonly caught: (error: string) => void;
  readonly children: ReactNode;
}> {
  override state = { hasFailed: false };
  static getDerivedStateFromError = () => ({ hasFailed: true });
  override componentDidCatch = (error: unknown) => this.props.caught(String(error));
  override render = () => (this.state.hasFailed ? null : this.props.children);
}

function Everything() {
  window.stage.hooks = useEverything();
  window.stage.clients.add(window.stage.hooks.room.client);
  return null;
}

function Save({ roomId }: { readonly roomId: string }) {
  const { canWrite, permissions } = useRoomPermissions();
  const self = useSelf();
  const [tasks, { set }] = useStore<Task>("tasks");
  return (
    <button
      type="button"
      id={`room-${roomId}`}
      disabled={!canWrite("stores")}
      title={self?.permissions === permissions ? `${self.user.name}, ${self.role}` : ""}
      onClick={() => set("a", { title: "Saved" })}
    >
      {tasks.a?.title ?? "Save"}
    </button>
  );
}

function Writing() {
  const { set } = useStoreActions<Task>("tasks");
  useEffect(() => {
    const note = (outcome: string) => window.stage.written.push(outcome);
    set("early", { title: "Written in an effect" }).then(
      () => note("stored"),
      ({ code }) => note(code),
    );
  }, [set]);
  return null;
}

function contentOf(provider: Provided): ReactNode {
  if (provider === "writing") return <Writing />;
  return provider !== "given" && provider.isBare ? null : <Everything />;
}

let root: Root | null = null;
const serverUrl = location.origin;

type Functions = Map<string, () => string | null>;

const propsOf = (provider: Provided, functions: Functions): RoomProviderProps =>
  typeof provider === "string"
    ? { client: window.stage.client }
    : {
        ...{ serverUrl, authToken: authTokenOf(provider, functions), role: provider.role, stores: STORES },
        warnBeforeUnload: provider.warns,
        initialPresence: provider.initial,
      };

const noted = (asked: string, token: string) => () => {
  window.stage.asked.push(asked);
  return token || null;
};

function authTokenOf({ token, asked }: Exclude<Provided, string>, functions: Functions): AuthToken {
  if (asked === undefined) return token;
  const ask = functions.get(asked) ?? noted(asked, token);
  functions.set(asked, ask);
  return ask;
}

window.stage = {
  // Set by the first render and by makeClient.
  ...({} as Pick<Stage, "hooks" | "inbox" | "client">),
  version,
  label: "",
  clients: new Set(),
  asked: [],
  errors: [],
  waited: [],
  written: [],
  makeClient(token) {
    window.stage.client = new AtriumClient({ serverUrl, authToken: token, stores: STORES });
  },
  mount(providers) {
    const functions: Functions = new Map();
    root ??= createRoot(document.body.appendChild(document.createElement("div")));
    root.render(
      <StrictMode>
        {providers.map((provider, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same place is the same provider
          <RoomProvider key={index} {...propsOf(provider, functions)}>
            {contentOf(provider)}
          </RoomProvider>
        ))}
      </StrictMode>,
    );
  },
  mountRooms(token, roomIds, isText = false) {
    root ??= createRoot(document.body.appendChild(document.createElement("div")));
    root.render(
      <StrictMode>
        <AtriumProvider serverUrl={serverUrl} authToken={isText ? token : () => token}>
          <Inbox />
          <ClientSideSuspense fallback={null}>
            <WaitingInbox />
          </ClientSideSuspense>
          {roomIds.map((roomId, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same place is the same provider
            <RoomProvider key={index} roomId={roomId}>
              <Save roomId={roomId} />
            </RoomProvider>
          ))}
        </AtriumProvider>
      </StrictMode>,
    );
  },
  resolved: 0,
  mountGroup(key) {
    root ??= createRoot(document.body.appendChild(document.createElement("div")));
    root.render(<Group key={key} />);
  },
  unmount() {
    root?.unmount();
    root = null;
    Object.assign(window.stage, { hooks: undefined });
  },
  errorOutside: () =>
    new Promise((resolve) => {
      createRoot(document.createElement("div")).render(
        <ReportingBoundary caught={resolve}>
          <Everything />
        </ReportingBoundary>,
      );
    }),
};
