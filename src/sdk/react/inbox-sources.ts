/** The inbox of an `Atrium` as components read it: connected while one of them does. */

import { patched } from "../../wire/merge-patch.ts";
import type { Atrium } from "../client/index.ts";
import { getOrAdd } from "../core/emitter.ts";
import { assumeType } from "../core/json.ts";
import { Deferred } from "../core/runtime.ts";
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

/** A change that is visible at once, and sent after 6 seconds, or when the page is left. */
export interface UndoableChange {
  /** Resolves when it was made or undone. Rejected and rolled back if it is refused. */
  readonly done: Promise<unknown>;
  /** Takes it back. False once it is being sent. */
  undo(): boolean;
}

export interface InboxActions extends InboxChanges {
  /** Changes that can be undone for 6 seconds. A further activity undoes a deletion as well. */
  readonly undoable: {
    markAsRead(notificationId: string): UndoableChange;
    delete(notificationId: string): UndoableChange;
  };
  /** Loads 50 more. */
  loadMore(): void;
  /** Reads the list again, after a failure. */
  reload(): void;
}

interface OpenList extends Reloaded<InboxList> {
  readonly actions: InboxActions;
}

type Change = (notification: InboxNotification) => InboxNotification | null;

const UNDO_MS = 6_000;
const PAGE = 50;
const READ_AT_ONCE = 100;
/** Of what is read over REST alone. */
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
  readonly undoable: InboxActions["undoable"];
  readonly settings: ReturnType<typeof changeable<NotificationSettings, NotificationSettingsUpdate>>;
  readonly #inbox: Inbox;
  /** By their filters as JSON. */
  readonly #lists = new Map<string, OpenList>();
  /** Changes that can be undone, each with the unread notifications that it takes. */
  readonly #held = new Map<Change, number>();
  /** How many are unread once a change has been made; null when the inbox knows best. */
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
      () => this.#expected ?? this.#withoutHeld(inbox.unread),
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
    this.undoable = {
      markAsRead: (notificationId) => {
        const upTo = this.#known.find(({ id }) => id === notificationId)?.seq;
        const change = ofOne(notificationId, (notification) => asRead(notification, upTo));
        return this.#hold(notificationId, change, () => inbox.markAsRead({ notificationId, upTo }));
      },
      delete: (notificationId) => {
        const change = ofOne(notificationId, () => null);
        return this.#hold(notificationId, change, () => inbox.delete({ notificationId }));
      },
    };
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
        if (cursor === null || notifications.length >= wanted) {
          const list = { notifications, hasMore: cursor !== null };
          return [...this.#held.keys()].reduce(withChange, list);
        }
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
    return { ...list, actions: { ...this.changes, undoable: this.undoable, loadMore, reload } };
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

  #withoutHeld(unread: number | null): number | null {
    const held = [...this.#held.values()].reduce((sum, taken) => sum + taken, 0);
    return unread === null ? null : Math.max(0, unread - held);
  }

  get #known(): InboxNotification[] {
    return [...this.#lists.values()].flatMap(({ source }) => source.read().notifications);
  }

  /** How many are unread after a change of one notification, if a list has it. */
  #unreadAfter(change: Change): number | null {
    const before = this.unread.read();
    const known = this.#known;
    const isRead = known.some((notification) => notification.unread && !change(notification)?.unread);
    return before === null || !isRead ? this.#expected : Math.max(0, before - 1);
  }

  /** Shows a change at once, and what holds if it fails. */
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

  /** Shows what the service has. */
  #takeBack(): void {
    this.#expect(null);
    for (const { reload } of this.#lists.values()) reload();
  }

  /** Shows a change of one notification at once, and makes it when it cannot be undone any more. */
  #hold(id: string, change: Change, made: () => Promise<unknown>): UndoableChange {
    const isUnread = this.#known.some((known) => known.id === id && known.unread);
    this.#held.set(change, Number(isUnread));
    this.#expect(null);
    this.#show(change);
    const { promise: done, resolve } = new Deferred<unknown>();
    const end = (): boolean => {
      clearTimeout(timer);
      unlisten();
      globalThis.removeEventListener?.("pagehide", commit);
      return this.#held.delete(change);
    };
    const undo = (): boolean => {
      const isHeld = end();
      if (isHeld) this.#takeBack();
      resolve(null);
      return isHeld;
    };
    const commit = () => {
      const unread = this.unread.read();
      if (end()) resolve(this.#make(change, unread, made));
    };
    const unlisten = this.#inbox.on("notification", (notification) => {
      if (notification.id === id && change(notification) === null) undo();
    });
    const timer = setTimeout(commit, UNDO_MS);
    globalThis.addEventListener?.("pagehide", commit);
    return { done, undo };
  }
}

const inboxes = new WeakMap<Atrium, SharedInbox>();

/** All components below providers of an `Atrium` share its inbox. */
export const inboxOf = (atrium: Atrium): SharedInbox =>
  getOrAdd(inboxes, atrium, () => new SharedInbox(atrium));
