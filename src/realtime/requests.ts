/** What members and the organization ask of a room that they are in: one transaction a request, and one answer. */
import { AppError } from "../platform/errors.ts";
import type { Role } from "../users/schema.ts";
import { Changes, ORGANIZATION } from "./content/changes.ts";
import { Comments } from "./content/comments.ts";
import { Follows } from "./content/follows.ts";
import { fingerprintOf } from "./content/receipt.ts";
import { Stores } from "./content/stores.ts";
import { Broadcasts } from "./messaging/broadcasts.ts";
import { type Participants, send } from "./participants/participants.ts";
import {
  type ClientMessage,
  type CommentPage,
  EDITOR_MESSAGES,
  type MessageOf,
} from "./protocol/messages.ts";
import * as protocol from "./protocol/protocol.ts";
import type { RoomStorage } from "./storage/storage.ts";
import type { Joined } from "./transport/connections.ts";
import type { DatabaseQuery, Effect } from "./transport/effects.ts";

/** What is answered at once, from what the room itself has. */
export type RoomRequest =
  | Exclude<ClientMessage, DatabaseQuery | { readonly type: "JOIN_ROOM" | "LEAVE_ROOM" | "MARK" }>
  | OrganizationRequest;

/** What only the organization asks, over REST; it has no request id there. */
export type OrganizationRequest = { readonly requestId?: string | undefined } & (
  | { readonly type: "STORE_LIST" }
  | { readonly type: "PRESENCE_GET" }
  | {
      readonly type: "COMMENT_POST";
      readonly data: MessageOf<"COMMENT_CREATE">["data"] & { readonly userId: string };
    }
  | {
      readonly type: "COMMENT_EDIT";
      readonly data: {
        readonly commentId: string;
        readonly text?: string | undefined;
        readonly resolved?: boolean | undefined;
      };
    }
);

/** Who asks: a joined socket, or the organization. */
export interface Requester {
  readonly roomId: string;
  readonly role: Role;
  readonly connection: Joined | null;
}

export interface RequestPorts {
  readonly storage: RoomStorage;
  now(): number;
  newId(): string;
  /** Tells whoever runs the service of a failure that nobody foresaw. */
  report(what: string, error: unknown): void;
}

export interface RequestOutcome {
  readonly response: protocol.Response;
  /** In the order in which they are to be carried out, before the response goes out. */
  readonly effects: readonly Effect[];
}

interface RequestResult {
  readonly data: object;
  readonly effects?: readonly Effect[];
}

const DONE: Readonly<Record<RoomRequest["type"], string>> = {
  PRESENCE_UPDATE: "Presence updated",
  PRESENCE_SUBSCRIBE: "Subscription changed",
  PRESENCE_GET: "Presence retrieved",
  BROADCAST: "Broadcast sent",
  STORE_SYNC: "Store retrieved",
  STORE_LIST: "Stores retrieved",
  STORE_GET: "Entry retrieved",
  STORE_SET: "Entry set",
  STORE_UPDATE: "Entry updated",
  STORE_DELETE: "Entry deleted",
  STORE_BATCH: "Operations applied",
  COMMENT_CREATE: "Comment created",
  COMMENT_POST: "Comment created",
  COMMENT_LIST: "Comments retrieved",
  COMMENT_UPDATE: "Comment updated",
  COMMENT_EDIT: "Comment updated",
  COMMENT_DELETE: "Comment deleted",
  COMMENT_RESOLVE: "Comment updated",
  COMMENT_REACT: "Comment updated",
  USER_FOLLOW: "User followed",
  USER_UNFOLLOW: "User unfollowed",
};

/** What may change something that lasts. */
const LASTING_REQUESTS: ReadonlySet<RoomRequest["type"]> = new Set([
  "STORE_SET",
  "STORE_UPDATE",
  "STORE_DELETE",
  "STORE_BATCH",
  "COMMENT_CREATE",
  "COMMENT_POST",
  "COMMENT_UPDATE",
  "COMMENT_EDIT",
  "COMMENT_DELETE",
  "COMMENT_RESOLVE",
  "COMMENT_REACT",
  "USER_FOLLOW",
  "USER_UNFOLLOW",
]);

const VIEWER_REFUSED = new AppError("Rooms", "FORBIDDEN", "Viewers may not do this");

export class Requests {
  readonly #ports: RequestPorts;
  readonly #participants: Participants;
  readonly changes: Changes;
  readonly stores: Stores;
  readonly comments: Comments;
  readonly follows: Follows;
  readonly #broadcasts: Broadcasts;

  constructor(ports: RequestPorts, members: Participants) {
    const { storage } = ports;
    const now = () => ports.now();
    this.#ports = ports;
    this.#participants = members;
    this.changes = new Changes(storage, now);
    this.stores = new Stores(storage, this.changes);
    this.comments = new Comments({ storage, changes: this.changes, now, newId: () => ports.newId() });
    this.follows = new Follows(storage, this.changes);
    this.#broadcasts = new Broadcasts(members.connections);
  }

