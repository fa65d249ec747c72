/** Handles what participants and the organization request: one transaction each, and one response. */

import { AppError } from "../../platform/errors.ts";
import type { EventCause } from "../../wire/events.ts";
import type { Role } from "../../wire/user.ts";
import { failure, INTERNAL_FAULT, JsonText, success } from "../protocol/frame.ts";
import { MIN_LINE_BYTES } from "../protocol/limits.ts";
import { EDITOR_MESSAGES } from "../protocol/messages.ts";
import type { Fault, Response } from "../protocol/protocol.ts";
import type { OrganizationRequest, RoomRequest } from "../protocol/room-request.ts";
import type { Effect, Joined } from "../transport/connection.ts";
import { Broadcasts } from "./broadcasts.ts";
import { ORGANIZATION } from "./content/changes.ts";
import type { RoomContent } from "./content/content.ts";
import type { Downloads } from "./downloads.ts";
import { findSeen } from "./participants/online-users.ts";
import type { Participants } from "./participants/participants.ts";
import type { RestParticipants } from "./participants/rest-participants.ts";

/** Who makes a request: a user, over a joined socket or over REST, the organization, or a workflow's run for it. */
export interface Requester {
  readonly role: Role;
  /** Null for the organization. */
  readonly userId: string | null;
  /** Null over REST. */
  readonly connection: Joined | null;
  /** The run that makes it; null for anyone else. */
  readonly cause: EventCause | null;
}

export interface RequestPorts {
  /** Reports an unexpected failure to the service's log. */
  report(what: string, error: unknown): void;
}

export interface RequestOutcome {
  readonly response: Response;
  /** To be carried out in order, before the response is sent. */
  readonly effects: readonly Effect[];
}

interface Result {
  readonly data: object;
  readonly effects?: readonly Effect[];
}

type RequestOf<Type extends RoomRequest["type"]> = Extract<RoomRequest, { readonly type: Type }>;

/** How requests of one type are handled. */
interface Handler<Request extends RoomRequest> {
  /** The `description` of a successful response. */
  readonly description: string;
  /** True if the request can make lasting changes: it runs in a transaction, once per request id. */
  readonly isLasting: boolean;
  handle(request: Request, by: Requester): Result;
}

/** What subscribers are to know of: a success records an event for them. */
const REPORTED: ReadonlySet<string> = new Set([
  "COMMENT_CREATE",
  "COMMENT_POST",
  "COMMENT_UPDATE",
  "COMMENT_EDIT",
  "COMMENT_RESOLVE",
  "COMMENT_DELETE",
] satisfies RoomRequest["type"][]);
export const isReported = ({ type }: RoomRequest): boolean => REPORTED.has(type);

type Handlers = { readonly [Type in RoomRequest["type"]]: Handler<RequestOf<Type>> };

const VIEWER_REFUSED = new AppError("Rooms", "FORBIDDEN", "Viewers may not do this");

export class Requests {
  readonly #ports: RequestPorts;
  readonly #participants: Participants;
  readonly #content: RoomContent;
  readonly #handlers: Handlers;

  constructor(
    ports: RequestPorts,
    participants: Participants,
    restParticipants: RestParticipants,
    content: RoomContent,
    downloads: Downloads,
  ) {
    this.#ports = ports;
    this.#participants = participants;
    this.#content = content;
    this.#handlers = createHandlers(participants, restParticipants, content, downloads);
  }

  /** Handles a request completely or not at all. Never throws. */
  handle(request: RoomRequest, by: Requester): RequestOutcome {
    const handler: Handler<RoomRequest> = this.#handlers[request.type];
    try {
      if (by.role === "viewer" && EDITOR_MESSAGES.has(request.type)) throw VIEWER_REFUSED;
      const run = () => this.#run(handler, request, by);
      const { data, effects = [] } = by.cause === null ? run() : this.#content.causes.during(by.cause, run);
      const changes = this.#participants.connections.sendToAll(this.#content.changes.takeEvents());
      const response = success(handler.description, data, request.requestId);
      return { response, effects: [...changes, ...effects] };
    } catch (error) {
      return { response: failure(this.#faultOf(request, error), request.requestId), effects: [] };
    }
  }

  #run(handler: Handler<RoomRequest>, request: RoomRequest, by: Requester): Result {
    // A run that is made again repeats its requests: none has an effect twice, not even a broadcast.
    if (by.cause !== null && request.requestId !== undefined) return this.#runOnce(handler, request, by);
    if (!handler.isLasting) return handler.handle(request, by);
    return {
      data: this.#content.changes.once(senderOf(by), request, () => handler.handle(request, by).data),
    };
  }

  #runOnce(handler: Handler<RoomRequest>, request: RoomRequest, by: Requester): Result {
    let effects: readonly Effect[] = [];
    const sender = `workflow:${by.cause?.workflowId}`;
    const data = this.#content.changes.once(
      sender,
      request,
      () => {
        const result = handler.handle(request, by);
        effects = result.effects ?? [];
        return result.data;
      },
      "always",
    );
    return { data, effects };
  }

  #faultOf({ type }: RoomRequest, error: unknown): Fault {
    if (error instanceof AppError) return { module: error.module, code: error.code, message: error.message };
    this.#ports.report(`A ${type} request failed`, error);
    return INTERNAL_FAULT;
  }
}

/** Whose receipts a request is looked up in. */
const senderOf = ({ userId }: Requester): string => userId ?? ORGANIZATION;

/** The author of a change; null for the organization. */
const authorOf = ({ userId }: Requester): string | null => userId;

