/** Threads and settings as components read them. */
import type { ThreadFilter } from "@atrium/contract/operations/threads.ts";
import type { AtriumError, SubscriptionSettings, Thread } from "../client/index.ts";
import { defined, type SomeOf } from "../core/json.ts";
import { type Content, contentOf } from "./content-sources.ts";
import {
  ExternalSource,
  type Readiness,
  type Source,
  together,
  type Unsubscribe,
} from "./external-source.ts";
import { type Loadable, Loaded, type Loading } from "./loaded.ts";
import { commentCacheOf, type ThreadList } from "./room-comments.ts";
import type { AnyClient, SharedConnection } from "./shared-connection.ts";

export type { ThreadFilter } from "@atrium/contract/operations/threads.ts";
export type { LoadState } from "./loaded.ts";
export type { ThreadList } from "./room-comments.ts";

interface Reloading<Value> extends Pick<Loadable<Value>, "initial" | "client"> {
  /** Reads the value as it is now. */
  read(): Promise<Value>;
  /** Calls back when the value has to be read again. */
  watch(changed: () => void): Unsubscribe;
}

export interface Reloaded<Value> {
  readonly source: Source<Value>;
  readonly state: Source<Loading>;
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
  { initial, client, read, watch }: Reloading<Value>,
): Reloaded<Value> {
  let value = initial;
  let isKnown = false;
  let isOutdated = false;
  let isReading = false;
  const part: Loaded<Value> = new Loaded<Value>({
    initial,
    client,
    isKnown: () => isKnown,
    isLoaded: () => isKnown && !isOutdated,
    select: () => value,
    canLoad: () => isOutdated,
    load: async () => {
      isOutdated = false;
      isReading = true;
      try {
        const found = await read();
        if (isOutdated) return;
        value = found;
        isKnown = true;
      } catch (error) {
        isOutdated = true;
        throw error;
      } finally {
        isReading = false;
      }
    },
    watch: () => together(watch(reload), connection.whenConnected(reload)),
  });
  const reload = () => {
    isOutdated = true;
    part.start();
  };
  const show = (next: (before: Value) => Value) => {
    value = next(value);
    if (isReading) isOutdated = true; // the service may have answered the reading before the change
    part.update();
  };
  const { source, state } = part;
  const fail = (error: AtriumError) => part.fail(error);
  return {
    source,
    state,
    get loaded() {
      return part.loaded;
    },
    show,
    reload,
    fail,
  };
}

export interface ThreadsActions {
  /** Loads 50 more. */
  loadMore(): void;
  /** Loads the list again, after a failure. The next join does so, too. */
  reload(): void;
  /** Marks a thread as read, up to a `seq` or to its end. Visible at once. */
  markAsRead(threadId: string, seq?: number): Promise<Thread>;
}

export type ThreadsContent = Content<ThreadList, ThreadsActions>;

export function openThreads(client: AnyClient, filter: ThreadFilter): ThreadsContent {
  const { threads } = commentCacheOf(client);
  const list = threads.list(filter);
  return contentOf(list.part, {
    loadMore: () => threads.loadMore(list),
    reload: list.part.reload,
    markAsRead: (threadId, seq) => threads.markAsRead(threadId, seq),
  });
}

export interface ThreadActions {
  /** Notifies you of the thread's comments. */
  subscribe(): Promise<Thread>;
  unsubscribe(): Promise<Thread>;
  /** Visible at once. */
  markAsRead(seq?: number): Promise<Thread>;
}

export type ThreadContent = Content<Thread | null, ThreadActions>;

export function openThread(client: AnyClient, threadId: string): ThreadContent {
  const { threads } = commentCacheOf(client);
  const subscribe = (on: boolean) =>
    threads.expect(
      threadId,
      (thread) => ({ ...thread, subscribed: on }),
      client.comments.subscribe({ threadId, on }),
    );
  return contentOf(threads.thread(threadId), {
    subscribe: () => subscribe(true),
    unsubscribe: () => subscribe(false),
    markAsRead: (seq) => threads.markAsRead(threadId, seq),
  });
}

interface Update<Settings, Changes> {
  /** Visible at once, and rolled back if its promise is rejected. */
  update(changes: Changes): Promise<Settings>;
}

/**
 * Settings that `request` reads, or changes and reads. `changed` predicts them after changes, and `watch`
 * brings changes of other code.
 */
export function changeable<Settings, Changes>(
  connection: Pick<SharedConnection, "whenConnected">,
  request: (changes?: Changes) => Promise<Settings>,
  changed: (settings: Settings, changes: Changes) => Settings,
  watch: (show: (settings: Settings) => void) => Unsubscribe = () => () => {},
  client?: AnyClient,
): Content<Settings | null, Update<Settings, Changes>> {
  const known: Reloaded<Settings | null> = reloaded<Settings | null>(connection, {
    initial: null,
    client,
    read: () => request(),
    watch: () => watch((settings) => known.show(() => settings)),
  });
  const pending = new Set<{ readonly changes: Changes }>();
  /** Whether changes were made at the same time, whose answers may lack one another, or one has failed. */
  let isUncertain = false;
  let pendingChanged = () => {};
  const source = new ExternalSource<Settings | null>(
    (listener) => {
      pendingChanged = listener;
      return known.source.subscribe(listener);
    },
    () => {
      let settings = known.source.read();
      for (const { changes } of pending) settings = settings && changed(settings, changes);
      return settings;
    },
    null,
  );
  const update = async (changes: Changes) => {
    const change = { changes };
    isUncertain ||= pending.size > 0;
    pending.add(change);
    pendingChanged();
    try {
      const settings = await request(changes);
      known.show((before) => (isUncertain ? before && changed(before, changes) : settings));
      return settings;
    } catch (error) {
      isUncertain = true;
      throw error;
    } finally {
      pending.delete(change);
      if (pending.size === 0 && isUncertain) {
        isUncertain = false;
        known.reload();
      }
      pendingChanged();
    }
  };
  const { state } = known;
  return contentOf({ source, state, loaded: known.loaded }, { update });
}

export type SettingsContent = Content<
  SubscriptionSettings | null,
  Update<SubscriptionSettings, SomeOf<SubscriptionSettings>>
>;

export const openSettings = (
  client: AnyClient,
  connection: Pick<SharedConnection, "whenConnected">,
): SettingsContent =>
  changeable<SubscriptionSettings, SomeOf<SubscriptionSettings>>(
    connection,
    (changes) => client.comments.settings(changes),
    (settings, changes) => ({ ...settings, ...defined(changes) }) as SubscriptionSettings,
    (show) => client.comments.on("settings", show),
    client,
  );
