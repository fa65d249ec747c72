/** `atrium/server`: the organization's side of the service, for back ends. */

import type { FileFilter } from "../client/storage.ts";
import { type Progress, type Query, Rest, type RestOptions } from "../core/rest.ts";
import type { Comment, PresenceState, Role, Room, StorageFile, UploadResult } from "../wire/resources.ts";
import { Organization } from "./organization.ts";
import type {
  Entry,
  Page,
  PageShown,
  RoomWithUsers,
  Search,
  UserWithSessions,
  UserWithToken,
  WriteOptions,
  Written,
} from "./responses.ts";
import { Webhooks } from "./webhooks.ts";
import { Workflows } from "./workflows.ts";

export type { FileFilter } from "../client/storage.ts";
export { AtriumError } from "../core/error.ts";
export type { Progress } from "../core/rest.ts";
export type {
  AtriumEvent,
  EventName,
  ParticipantEvent,
  SessionClosedEvent,
  SessionStartedEvent,
  UserEvent,
} from "../wire/events.ts";
export type {
  Comment,
  PresenceState,
  Role,
  Room,
  StorageFile,
  UploadResult,
  UserRecord as User,
} from "../wire/resources.ts";
export type { ApiKey, Hour, Invitation, Member, Organization, Overview } from "./organization.ts";
export type {
  Entry,
  Page,
  PageShown,
  RoomWithUsers,
  Search,
  UserSession,
  UserWithSessions,
  UserWithToken,
  WriteOptions,
  Written,
} from "./responses.ts";
export { verifyWebhook, type WebhookHeaders } from "./verify-webhook.ts";
export type { Delivery, DeliveryAttempt, Webhook, Webhooks, WebhookWithSecret } from "./webhooks.ts";
export type { LogLine, Workflow, WorkflowExecution, Workflows } from "./workflows.ts";

export interface AtriumServerOptions extends RestOptions {
  /**
   * An API key of the organization: it opens everything that is the organization's, so keep it on your servers.
   * Null on pages of the service's own origin, where the cookie of the person who is signed in says who asks.
   */
  readonly apiKey: string | null;
}

/** Who a page or a search is for is the interface's own matter: this makes plain values of it. */
const queryOf = (search: object): Query => ({ ...search });

/**
 * The REST interface in types: each method is one request, and throws `AtriumError` where the service
 * refuses it. Passing failures are tried again, and nothing is done twice by that.
 */
export class AtriumServer {
  readonly #rest: Rest;
  readonly webhooks: Webhooks;
  readonly workflows: Workflows;
  readonly organization: Organization;

