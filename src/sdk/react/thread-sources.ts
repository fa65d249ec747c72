/** Threads and subscription settings as components read them: read again when a comment changes them. */
import {
  AtriumError,
  type Comment,
  type SubscriptionSettings,
  type Thread,
  type ThreadPlace,
} from "../client/index.ts";
import { defined, type SomeOf } from "../core/json.ts";
import { DEFAULT_RUNTIME, Waiters } from "../core/runtime.ts";
import type { Content } from "./content-sources.ts";
import { ExternalSource, Readiness, type Source, together, type Unsubscribe } from "./external-source.ts";
import {
  type AnyClient,
  isNotFound,
  reportUnlessDisconnected,
  type SharedConnection,
} from "./shared-connection.ts";

interface Reloading<Value> {
  readonly initial: Value;
  /** Reads the value as it is now. */
  read(): Promise<Value>;
  /** Calls back when the value has to be read again. */
  watch(changed: () => void): Unsubscribe;
}

/** How the latest reading has gone. */
export interface LoadState {
  /** Whether nothing was read yet, and it has not failed. */
  readonly isLoading: boolean;
  /** Why the latest reading has failed; null once one succeeds. */
  readonly error: AtriumError | null;
}

export interface Reloaded<Value> {
  readonly source: Source<Value>;
  readonly state: Source<LoadState>;
  readonly loaded: Readiness;
  /** Shows a value until the next one is read. */
  show(value: (before: Value) => Value): void;
  /** Reads the value again, once more if it was asked for during a reading. */
  reload(): void;
  /** The value cannot be read. */
  fail(error: AtriumError): void;
}

export function reloaded<Value>(
  connection: Pick<SharedConnection, "whenConnected">,
  { initial, read, watch }: Reloading<Value>,
): Reloaded<Value> {
  let value = initial;
  let changed: (() => void) | null = null;
  let isReading = false;
  let isOutdated = false;
  let state: LoadState = { isLoading: true, error: null };
  let stateChanged = () => {};
  const waiters = new Waiters(DEFAULT_RUNTIME);
  const setState = (error: AtriumError | null) => {
    state = { isLoading: false, error };
    stateChanged();
  };
  const fail = (error: AtriumError) => {
    setState(error);
    waiters.reject(error);
  };
  const start = async (): Promise<void> => {
    isOutdated = true;
    if (isReading) return;
    isReading = true;
    try {
      while (isOutdated && changed !== null) {
        isOutdated = false;
        const found = await read();
        if (isOutdated) continue;
        value = found;
        changed?.();
        setState(null);
        loaded.set(true);
        waiters.resolve();
      }
    } catch (error) {
      reportUnlessDisconnected(error);
      if (error instanceof AtriumError && error.code !== "DISCONNECTED") fail(error);
      else waiters.reject(error);
    } finally {
      isReading = false;
    }
  };
  const reload = () => void start();
  const source = new ExternalSource<Value>(
    (listener) => {
      changed = listener;
      return together(watch(reload), connection.whenConnected(reload), () => {
        changed = null;
      });
    },
    () => value,
    initial,
  );
  const states = new ExternalSource<LoadState>(
    (listener) => {
      stateChanged = listener;
      return () => {};
    },
    () => state,
    state,
  );
  const loaded = new Readiness(() => ({ done: waiters.wait(), release: source.subscribe(() => {}) }));
  const show = (next: (before: Value) => Value) => {
    value = next(value);
    if (isReading) isOutdated = true; // the service may have answered the reading before the change
    changed?.();
  };
  return { source, state: states, loaded, show, reload, fail };
}

/** Calls back with the thread of each comment that changes. */
function watchComments({ comments }: AnyClient, changed: (threadId: string) => void): Unsubscribe {
  const ofComment = ({ thread_id }: Comment) => changed(thread_id);
  return together(
    comments.on("created", ofComment),
    comments.on("updated", ofComment),
    comments.on("deleted", ofComment),
  );
}

export interface ThreadFilter {
  readonly resolved?: boolean | undefined;
  /** Threads with comments that you have not read. */
  readonly unread?: boolean | undefined;
  /** Threads of which you are notified. */
  readonly subscribed?: boolean | undefined;
}

export interface ThreadList {
  /** The latest comment first. */
  readonly threads: readonly Thread[];
  /** All that match, also those that are not loaded. */
  readonly total: number;
}

export interface ThreadsActions {
  /** Loads 50 more. */
  loadMore(): void;
  /** Marks a thread as read, up to a `seq` or to its end. Visible at once. */
  markAsRead(threadId: string, seq?: number): Promise<Thread>;
}

export type ThreadsContent = Content<ThreadList, ThreadsActions>;

const PAGE = 50;
const READ_AT_ONCE = 100;

