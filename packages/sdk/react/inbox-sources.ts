/** The inbox of an `Atrium` as components read it: connected while one of them does. */

import { patched } from "@atrium/contract/merge-patch.ts";
import type { Atrium } from "../client/index.ts";
import { getOrAdd } from "../core/emitter.ts";
import { assumeType } from "../core/json.ts";
import {
  type Inbox,
  type InboxFilter,
  type InboxNotification,
  type NotificationSettings,
  type NotificationSettingsUpdate,
  openInbox,
} from "../inbox/index.ts";
import type { Content } from "./content-sources.ts";
import { ExternalSource, Readiness, type Source, together, type Unsubscribe } from "./external-source.ts";
import { reportUnlessDisconnected } from "./shared-connection.ts";
import { changeable, type Reloaded, reloaded } from "./thread-sources.ts";

export interface InboxList {
  /** Newest first. */
  readonly notifications: readonly InboxNotification[];
  /** Whether others follow that are not loaded. */
  readonly hasMore: boolean;
}

/** Changes are visible at once, and rolled back if their promise is rejected. */
interface InboxChanges {
  /** Marks a notification as read, up to a `seq` or to its latest activity. Returns how many are unread after it. */
  markAsRead(notificationId: string, upTo?: number): Promise<number>;
  /** Returns how many are unread after it. */
  markAllAsRead(): Promise<number>;
  /** A later activity shows the notification again. */
  delete(notificationId: string): Promise<void>;
  deleteAll(): Promise<void>;
}

export interface InboxActions extends InboxChanges {
  /** Loads 50 more. */
  loadMore(): void;
  /** Reads the list again, after a failure. */
  reload(): void;
}

interface OpenList extends Reloaded<InboxList> {
  readonly actions: InboxActions;
}

type Change = (notification: InboxNotification) => InboxNotification | null;

const PAGE = 50;
const READ_AT_ONCE = 100;
/** Connection of resources that have none. */
const WITHOUT_CONNECTION = {
  whenConnected(action: () => void): Unsubscribe {
    action();
    return () => {};
  },
};

const asRead = (notification: InboxNotification, upTo = notification.seq): InboxNotification =>
  upTo < notification.seq ? notification : { ...notification, read_seq: notification.seq, unread: false };

const ofOne =
  (id: string, change: Change): Change =>
  (notification) =>
    notification.id === id ? change(notification) : notification;

const withChange = (list: InboxList, change: Change): InboxList => ({
  ...list,
  notifications: list.notifications.flatMap((notification) => change(notification) ?? []),
});

export class SharedInbox {
  /** Null until the inbox has connected. */
  readonly unread: Source<number | null>;
  /** Whether `unread` is known. */
  readonly counted: Readiness;
  readonly changes: InboxChanges;
  readonly settings: ReturnType<typeof changeable<NotificationSettings, NotificationSettingsUpdate>>;
  readonly #inbox: Inbox;
  /** Lists by their filters as JSON. */
  readonly #lists = new Map<string, OpenList>();
  /** The unread count expected after a change; null when the inbox knows best. */
  #expected: number | null = null;
  #expectationChanged = () => {};
  #users = 0;