  constructor(options: AtriumServerOptions) {
    const { accountId, apiKey } = options;
    const authorization = apiKey === null ? null : `Bearer ${btoa(`${accountId}:${apiKey}`)}`;
    this.#rest = new Rest({ ...options, authorization });
    this.webhooks = new Webhooks(this.#rest);
    this.workflows = new Workflows(this.#rest);
    this.organization = new Organization(this.#rest);
  }

  readonly rooms = {
    create: async (room: { readonly name: string; readonly customId?: string }): Promise<Room> =>
      (await this.#rest.ask<{ room: Room }>({ method: "POST", path: ["rooms"], body: room })).room,

    /** Newest first. */
    list: (search: Search = {}): Promise<{ readonly rooms: Room[] } & PageShown> =>
      this.#rest.ask({ method: "GET", path: ["rooms"], query: queryOf(search) }),

    get: (roomId: string, users: Search = {}): Promise<RoomWithUsers> =>
      this.#rest.ask({ method: "GET", path: ["rooms", roomId], query: queryOf(users) }),

    getByCustomId: (customId: string, users: Search = {}): Promise<RoomWithUsers> =>
      this.#rest.ask({ method: "GET", path: ["rooms", "custom", customId], query: queryOf(users) }),

    /** Closing a room ends the sessions of those who are in it. */
    update: async (
      roomId: string,
      changes: { readonly name?: string; readonly customId?: string | null; readonly state?: Room["state"] },
    ): Promise<Room> =>
      (await this.#rest.ask<{ room: Room }>({ method: "PATCH", path: ["rooms", roomId], body: changes }))
        .room,

    /** With its users and all that it holds. */
    delete: async (roomId: string): Promise<void> => {
      await this.#rest.ask({ method: "DELETE", path: ["rooms", roomId] });
    },

    /** Sets the room's counter to the users who are really online. */
    reconcile: (
      roomId: string,
    ): Promise<{
      readonly room: Room;
      readonly previous_active_participants: number;
      readonly reconciled_active_participants: number;
    }> => this.#rest.ask({ method: "POST", path: ["rooms", roomId, "reconcile"] }),
  };

  readonly users = {
    /** The user's `token` is what its browser joins with. */
    create: async (user: {
      readonly roomId: string;
      readonly name: string;
      readonly role?: Role;
      readonly customId?: string;
      readonly profilePicture?: string;
    }): Promise<UserWithToken> =>
      (await this.#rest.ask<{ user: UserWithToken }>({ method: "POST", path: ["users"], body: user })).user,

    /** Newest first. */
    list: (roomId: string, search: Search = {}): Promise<{ readonly users: UserWithToken[] } & PageShown> =>
      this.#rest.ask({ method: "GET", path: ["users"], query: { roomId, ...search } }),

    get: (roomId: string, userId: string): Promise<UserWithSessions> =>
      this.#rest.ask({ method: "GET", path: ["users", userId], query: { roomId } }),

    getByCustomId: (roomId: string, customId: string): Promise<UserWithSessions> =>
      this.#rest.ask({ method: "GET", path: ["users", "custom", customId], query: { roomId } }),

    update: async (
      roomId: string,
      userId: string,
      changes: {
        readonly name?: string;
        readonly customId?: string | null;
        readonly profilePicture?: string | null;
      },
    ): Promise<UserWithToken> => {
      const path = ["users", userId];
      const request = { method: "PATCH", path, query: { roomId }, body: changes } as const;
      return (await this.#rest.ask<{ user: UserWithToken }>(request)).user;
    },

    /** Its token is refused from then on. */
    delete: async (roomId: string, userId: string): Promise<void> => {
      await this.#rest.ask({ method: "DELETE", path: ["users", userId], query: { roomId } });
    },
  };

  /** What a room keeps under keys. Members hear of each write as of one of their own. */
  readonly stores = {
    list: async (roomId: string): Promise<{ readonly name: string; readonly entries: number }[]> => {
      const path = ["rooms", roomId, "stores"];
      return (await this.#rest.ask<{ stores: { name: string; entries: number }[] }>({ method: "GET", path }))
        .stores;
    },

    getAll: (
      roomId: string,
      store: string,
    ): Promise<{ readonly entries: Record<string, Entry>; readonly seq: number }> =>
      this.#rest.ask({ method: "GET", path: ["rooms", roomId, "stores", store] }),

    /** `NOT_FOUND` for an entry that is not there. */
    get: (roomId: string, store: string, key: string): Promise<Entry> =>
      this.#rest.ask({ method: "GET", path: ["rooms", roomId, "stores", store, key] }),

    set: (
      roomId: string,
      store: string,
      key: string,
      value: unknown,
      options: WriteOptions = {},
    ): Promise<Written> => {
      const path = ["rooms", roomId, "stores", store, key];
      return this.#rest.ask({
        method: "PUT",
        path,
        body: { value, ...options },
        isConditional: "ifVersion" in options,
      });
    },

    /** Merges the top level. */
    update: (
      roomId: string,
      store: string,
      key: string,
      fields: object,
      options: WriteOptions = {},
    ): Promise<Written> => {
      const path = ["rooms", roomId, "stores", store, key];
      return this.#rest.ask({
        method: "PATCH",
        path,
        body: { value: fields, ...options },
        isConditional: "ifVersion" in options,
      });
    },

    delete: async (roomId: string, store: string, key: string): Promise<void> => {
      await this.#rest.ask({ method: "DELETE", path: ["rooms", roomId, "stores", store, key] });
    },
  };

  readonly comments = {
    /** Oldest first. */
    list: (
      roomId: string,
      filter: Page & { readonly threadId?: string; readonly resolved?: boolean } = {},
    ): Promise<{ readonly comments: Comment[] } & PageShown> =>
      this.#rest.ask({ method: "GET", path: ["rooms", roomId, "comments"], query: queryOf(filter) }),

    /** In the name of a user of the room. Without `threadId` it begins a thread. */
    create: async (
      roomId: string,
      comment: {
        readonly userId: string;
        readonly text: string;
        readonly threadId?: string;
        readonly anchor?: unknown;
        readonly mentions?: readonly string[];
      },
    ): Promise<Comment> => {
      const path = ["rooms", roomId, "comments"];
      return (await this.#rest.ask<{ comment: Comment }>({ method: "POST", path, body: comment })).comment;
    },

    update: async (
      roomId: string,
      commentId: string,
      changes: { readonly text?: string; readonly resolved?: boolean },
    ): Promise<Comment> => {
      const path = ["rooms", roomId, "comments", commentId];
      return (await this.#rest.ask<{ comment: Comment }>({ method: "PATCH", path, body: changes })).comment;
    },

    delete: async (roomId: string, commentId: string): Promise<void> => {
      await this.#rest.ask({ method: "DELETE", path: ["rooms", roomId, "comments", commentId] });
    },
  };

  readonly files = {
    /** In the name of a user of the room; at most 100 MiB. */
    upload: async (
      roomId: string,
      upload: {
        readonly userId: string;
        readonly file: Blob;
        readonly filename: string;
        /** Called with what has been sent, in browsers. */
        readonly onProgress?: (progress: Progress) => void;
      },
    ): Promise<UploadResult> => {
      const { file, onProgress } = upload;
      const form = new FormData();
      form.append("roomId", roomId);
      form.append("userId", upload.userId);
      form.append("file", file, upload.filename);
      const onSent = onProgress && ((loaded: number) => onProgress({ loaded, total: file.size }));
      const request = { method: "POST", path: ["upload"], upload: { form, onSent } } as const;
      return (await this.#rest.ask<{ file: UploadResult }>(request)).file;
    },

    /** Newest first. */
    list: (
      roomId: string,
      filter: Page & FileFilter = {},
    ): Promise<{ readonly files: StorageFile[] } & PageShown> =>
      this.#rest.ask({ method: "GET", path: ["files"], query: { roomId, ...filter } }),

    delete: async (key: string): Promise<void> => {
      await this.#rest.ask({ method: "DELETE", path: ["upload"], body: { key } });
    },
  };

  /** Tells those who are in the room now, or the users named of them; gives how many users it reached. */
  async broadcast(
    roomId: string,
    event: string,
    data: unknown = null,
    userIds?: readonly string[],
  ): Promise<number> {
    const path = ["rooms", roomId, "broadcast"];
    const body = { event, data, ...(userIds && { userIds }) };
    return (await this.#rest.ask<{ delivered: number }>({ method: "POST", path, body })).delivered;
  }

  /** What each user who is online shows of itself, by user id. */
  async getPresence(roomId: string): Promise<Record<string, PresenceState>> {
    const path = ["rooms", roomId, "presence"];
    return (await this.#rest.ask<{ presence: Record<string, PresenceState> }>({ method: "GET", path }))
      .presence;
  }
}