  /** Does what is asked, whole or not at all. It never throws. */
  handle(request: RoomRequest, by: Requester): RequestOutcome {
    try {
      if (by.role === "viewer" && EDITOR_MESSAGES.has(request.type)) throw VIEWER_REFUSED;
      const { data, effects = [] } = LASTING_REQUESTS.has(request.type)
        ? this.changes.transaction(() => this.#once(request, by))
        : this.#work(request, by);
      const response = protocol.success(DONE[request.type], data, request.requestId);
      return { response, effects: [...this.broadcastChanges(), ...effects] };
    } catch (error) {
      return { response: protocol.failure(this.#faultOf(request, error), request.requestId), effects: [] };
    }
  }

  #faultOf({ type }: RoomRequest, error: unknown): protocol.Fault {
    if (error instanceof AppError) return { module: error.module, code: error.code, message: error.message };
    this.#ports.report(`A ${type} request failed`, error);
    return { module: "Server", code: "INTERNAL_ERROR", message: "Something went wrong on our side" };
  }

  /** Tells all members of the changes that were made. */
  broadcastChanges(): Effect[] {
    const changes = this.changes.take();
    if (changes.length === 0) return []; // most requests make none, and listing the members costs
    const to = this.#participants.connections.joinedIds();
    return to.length === 0 ? [] : changes.map((change) => send(to, { type: "event", ...change }));
  }

  /** A request that has made its changes before is answered as it was then, and makes none. */
  #once(request: RoomRequest, by: Requester): RequestResult {
    const { requestId } = request;
    if (requestId === undefined) return this.#work(request, by);
    const userId = senderOf(by);
    const log = this.#ports.storage.changes;
    const fingerprint = fingerprintOf(request);
    const receipt = log.findReceipt(userId, requestId);
    if (receipt?.fingerprint === fingerprint) return { data: JSON.parse(receipt.answer) as object };
    const before = this.changes.lastSeq;
    const done = this.#work(request, by);
    const after = this.changes.lastSeq;
    if (after > before)
      log.writeReceipt(after, { userId, requestId, fingerprint, answer: JSON.stringify(done.data) });
    return done;
  }

  #work(request: RoomRequest, by: Requester): RequestResult {
    const userId = by.connection?.userId ?? null;
    switch (request.type) {
      case "STORE_LIST":
        return { data: { stores: this.stores.list() } };
      case "STORE_SYNC":
        return { data: this.stores.sync(request.data.store) };
      case "STORE_GET":
        return { data: this.stores.get(request.data.store, request.data.key) };
      case "STORE_SET":
        return { data: this.stores.apply({ type: request.type, ...request.data }, userId) };
      case "STORE_UPDATE":
        return { data: this.stores.apply({ type: request.type, ...request.data }, userId) };
      case "STORE_DELETE":
        return { data: this.stores.apply({ type: request.type, ...request.data }, userId) };
      case "STORE_BATCH":
        return { data: this.stores.applyAll(request.data.operations, userId) };
      case "COMMENT_LIST":
        return { data: this.#listComments(request.data) };
      case "COMMENT_POST":
        return { data: { comment: this.comments.create(by.roomId, request.data, request.data.userId) } };
      case "COMMENT_EDIT":
        return { data: { comment: this.#editComment(request.data) } };
      case "COMMENT_UPDATE":
        return {
          data: { comment: this.comments.updateText(request.data.commentId, request.data.text, userId) },
        };
      case "COMMENT_DELETE":
        return { data: { comment: this.comments.delete(request.data.commentId, userId) } };
      case "COMMENT_RESOLVE":
        return {
          data: { comment: this.comments.resolve(request.data.commentId, request.data.resolved, userId) },
        };
      case "PRESENCE_GET":
        return { data: { presence: this.#participants.presence.states() } };
      case "BROADCAST":
        return this.#broadcasts.send(request.data, {
          requestId: request.requestId,
          sender: senderOf(by),
          socketId: by.connection?.id ?? null,
        });
      default:
        return this.#workFor(request, by);
    }
  }

  /** What only a member can ask, as it is about the member itself. */
  #workFor(
    request: Extract<RoomRequest, { readonly type: PersonalType }>,
    { connection, roomId }: Requester,
  ): RequestResult {
    if (connection === null) throw new AppError("Rooms", "BAD_REQUEST", "Only members can ask for this");
    const { userId } = connection;
    switch (request.type) {
      case "COMMENT_CREATE":
        return { data: { comment: this.comments.create(roomId, request.data, userId) } };
      case "COMMENT_REACT": {
        const { commentId, reaction, on } = request.data;
        return { data: { comment: this.comments.react(commentId, reaction, on, userId) } };
      }
      case "PRESENCE_UPDATE":
        return { data: {}, effects: this.#participants.presence.update(connection, request.data.state) };
      case "PRESENCE_SUBSCRIBE": {
        const { target, on } = request.data;
        return { data: {}, effects: this.#participants.presence.subscribe(connection, target, on) };
      }
      case "USER_FOLLOW":
        this.follows.follow(userId, request.data.userId);
        return { data: {} };
      case "USER_UNFOLLOW":
        this.follows.unfollow(userId, request.data.userId);
        return { data: {} };
    }
  }

  #listComments(page: CommentPage) {
    return { ...this.comments.list(page), limit: page.limit, offset: page.offset };
  }

  #editComment({
    commentId,
    text,
    resolved,
  }: Extract<OrganizationRequest, { type: "COMMENT_EDIT" }>["data"]) {
    const edited = text === undefined ? null : this.comments.updateText(commentId, text, null);
    return resolved === undefined && edited !== null
      ? edited
      : this.comments.resolve(commentId, resolved ?? false, null);
  }
}

/** Whose receipts a request is looked for in. */
const senderOf = ({ connection }: Requester): string => connection?.userId ?? ORGANIZATION;

type PersonalType =
  | "COMMENT_CREATE"
  | "COMMENT_REACT"
  | "PRESENCE_UPDATE"
  | "PRESENCE_SUBSCRIBE"
  | "USER_FOLLOW"
  | "USER_UNFOLLOW";