  constructor(atrium: Atrium) {
    const inbox = openInbox(atrium);
    this.#inbox = inbox;
    inbox.on("updated", () => this.#expect(null));
    this.unread = new ExternalSource<number | null>(
      (changed) => {
        this.#expectationChanged = changed;
        return this.#retain();
      },
      () => this.#expected ?? inbox.unread,
      null,
    );
    this.settings = changeable<NotificationSettings, NotificationSettingsUpdate>(
      WITHOUT_CONNECTION,
      (changes) => (changes === undefined ? inbox.getSettings() : inbox.updateSettings(changes)),
      (settings, changes) => assumeType(patched(settings, changes)),
    );
    this.changes = {
      markAsRead: (notificationId, upTo) => {
        const change = ofOne(notificationId, (notification) => asRead(notification, upTo));
        return this.#make(change, this.#unreadAfter(change), () =>
          inbox.markAsRead({ notificationId, upTo }),
        );
      },
      markAllAsRead: () =>
        this.#make(
          (notification) => asRead(notification),
          0,
          () => inbox.markAllAsRead(),
        ),
      delete: (notificationId) => {
        const change = ofOne(notificationId, () => null);
        return this.#make(change, this.#unreadAfter(change), () => inbox.delete({ notificationId }));
      },
      deleteAll: () =>
        this.#make(
          () => null,
          0,
          () => inbox.deleteAll(),
        ),
    };
    this.counted = new Readiness(() => ({
      release: this.unread.subscribe(() => {}),
      done: inbox.connect(),
    }));
  }

  /** The notifications that match, as they are loaded. */
  list(filter: InboxFilter): Content<InboxList, InboxActions> & Pick<OpenList, "state"> {
    return getOrAdd(this.#lists, JSON.stringify(filter), () => this.#open(filter));
  }

  #open(filter: InboxFilter): OpenList {
    let wanted = PAGE;
    const read = async (): Promise<InboxList> => {
      const notifications: InboxNotification[] = [];
      for (let after: string | undefined; ; ) {
        const limit = Math.min(READ_AT_ONCE, wanted - notifications.length);
        const { cursor, ...page } = await this.#inbox.list({ ...filter, after, limit });
        notifications.push(...page.notifications);
        if (cursor === null || notifications.length >= wanted)
          return { notifications, hasMore: cursor !== null };
        after = cursor;
      }
    };
    /** The first join updates the inbox, and with it the list. */
    const whenConnected = (action: () => void): Unsubscribe => {
      if (this.#inbox.socket.state === "connected") action();
      return together(
        this.#inbox.socket.on("reconnected", action),
        this.#inbox.socket.on("failed", ({ error }) => list.fail(error)),
        this.#retain(),
      );
    };
    const list = reloaded<InboxList>(
      { whenConnected },
      {
        initial: { notifications: [], hasMore: false },
        read,
        watch: (changed) => this.#inbox.on("updated", changed),
      },
    );
    const loadMore = () => {
      wanted += PAGE;
      list.reload();
    };
    const reload = () => {
      if (this.#inbox.socket.state === "closed") this.#connect();
      list.reload();
    };
    return { ...list, actions: { ...this.changes, loadMore, reload } };
  }

  #connect(): void {
    this.#inbox.connect().catch(reportUnlessDisconnected);
  }

  /** Connects the inbox. The last of the returned functions disconnects it. */
  #retain(): Unsubscribe {
    this.#users += 1;
    if (this.#users === 1) this.#connect();
    return () => {
      this.#users -= 1;
      // Asynchronously, because StrictMode releases and retains again at once.
      queueMicrotask(() => {
        if (this.#users === 0) this.#inbox.disconnect();
      });
    };
  }

  #expect(unread: number | null): void {
    this.#expected = unread;
    this.#expectationChanged();
  }

  get #known(): InboxNotification[] {
    return [...this.#lists.values()].flatMap(({ source }) => source.read().notifications);
  }

  /** The unread count after a change of one notification, if a list has it. */
  #unreadAfter(change: Change): number | null {
    const before = this.unread.read();
    const known = this.#known;
    const isRead = known.some((notification) => notification.unread && !change(notification)?.unread);
    return before === null || !isRead ? this.#expected : Math.max(0, before - 1);
  }

  /** Shows a change at once, and the service's state if it fails. */
  async #make<Result>(change: Change, unread: number | null, made: () => Promise<Result>): Promise<Result> {
    this.#expect(unread);
    this.#show(change);
    try {
      return await made();
    } catch (error) {
      this.#takeBack();
      throw error;
    }
  }

  #show(change: Change): void {
    for (const { show } of this.#lists.values()) show((list) => withChange(list, change));
  }

  /** Shows the service's state. */
  #takeBack(): void {
    this.#expect(null);
    for (const { reload } of this.#lists.values()) reload();
  }
}

const inboxes = new WeakMap<Atrium, SharedInbox>();

/** All components below providers of an `Atrium` share its inbox. */
export const inboxOf = (atrium: Atrium): SharedInbox =>
  getOrAdd(inboxes, atrium, () => new SharedInbox(atrium));