const asRead = (thread: Thread, seq = thread.last_seq): Thread =>
  seq < thread.last_seq ? thread : { ...thread, read_seq: thread.last_seq, unread_count: 0 };

const withThread = (list: ThreadList, id: string, change: (thread: Thread) => Thread): ThreadList => ({
  ...list,
  threads: list.threads.map((thread) => (thread.id === id ? change(thread) : thread)),
});

export function openThreads(
  client: AnyClient,
  connection: SharedConnection,
  filter: ThreadFilter,
): ThreadsContent {
  const { comments } = client;
  let wanted = PAGE;
  const read = async (): Promise<ThreadList> => {
    const threads: Thread[] = [];
    for (let after: ThreadPlace | undefined; ; ) {
      const limit = Math.min(READ_AT_ONCE, wanted - threads.length);
      const page = await comments.threads({ ...filter, after, limit });
      threads.push(...page.threads);
      if (page.next === null || threads.length >= wanted) return { threads, total: page.total };
      after = page.next;
    }
  };
  const { source, loaded, show, reload } = reloaded<ThreadList>(connection, {
    initial: { threads: [], total: 0 },
    read,
    watch: (changed) =>
      together(
        watchComments(client, changed),
        comments.on("thread", (thread) => {
          show((list) => withThread(list, thread.id, () => thread));
          if (filter.unread !== undefined || filter.subscribed !== undefined) changed();
        }),
      ),
  });
  const actions: ThreadsActions = {
    loadMore: () => {
      wanted += PAGE;
      reload();
    },
    markAsRead: async (threadId, seq) => {
      show((list) => withThread(list, threadId, (thread) => asRead(thread, seq)));
      return comments.markAsRead({ threadId, seq }).catch((error: unknown) => {
        reload();
        throw error;
      });
    },
  };
  return { source, loaded, actions };
}

export interface ThreadActions {
  /** Notifies you of the thread's comments. */
  subscribe(): Promise<Thread>;
  unsubscribe(): Promise<Thread>;
  /** Visible at once. */
  markAsRead(seq?: number): Promise<Thread>;
}

export type ThreadContent = Content<Thread | null, ThreadActions>;

export function openThread(client: AnyClient, connection: SharedConnection, threadId: string): ThreadContent {
  const { comments } = client;
  const { source, loaded, show, reload } = reloaded<Thread | null>(connection, {
    initial: null,
    read: () =>
      comments.thread({ threadId }).catch((error: unknown) => {
        if (isNotFound(error)) return null;
        throw error;
      }),
    watch: (changed) =>
      together(
        watchComments(client, (id) => {
          if (id === threadId) changed();
        }),
        comments.on("thread", (thread) => {
          if (thread.id === threadId) show(() => thread);
        }),
      ),
  });
  /** Shows a change at once, and what holds if it fails. */
  const change = (shown: Partial<Thread>, made: Promise<Thread>): Promise<Thread> => {
    show((thread) => thread && { ...thread, ...shown });
    return made.catch((error: unknown) => {
      reload();
      throw error;
    });
  };
  const actions: ThreadActions = {
    subscribe: () => change({ subscribed: true }, comments.subscribe({ threadId })),
    unsubscribe: () => change({ subscribed: false }, comments.subscribe({ threadId, on: false })),
    markAsRead: (seq) => {
      show((thread) => thread && asRead(thread, seq));
      return change({}, comments.markAsRead({ threadId, seq }));
    },
  };
  return { source, loaded, actions };
}

interface Update<Settings, Changes> {
  /** Visible at once, and rolled back if its promise is rejected. */
  update(changes: Changes): Promise<Settings>;
}

/** Settings that `request` reads, or changes and reads. `changed` is what they are expected to be after changes. */
export function changeable<Settings, Changes>(
  connection: Pick<SharedConnection, "whenConnected">,
  request: (changes?: Changes) => Promise<Settings>,
  changed: (settings: Settings, changes: Changes) => Settings,
): Content<Settings | null, Update<Settings, Changes>> {
  const { source, loaded, show, reload } = reloaded<Settings | null>(connection, {
    initial: null,
    read: () => request(),
    watch: () => () => {},
  });
  const update = async (changes: Changes) => {
    show((settings) => settings && changed(settings, changes));
    try {
      const settings = await request(changes);
      show(() => settings);
      return settings;
    } catch (error) {
      reload();
      throw error;
    }
  };
  return { source, loaded, actions: { update } };
}

export type SettingsContent = Content<
  SubscriptionSettings | null,
  Update<SubscriptionSettings, SomeOf<SubscriptionSettings>>
>;

export const openSettings = ({ comments }: AnyClient, connection: SharedConnection): SettingsContent =>
  changeable<SubscriptionSettings, SomeOf<SubscriptionSettings>>(
    connection,
    (changes) => comments.settings(changes),
    (settings, changes) => ({ ...settings, ...defined(changes) }) as SubscriptionSettings,
  );
