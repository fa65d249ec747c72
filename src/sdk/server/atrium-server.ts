/** The REST interface of a back end, typed. */
import { Rest, type RestOptions } from "../core/rest.ts";
import type { PresenceState } from "../wire/resources.ts";
import { Comments } from "./comments.ts";
import { Documents } from "./documents.ts";
import { Events } from "./events.ts";
import { Files } from "./files.ts";
import { Organization } from "./organization.ts";
import { Requests } from "./requests.ts";
import { Rooms } from "./rooms.ts";
import { Stores } from "./stores.ts";
import { Users } from "./users.ts";
import { Webhooks } from "./webhooks.ts";
import { Workflows } from "./workflows.ts";

export interface AtriumServerOptions extends RestOptions {
  /**
   * An API key of the organization. It gives access to everything that belongs to the organization, so keep it on
   * your servers. Null on pages that the service itself serves: their requests carry the sign-in cookie.
   */
  readonly apiKey: string | null;
}

/**
 * The REST interface, typed: each method is one request, and throws an `AtriumError` if it is refused. Requests that
 * fail for a temporary reason are retried, and take effect once.
 */
export class AtriumServer {
  readonly rooms: Rooms;
  readonly users: Users;
  readonly stores: Stores;
  readonly comments: Comments;
  readonly documents: Documents;
  readonly files: Files;
  readonly events: Events;
  readonly webhooks: Webhooks;
  readonly workflows: Workflows;
  readonly requests: Requests;
  readonly organization: Organization;
  readonly #rest: Rest;

  constructor(options: AtriumServerOptions) {
    const { accountId, apiKey } = options;
    const authorization = apiKey === null ? null : `Bearer ${btoa(`${accountId}:${apiKey}`)}`;
    const rest = new Rest({ ...options, authorization });
    this.#rest = rest;
    this.rooms = new Rooms(rest);
    this.users = new Users(rest);
    this.stores = new Stores(rest);
    this.comments = new Comments(rest);
    this.documents = new Documents(rest);
    this.files = new Files(rest);
    this.events = new Events(rest);
    this.webhooks = new Webhooks(rest);
    this.workflows = new Workflows(rest);
    this.requests = new Requests(rest);
    this.organization = new Organization(rest);
  }

  /**
   * Sends a message to the online users of a room, or to the ones in `userIds`. Returns how many users
   * received it.
   */
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
   * Lets a user take part without a connection: everyone sees it join, and it leaves after `ttl` seconds (10 to 3,600,
   * 60 by default) unless this is called again. `presence` is the state that it shows. CONFLICT while it is connected.
   * Returns when it leaves, as an ISO timestamp.
   */
  async addParticipant(
    roomId: string,
    userId: string,
    participation: {
      readonly presence?: Readonly<Record<string, unknown>> | null;
      readonly ttl?: number;
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
    return (await this.#rest.get<{ presence: Record<string, PresenceState> }>(["rooms", roomId, "presence"]))
      .presence;
  }
}
