/** `atrium/server`: everything that belongs to an organization, for back ends. */
import { credential, Rest, type RestOptions } from "../core/rest.ts";
import type {
  IdentificationInput,
  InboxTriggerInput,
  NotificationDefaultsUpdate,
  RoomAccessInput,
  RoomLinkInput,
} from "../wire/requests.ts";
import type {
  AccessDecision,
  Identified,
  NotificationDefaults,
  PresenceState,
  RoomAccess,
  RoomLink,
} from "../wire/resources.ts";
import { Comments, Files, Stores, Threads } from "./content.ts";
import { Documents } from "./documents.ts";
import { Groups, Identities, Inbox } from "./identities.ts";
import { Events, Requests } from "./logs.ts";
import { Organization } from "./organization.ts";
import type { Listed, Scroll, ScrollShown } from "./pages.ts";
import { Rooms, Users } from "./rooms.ts";
import { Webhooks, Workflows } from "./subscribers.ts";

export { AtriumError, type AtriumErrorCode } from "../core/error.ts";
export type { FileFilter, Progress } from "../core/rest.ts";
export type * from "../wire/requests.ts";
export type * from "../wire/resources.ts";
export type {
  BatchResponse,
  CommentFilter,
  Comments,
  EntryPage,
  FileSearch,
  Files,
  ServerUpload,
  StoreBatch,
  StoreOperation,
  Stores,
  ThreadFilter,
  Threads,
  WriteOptions,
} from "./content.ts";
export type {
  CompareOptions,
  ContentOptions,
  Documents,
  HistoryOptions,
  PreviewOptions,
  ReadOptions,
  RollbackOptions,
} from "./documents.ts";
export type { Groups, Identities, Inbox, InboxSearch } from "./identities.ts";
export type { EventFilter, Events, RequestFilter, Requests } from "./logs.ts";
export type { AuditFilter, Organization } from "./organization.ts";
export type {
  FileSort,
  Filter,
  KeySearch,
  MemberSearch,
  Page,
  PageShown,
  RoomSearch,
  Scroll,
  ScrollShown,
  Search,
  UserSearch,
  WebhookSearch,
  WorkflowSearch,
} from "./pages.ts";
export type { Reconciliation, Rooms, RoomWithUsers, Users, UserWithSessions } from "./rooms.ts";
export type { DeliverySearch, Webhooks, Workflows } from "./subscribers.ts";
export { verifyWebhook, verifyWebhookBatch, type WebhookHeaders } from "./verify-webhook.ts";

export interface AtriumServerOptions extends RestOptions {
  /** Gives access to the whole organization: keep it on your servers. Null on the service's own pages. */
  readonly apiKey: string | null;
}

/**
 * Each method throws an `AtriumError` if refused. Temporary failures are retried, with one effect. {@link withSignal} ends
 * calls early.
 */
export class AtriumServer {
  readonly rooms: Rooms;
  readonly users: Users;
  readonly identities: Identities;
  readonly groups: Groups;
  readonly stores: Stores;
  readonly comments: Comments;
  readonly threads: Threads;
  readonly documents: Documents;
  readonly files: Files;
  readonly events: Events;
  readonly webhooks: Webhooks;
  readonly workflows: Workflows;
  readonly requests: Requests;
  readonly organization: Organization;
  readonly #rest: Rest;
  readonly #options: AtriumServerOptions;
  readonly #signals: readonly AbortSignal[];

  /** Throws VALIDATION_ERROR for an address, an account ID or a key that is none. `signals` are those of {@link withSignal}. */
  constructor(options: AtriumServerOptions, signals: readonly AbortSignal[] = []) {
    const apiKey = options.apiKey === null ? null : credential("apiKey", options.apiKey);
    const accountId = credential("accountId", options.accountId);
    const authorization = apiKey === null ? null : `Bearer ${btoa(`${accountId}:${apiKey}`)}`;
    const rest = new Rest({ ...options, authorization }, signals);
    this.#options = options;
    this.#signals = signals;
    this.#rest = rest;
    this.rooms = new Rooms(rest);
    this.users = new Users(rest);
    this.identities = new Identities(rest);
    this.groups = new Groups(rest);
    this.stores = new Stores(rest);
    this.comments = new Comments(rest);
    this.threads = new Threads(rest);
    this.documents = new Documents(rest);
    this.files = new Files(rest);
    this.events = new Events(rest);
    this.webhooks = new Webhooks(rest);
    this.workflows = new Workflows(rest);
    this.requests = new Requests(rest);
    this.organization = new Organization(rest);
  }

