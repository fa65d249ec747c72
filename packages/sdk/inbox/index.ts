/** `atrium/inbox`: the notifications of an identity, live. */
import { Atrium, type AtriumOptions } from "../client/atrium.ts";
import type { ClientSocket } from "../client/client.ts";
import { Connection, type Joinable } from "../client/connection/connection.ts";
import type { Data, Joined } from "../client/connection/frames.ts";
import { restOf } from "../client/connection/rest-of.ts";
import { socketBase, Tokens } from "../client/connection/token.ts";
import { linked, pause } from "../core/aborting.ts";
import { Emitter } from "../core/emitter.ts";
import { AtriumError } from "../core/error.ts";
import { assumeType, isRecord } from "../core/json.ts";
import type { Rest } from "../core/rest.ts";
import { abortable, Deferred } from "../core/runtime.ts";
import type { InboxSearch } from "../server/generated.ts";
import type { NotificationSettingsUpdate } from "../wire/requests.ts";
import type { InboxNotification, MentionPage, NotificationSettings } from "../wire/resources.ts";
import { askForPermission, closeShown, subscribe, unsubscribe } from "./push.ts";

export type { NotificationSettingsUpdate } from "../wire/requests.ts";
export type {
  AgentMentionedEvent,
  InboxNotification,
  MentionPage,
  NotificationSettings,
} from "../wire/resources.ts";

/** Filters the notifications of an inbox. */
export type InboxFilter = Omit<InboxSearch, "limit" | "after">;
export type InboxListing = InboxSearch;

export interface InboxPage {
  /** Newest first. */
  readonly notifications: readonly InboxNotification[];
  /** Continues after the page; null after the last one. */
  readonly cursor: string | null;
}

export interface InboxEvents {
  /** A notification has a further activity. */
  notification: InboxNotification;
  /** A comment mentions the agent: `mentions()` reads it. */
  mentioned: undefined;
  /** Notifications have changed here or elsewhere, or while the connection was lost: list them again. */
  updated: { readonly unread: number };
}

export interface MentionsOptions {
  /** The `cursor` of an earlier page: the mentions after it. Without it, those that are still to come. */
  readonly after?: string | undefined;
  /** Ends the read, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The mean pause after a read of mentions that has failed, with its retries. */
const RETRY_MS = 5_000;
/** Ends reads once `disconnect()` is called. */
const DISCONNECTED = new Error("disconnect() was called");

const PATH = ["me", "inbox-notifications"];
const MENTIONS = ["me", "mentions"];
const SETTINGS = ["me", "notification-settings"];

const INBOX: Joinable = {
  urlOf(base, { accountId, scope }) {
    const identity = encodeURIComponent(scope.split(" ").at(-1) ?? "");
    return `${base}v1/accounts/${encodeURIComponent(accountId)}/inbox/socket?refusal=close&identity=${identity}`;
  },
  type: "INBOX_JOIN",
  read: (data) =>
    typeof data.unread === "number" && typeof data.seq === "number" ? asJoined(data, data.seq) : null,
};

/** An inbox is no room, so its join has only a position. */
const asJoined = (online: Data, seq: number): Joined => assumeType({ online, seq, changes: null });

/** The inbox of an identity. It shares the token of an {@link Atrium}, or has its own. */
export class Inbox extends Emitter<InboxEvents> {
  /** The state of the connection, and its events. */
  readonly socket: ClientSocket;
  readonly #connection: Connection;
  readonly #tokens: Tokens;
  readonly #atrium: Atrium;
  #unread: number | null = null;
  #seq: unknown = null;