/** The connection of a request that is about its sender. */
function participantOf({ connection }: Requester): Joined {
  if (connection === null)
    throw new AppError("Rooms", "BAD_REQUEST", "Only participants can make this request");
  return connection;
}

/** A request that changes nothing that lasts. */
const passing = <Request extends RoomRequest>(
  description: string,
  handle: (request: Request, by: Requester) => Result,
): Handler<Request> => ({ description, isLasting: false, handle });

/** A request that reads what the room stores. */
const read = <Request extends RoomRequest>(
  description: string,
  dataOf: (request: Request) => object,
): Handler<Request> => passing(description, (request) => ({ data: dataOf(request) }));

/** A request that changes what the room stores. */
const write = <Request extends RoomRequest>(
  description: string,
  dataOf: (request: Request, by: Requester) => object,
): Handler<Request> => ({
  description,
  isLasting: true,
  handle: (request, by) => ({ data: dataOf(request, by) }),
});

function createHandlers(
  { presence, connections, sessions }: Participants,
  restParticipants: RestParticipants,
  content: RoomContent,
  downloads: Downloads,
): Handlers {
  const { stores, comments, follows } = content;
  const broadcasts = new Broadcasts(connections);
  return {
    STORE_LIST: read("Stores retrieved", () => ({ stores: stores.list() })),
    STORE_SYNC: passing("Store retrieved", ({ data }, { connection }) => {
      const { store, download: isWanted, lines } = data;
      const download =
        isWanted === true && connection !== null ? downloads.open(store, connection, lines) : null;
      if (download === null) return { data: stores.page(data) };
      const lineBytes = lines === true ? MIN_LINE_BYTES : undefined;
      return { data: { entries: {}, seq: content.changes.lastSeq, download, lineBytes } };
    }),
    STORE_GET: read("Entry retrieved", ({ data }) => stores.get(data.store, data.key)),
    STORE_SET: write("Entry set", ({ type, data }, by) => stores.apply({ type, ...data }, authorOf(by))),
    STORE_UPDATE: write("Entry updated", ({ type, data }, by) =>
      stores.apply({ type, ...data }, authorOf(by)),
    ),
    STORE_DELETE: write("Entry deleted", ({ type, data }, by) =>
      stores.apply({ type, ...data }, authorOf(by)),
    ),
    STORE_BATCH: write("Operations applied", ({ data }, by) => stores.applyAll(data, authorOf(by))),

    COMMENT_LIST: read("Comments retrieved", ({ data }) => ({
      ...comments.list(data),
      limit: data.limit,
      offset: data.offset,
    })),
    COMMENT_SEARCH: read("Comments searched", ({ data }) => comments.search(data)),
    COMMENT_CREATE: write("Comment created", ({ data }, by) => ({
      comment: comments.create(data, participantOf(by).userId),
    })),
    COMMENT_POST: write("Comment created", ({ data }) => ({ comment: comments.create(data, data.userId) })),
    COMMENT_UPDATE: write("Comment updated", ({ data }, by) => ({
      comment: comments.updateText(data.commentId, data.text, authorOf(by)),
    })),
    COMMENT_EDIT: write("Comment updated", ({ data }) => ({ comment: editComment(content, data) })),
    COMMENT_RESOLVE: write("Comment updated", ({ data }, by) => ({
      comment: comments.resolve(data.commentId, data.resolved, authorOf(by)),
    })),
    COMMENT_REACT: write("Comment updated", ({ data }, by) => ({
      comment: comments.react(data.commentId, data.reaction, data.on, participantOf(by).userId),
    })),
    COMMENT_DELETE: write("Comment deleted", ({ data }, by) => ({
      comment: comments.delete(data.commentId, authorOf(by)),
    })),

    USER_FOLLOW: write("User followed", ({ data }, by) => {
      follows.follow(participantOf(by).userId, data.userId);
      return {};
    }),
    USER_UNFOLLOW: write("User unfollowed", ({ data }, by) => {
      follows.unfollow(participantOf(by).userId, data.userId);
      return {};
    }),

    USERS_ONLINE: read("Users online retrieved", ({ data }) => {
      const { users, next } = sessions.onlineUsers.page(data.limit, data.after);
      return JsonText.of({ users, next });
    }),
    USERS_SEEN: read("Users found", ({ data }) => findSeen(sessions, data)),
    PRESENCE_GET: read("Presence retrieved", () => JsonText.of({ presence: presence.states() })),
    PARTICIPANT_REMOVE: passing("Participant removed", ({ data }) => ({
      data: {},
      effects: restParticipants.end(data.userId),
    })),
    PRESENCE_UPDATE: passing("Presence updated", ({ data }, by) => ({
      data: {},
      effects: presence.update(participantOf(by), data),
    })),
    PRESENCE_SUBSCRIBE: passing("Subscription changed", ({ data }, by) => ({
      data: {},
      effects: presence.subscribe(participantOf(by), data),
    })),
    BROADCAST: passing("Broadcast sent", ({ requestId, data }, by) =>
      broadcasts.send(data, { requestId, sender: senderOf(by), socketId: by.connection?.id ?? null }),
    ),
  };
}

/** The organization edits text and resolution together. */
function editComment(
  { comments }: RoomContent,
  { commentId, text, resolved }: Extract<OrganizationRequest, { type: "COMMENT_EDIT" }>["data"],
) {
  const edited = text === undefined ? null : comments.updateText(commentId, text, null);
  return resolved === undefined && edited !== null
    ? edited
    : comments.resolve(commentId, resolved ?? false, null);
}