  /**
   * The same organization, for calls that end once the signal is aborted: they are rejected with its reason, and neither wait
   * nor try again. A request that was sent may take effect.
   */
  withSignal(signal: AbortSignal): AtriumServer {
    return new AtriumServer(this.#options, [...this.#signals, signal]);
  }

  /**
   * Creates or updates an end user of yours by its `customId`, and returns a token that opens every room as far as the
   * identity has access there. Call it when a user signs in, and again before the token expires.
   */
  identifyUser(user: IdentificationInput): Promise<Identified> {
    return this.#rest.post(["identify"], user);
  }

  /** Sends a message to the online users of a room, or to the ones in `userIds`. Returns how many users received it. */
  async broadcast(
    roomId: string,
    event: string,
    data: unknown = null,
    userIds?: readonly string[],
  ): Promise<number> {
    const path = ["rooms", roomId, "broadcast"];
    const body = { event, data, ...(userIds && { userIds }) };
    return (await this.#rest.post<{ delivered: number }>(path, body)).delivered;
  }

  /**
   * Lets a user take part without a connection, for `ttl` seconds (10 to 3,600, 60 by default) unless called again.
   * CONFLICT while it is connected. Returns when it leaves, as an ISO timestamp.
   */
  async addParticipant(
    roomId: string,
    userId: string,
    participation: {
      readonly presence?: PresenceState | null | undefined;
      readonly ttl?: number | undefined;
    } = {},
  ): Promise<string> {
    const path = ["rooms", roomId, "participants", userId];
    return (await this.#rest.put<{ expires_at: string }>(path, participation)).expires_at;
  }

  /** Closes a user's connections: it leaves at once. Does nothing when it is not online. */
  removeParticipant(roomId: string, userId: string): Promise<void> {
    return this.#rest.delete(["rooms", roomId, "participants", userId]);
  }

  /** The presence of each user who is online and has one, by user id. */
  async getPresence(roomId: string): Promise<Record<string, PresenceState>> {
    const path = ["rooms", roomId, "presence"];
    return (await this.#rest.get<{ presence: Record<string, PresenceState> }>(path)).presence;
  }

  /** The inbox of an identity, by its ID. */
  inbox(identityId: string): Inbox {
    return new Inbox(this.#rest, identityId);
  }

  /**
   * Notifies an identity, by its ID or its `customId`, of a kind of your own, which begins with `$`. False when it may not
   * enter the room, and so is not told.
   */
  async triggerInboxNotification(notification: InboxTriggerInput): Promise<boolean> {
    const path = ["inbox-notifications", "trigger"];
    return (await this.#rest.post<{ delivered: boolean }>(path, notification)).delivered;
  }

  /** By which channel what stays unread is sent, by whom, and after what time. */
  async getNotificationDefaults(): Promise<NotificationDefaults> {
    return (await this.#rest.get<{ defaults: NotificationDefaults }>(["notification-defaults"])).defaults;
  }

  /** Changes the given defaults; null removes the entry of a kind. */
  async updateNotificationDefaults(changes: NotificationDefaultsUpdate): Promise<NotificationDefaults> {
    const path = ["notification-defaults"];
    return (await this.#rest.patch<{ defaults: NotificationDefaults }>(path, changes)).defaults;
  }

  /** The default of a room, and a page of its entries: those of groups, then those of identities. */
  getRoomAccess(roomId: string, part: Scroll = {}): Promise<RoomAccess & ScrollShown> {
    return this.#rest.get(["rooms", roomId, "access"], part);
  }

  /**
   * Sets and removes the named entries, all or none of them, and leaves the others; null removes one. It holds at once, but
   * within a minute for users who are online if `pending_rooms` is 1. Returns what the changes name.
   */
  updateRoomAccess(
    roomId: string,
    changes: RoomAccessInput,
  ): Promise<Partial<RoomAccess> & { readonly pending_rooms: number }> {
    return this.#rest.put(["rooms", roomId, "access"], changes);
  }

  /** The permissions of an identity in a room, and the entries that decide them. */
  checkRoomAccess(roomId: string, identityId: string): Promise<AccessDecision> {
    return this.#rest.post(["rooms", roomId, "access", "check"], { identityId });
  }

  /**
   * Creates a link by which guests enter a room without an account of yours. `secret` is shown once: put it into the fragment
   * of a URL.
   */
  createRoomLink(
    roomId: string,
    link: RoomLinkInput,
  ): Promise<{ readonly link: RoomLink; readonly secret: string }> {
    return this.#rest.post(["rooms", roomId, "links"], link);
  }

  /** The links of a room that have not ended, newest first. */
  listRoomLinks(roomId: string, part: Scroll = {}): Promise<Listed<"links", RoomLink>> {
    return this.#rest.get(["rooms", roomId, "links"], part);
  }

  /** Ends a link and its guests, whose sockets close at once, or within a minute if `pending_rooms` is 1. */
  revokeRoomLink(roomId: string, linkId: string): Promise<{ readonly pending_rooms: number }> {
    return this.#rest.request({ method: "DELETE", path: ["rooms", roomId, "links", linkId] });
  }
}