  /** Throws VALIDATION_ERROR for an invalid address, and for a text that is no token of an identity. */
  constructor(source: Atrium | AtriumOptions) {
    super();
    const atrium = source instanceof Atrium ? source : new Atrium(source);
    this.#atrium = atrium;
    const { serverUrl, authToken, reconnect = true } = atrium.share();
    const base = socketBase(serverUrl);
    this.#tokens = new Tokens(authToken, atrium.runtime, [""]);
    const connection = new Connection({ base, tokens: this.#tokens, reconnect, ...INBOX }, atrium.runtime);
    this.#connection = connection;
    this.socket = connection;
    atrium.inboxes.add(connection);
    const { changeStream } = connection;
    changeStream.onJoined(({ online }) => {
      // The same position means that nothing was missed, but the identity may see other rooms now.
      if (online.seq !== this.#seq || online.unread !== this.#unread) this.#update(online);
    });
    changeStream.handle("inboxUpdated", (data) => this.#update(data));
    for (const event of ["inboxRead", "inboxDeleted"])
      changeStream.handle(event, (data) => {
        this.#update(data);
        const { notificationIds: ids } = data;
        // Pages without storage of their own have no service worker.
        closeShown(Array.isArray(ids) ? ids : null).catch(() => {});
      });
    changeStream.handle("inboxNotification", (data) => {
      this.#update(data);
      if (isRecord(data.notification)) this.emit("notification", assumeType(data.notification));
    });
    changeStream.handle("mentioned", () => this.emit("mentioned", undefined));
  }

  /** The number of unread notifications; null until the inbox has connected, or changed something. */
  get unread(): number | null {
    return this.#unread;
  }

  /** Connects. Resolves when `unread` is known; later losses are restored. Throws like `join()` of a room. */
  connect(): Promise<void> {
    this.#atrium.inboxes.add(this.#connection);
    return this.#connection.join();
  }

  /** A page of the notifications that the identity may see now, newest first. */
  async list(listing: InboxListing = {}): Promise<InboxPage> {
    return (await this.#rest()).get(PATH, listing);
  }

  /**
   * The mentions that wake the agent, also those while it was away: page by page, the first at once. A page without
   * mentions has a later cursor to keep. Connects, and reads what is new at each sign of it. A page whose cursor was not
   * kept comes again. Ends with `disconnect()`, and from outside by it or the signal alone. Throws what ends the
   * connection, and GONE for a cursor that a restore has lost.
   */
  async *mentions({ after, signal: own }: MentionsOptions = {}): AsyncGenerator<MentionPage, void, void> {
    let news = new Deferred();
    const { aborting, unlink } = linked([own]);
    const { signal } = aborting;
    const stops = [
      unlink,
      this.on("mentioned", () => news.resolve()),
      this.socket.on("status", ({ status, error }) =>
        status === "closed" ? aborting.abort(error ?? DISCONNECTED) : news.resolve(),
      ),
    ];
    try {
      await abortable(this.connect(), { signal });
      for (let [cursor, kept] = [after ?? "now", ""]; ; ) {
        news = new Deferred();
        if (this.socket.state === "connected") {
          const page = await this.#readMentions(cursor, signal);
          if (page === null) {
            await pause(RETRY_MS * (0.5 + this.#atrium.runtime.random()), signal);
            continue;
          }
          if (page.cursor !== kept) yield page;
          cursor = kept = page.cursor;
          if (page.has_more) continue;
        }
        await abortable(news.promise, { signal });
      }
    } catch (error) {
      const { status, error: failure } = this.socket.status;
      const isDisconnected = error === DISCONNECTED || (status === "closed" && failure === null);
      if (!isDisconnected) throw error;
    } finally {
      for (const stop of stops) stop();
    }
  }

  /**
   * Marks a notification as read, up to its latest activity or to the `seq` `upTo`. Later activities stay unread.
   * Returns how many are unread after it. Throws NOT_FOUND.
   */
  markAsRead(read: { readonly notificationId: string; readonly upTo?: number | undefined }): Promise<number> {
    return this.#mark(read);
  }

  /** Marks all notifications as read that there are now. Returns how many are unread after it. */
  markAllAsRead(): Promise<number> {
    return this.#mark({ all: true });
  }

  /** Deletes a notification; a later activity shows it again. Throws NOT_FOUND. */
  delete({ notificationId }: { readonly notificationId: string }): Promise<void> {
    return this.#delete([...PATH, notificationId]);
  }

  /** Deletes all notifications that there are now. */
  deleteAll(): Promise<void> {
    return this.#delete(PATH);
  }

  /** The settings of the identity for notifications that stay unread. */
  async getSettings(): Promise<NotificationSettings> {
    const rest = await this.#rest();
    return (await rest.get<{ settings: NotificationSettings }>(SETTINGS)).settings;
  }

  /** Changes the given settings; null removes the entry of a kind or a room. */
  async updateSettings(changes: NotificationSettingsUpdate): Promise<NotificationSettings> {
    const rest = await this.#rest();
    return (await rest.patch<{ settings: NotificationSettings }>(SETTINGS, changes)).settings;
  }

  /**
   * Pushes what stays unread to this browser, also while the page is closed. The service worker needs `atrium/push-worker`.
   * Asks for permission, so call it on a click; and at each start where that is granted, because browsers change their
   * addresses. False without the permission, and when the service pushes nothing. Throws what the browser's `subscribe()` throws.
   */
  async subscribeToPush(registration: ServiceWorkerRegistration): Promise<boolean> {
    return (await askForPermission()) && subscribe(await this.#rest(), registration);
  }

  /** Ends the pushes to this browser. Use it for a switch, and before signing out. */
  async unsubscribeFromPush(registration: ServiceWorkerRegistration): Promise<void> {
    await unsubscribe(await this.#rest(), registration);
  }

  /** Closes the connection. The inbox can still be listed and changed. */
  disconnect(): void {
    this.#seq = null;
    this.#connection.disconnect();
    // Later tokens reach connected inboxes alone: the next request asks for the current one.
    this.#atrium.inboxes.delete(this.#connection);
    this.#tokens.forget();
  }

  #update({ seq, unread }: Data): void {
    if (typeof unread !== "number") return;
    this.#seq = seq;
    this.#unread = unread;
    this.emit("updated", { unread });
  }

  /** Null when it has to be tried again. */
  async #readMentions(after: string, signal: AbortSignal): Promise<MentionPage | null> {
    try {
      const rest = await restOf(this.#connection.base, this.#tokens, signal);
      return await abortable(rest.get<MentionPage>(MENTIONS, { after }), { signal });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AtriumError && error.retryable) return null;
      throw error;
    }
  }

  /** A connected inbox learns of its changes by events; otherwise the answer says how many are unread. */
  #changed({ unread }: { readonly unread: number }): number {
    if (this.socket.state !== "connected") this.#update({ unread, seq: null });
    return unread;
  }

  async #mark(read: object): Promise<number> {
    // A link that is followed marks its notification, so these changes outlive their page.
    const request = { method: "POST", path: [...PATH, "read"], body: read, keepalive: true } as const;
    return this.#changed(await (await this.#rest()).request(request));
  }

  async #delete(path: readonly string[]): Promise<void> {
    const rest = await this.#rest();
    await rest.delete(path, { keepalive: true });
    if (this.socket.state !== "connected") this.#changed(await rest.get([...PATH, "count"]));
  }

  #rest(): Promise<Rest> {
    return restOf(this.#connection.base, this.#tokens);
  }
}

/**
 * The inbox of an identity, which shares the token of its rooms. `connect()` connects it. Throws as {@link
 * Inbox}.
 */
export const openInbox = (source: Atrium | AtriumOptions): Inbox => new Inbox(source);
