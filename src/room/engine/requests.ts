/** Handles the requests of participants and the organization: one transaction each, and one response. */

import { AppError, notFound } from "../../platform/errors.ts";
import type { Comment } from "../../wire/comment.ts";
import type { EventCause } from "../../wire/events.ts";
import { mayWrite, missing, READS_ONLY, type Resource, type Rights } from "../../wire/permissions.ts";
import type { Addressees, Author, Reader } from "../../wire/thread.ts";
import { failure, INTERNAL_FAULT, JsonText, success } from "../protocol/frame.ts";
import { commentDataForGuest } from "../protocol/guest-view.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { CommentCreation, StoreOperation } from "../protocol/messages.ts";
import type { Fault, Response } from "../protocol/protocol.ts";
import type { OrganizationRequest, RoomRequest } from "../protocol/room-request.ts";
import type { Effect, Joined } from "../transport/connection.ts";
import type { RoomPorts } from "../transport/room-ports.ts";
import { Broadcasts } from "./broadcasts.ts";
import { ORGANIZATION } from "./content/changes.ts";
import type { RoomContent } from "./content/content.ts";
import type { Downloads } from "./downloads.ts";
import { findSeen, onlinePage } from "./participants/online-users.ts";
import type { Participants } from "./participants/participants.ts";
import type { RestParticipants } from "./participants/rest-participants.ts";

/** A user, over a joined socket or over REST, or the organization, itself or by a workflow's run. */
export interface Requester {
  readonly rights: Rights;
  /** Null for the organization. */
  readonly userId: string | null;
  /** Null over REST. */
  readonly connection: Joined | null;
  /** The run that makes the request; null for anyone else. */
  readonly cause: EventCause | null;
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

/** Handles the requests of one type. */
interface Handler<Request extends RoomRequest> {
  /** The `description` of a successful response. */
  readonly description: string;
  /** True if the request can make lasting changes: it runs in a transaction, once per request ID. */
  readonly isLasting: boolean;
  handle(request: Request, by: Requester): Result;
}

type Handlers = { readonly [Type in RoomRequest["type"]]: Handler<RequestOf<Type>> };

/** Requests whose success is an event for subscribers. */
const REPORTED: ReadonlySet<string> = new Set([
  "COMMENT_CREATE",
  "COMMENT_POST",
  "COMMENT_UPDATE",
  "COMMENT_EDIT",
  "COMMENT_RESOLVE",
  "COMMENT_DELETE",
  "THREAD_RESOLVE",
  "THREAD_DELETE",
] satisfies RoomRequest["type"][]);
export const isReported = ({ type }: RoomRequest): boolean => REPORTED.has(type);

const isOfComments = ({ type }: RoomRequest): boolean => type.startsWith("COMMENT");

/** The parts of the room that requests use. */
interface RequestParts {
  readonly ports: Pick<RoomPorts, "report">;
  readonly participants: Participants;
  readonly restParticipants: RestParticipants;
  readonly content: RoomContent;
  readonly downloads: Downloads;
}

/** The resource that a message writes; others only read. */
const WRITTEN: Readonly<Partial<Record<RoomRequest["type"], Resource>>> = {
  PRESENCE_UPDATE: "presence",
  BROADCAST: "broadcasts",
  STORE_SET: "stores",
  STORE_UPDATE: "stores",
  STORE_DELETE: "stores",
  STORE_BATCH: "stores",
  COMMENT_CREATE: "comments",
  COMMENT_UPDATE: "comments",
  COMMENT_DELETE: "comments",
  COMMENT_RESOLVE: "comments",
  COMMENT_REACT: "comments",
  TEXT_MENTION_CREATE: "documents",
  TEXT_MENTION_DELETE: "documents",
};

/** True for a change of what the room keeps of its sender: whom it follows, and what it is notified of. */
const changesSettings = (request: RoomRequest): boolean =>
  ["THREAD_SUBSCRIBE", "USER_FOLLOW", "USER_UNFOLLOW"].includes(request.type) ||
  (request.type === "SUBSCRIPTION_SETTINGS" && Object.keys(request.data).length > 0);

function requireRight(request: RoomRequest, { rights, connection }: Requester): void {
  const resource = WRITTEN[request.type];
  if (resource !== undefined && !mayWrite(rights, resource)) throw missing("Rooms", resource);
  if (connection?.readsOnly && changesSettings(request)) throw new AppError("Rooms", "FORBIDDEN", READS_ONLY);
}

/** The request without those whom the room has erased since the database was read for it. NOT_FOUND in the name of one. */
function withoutErased(request: RoomRequest, erased: ReadonlySet<string>): RoomRequest {
  if (erased.size === 0) return request;
  const isLeft = ({ subject, userId }: Reader) => !erased.has(subject) && !erased.has(userId ?? subject);
  const isByErased =
    ("reader" in request && request.reader !== undefined && !isLeft(request.reader)) ||
    (request.type === "COMMENT_POST" && erased.has(request.data.userId));
  if (isByErased) throw notFound("Users", "User");
  if (!("addressees" in request) || request.addressees === undefined) return request;
  const { readers, others = [] } = request.addressees;
  const addressees = {
    ...request.addressees,
    readers: readers.filter(isLeft),
    others: others.filter(isLeft),
  };
  const { data } = request;
  const mentions =
    "mentions" in data
      ? data.mentions?.filter((each) => !erased.has(typeof each === "string" ? each : each.id))
      : undefined;
  return {
    ...request,
    addressees,
    data: mentions === undefined ? data : { ...data, mentions },
  } as RoomRequest;
}

export class Requests {
  readonly #room: RequestParts;
  readonly #handlers: Handlers;

  constructor(room: RequestParts) {
    this.#room = room;
    this.#handlers = createHandlers(room);
  }

  /** Handles a request completely or not at all. Never throws. */
  handle(request: RoomRequest, by: Requester): RequestOutcome {
    const { participants, content } = this.#room;
    const handler: Handler<RoomRequest> = this.#handlers[request.type];
    content.cause = by.cause;
    try {
      requireRight(request, by);
      const { data, effects = [] } = this.#run(handler, request, by);
      const changes = participants.connections.sendToAll(content.changes.takeEvents());
      const shown = by.connection?.isGuest && isOfComments(request) ? commentDataForGuest(data) : data;
      const response = success(handler.description, shown, request.requestId);
      return { response, effects: [...changes, ...effects] };
    } catch (error) {
      return { response: failure(this.#faultOf(request, error), request.requestId), effects: [] };
    } finally {
      content.cause = null;
    }
  }

  #run(handler: Handler<RoomRequest>, request: RoomRequest, by: Requester): Result {
    const { changes, erased } = this.#room.content;
    // In the work: the receipt knows the request as it was sent, so that a repetition finds it.
    const handle = () => handler.handle(withoutErased(request, erased), by);
    // A repeated run repeats its requests: none has an effect twice, not even a broadcast.
    const isOfRun = by.cause !== null && request.requestId !== undefined;
    if (!isOfRun && !handler.isLasting) return handle();
    let effects: readonly Effect[] = [];
    const work = () => {
      const result = handle();
      effects = result.effects ?? [];
      return result.data;
    };
    const sender = isOfRun ? `workflow:${by.cause?.workflowId}` : senderOf(by);
    const data = changes.once(sender, request, work, isOfRun ? "always" : "ifChanged");
    return { data, effects };
  }

  #faultOf({ type }: RoomRequest, error: unknown): Fault {
    if (error instanceof AppError) return { module: error.module, code: error.code, message: error.message };
    this.#room.ports.report(`A ${type} request failed`, error);
    return INTERNAL_FAULT;
  }
}

/** The sender whose receipts a request is looked up in. */
const senderOf = ({ userId }: Requester): string => userId ?? ORGANIZATION;

/** The connection of a request that is about its sender. */
function participantOf({ connection }: Requester): Joined {
  if (connection === null)
    throw new AppError("Rooms", "BAD_REQUEST", "Only participants can make this request");
  return connection;
}

/** A request that stores nothing. */
const passing = <Request extends RoomRequest>(
  description: string,
  handle: (request: Request, by: Requester) => Result,
): Handler<Request> => ({ description, isLasting: false, handle });

/** A request that reads stored content. */
const read = <Request extends RoomRequest>(
  description: string,
  dataOf: (request: Request) => object,
): Handler<Request> => passing(description, (request) => ({ data: dataOf(request) }));

/** A request that changes stored content. */
const write = <Request extends RoomRequest>(
  description: string,
  dataOf: (request: Request, by: Requester) => object,
): Handler<Request> => ({
  description,
  isLasting: true,
  handle: (request, by) => ({ data: dataOf(request, by) }),
});

/** A request about presence: its answer has no data. */
const act = <Request extends RoomRequest>(
  description: string,
  effectsOf: (request: Request, by: Requester) => readonly Effect[],
): Handler<Request> => passing(description, (request, by) => ({ data: {}, effects: effectsOf(request, by) }));

function createHandlers({ participants, restParticipants, content, downloads }: RequestParts): Handlers {
  const { presence, connections, sessions } = participants;
  const { stores, comments, threads, follows } = content;
  const broadcasts = new Broadcasts(connections);
  const apply = (
    { type, data }: RequestOf<"STORE_SET" | "STORE_UPDATE" | "STORE_DELETE">,
    { userId }: Requester,
  ) => stores.apply({ type, ...data } as StoreOperation, userId);
  return {
    STORE_LIST: read("Stores retrieved", () => ({ stores: stores.list() })),
    STORE_SYNC: passing("Store retrieved", ({ data }, { connection }) => {
      const { store, download: isWanted, lines } = data;
      const download =
        isWanted === true && connection !== null ? downloads.open(store, connection, lines) : null;
      if (download === null) return { data: stores.page(data) };
      const lineBytes = lines === true ? LIMITS.minLineBytes : undefined;
      return { data: { entries: {}, seq: content.changes.lastSeq, download, lineBytes } };
    }),
    STORE_GET: read("Entry retrieved", ({ data }) => stores.get(data.store, data.key)),
    STORE_SET: write("Entry set", apply),
    STORE_UPDATE: write("Entry updated", apply),
    STORE_DELETE: write("Entry deleted", apply),
    STORE_BATCH: write("Operations applied", ({ data }, by) => stores.applyAll(data, by.userId)),

    COMMENT_LIST: read("Comments retrieved", ({ data }) => ({
      ...comments.list(data),
      limit: data.limit,
      offset: data.offset,
    })),
    COMMENT_SEARCH: read("Comments searched", ({ data }) => comments.search(data)),
    COMMENTS_GET: read("Comments retrieved", ({ data }) => ({ comments: comments.find(data.commentIds) })),
    COMMENT_CREATE: write("Comment created", ({ data, addressees }, by) =>
      createComment(content, data, readerOf(participantOf(by)), addressees),
    ),
    COMMENT_POST: write("Comment created", ({ data, addressees }) =>
      createComment(
        content,
        data,
        { subject: addressees?.author ?? data.userId, userId: data.userId },
        addressees,
      ),
    ),
    COMMENT_UPDATE: write("Comment updated", ({ data, addressees = NO_ADDRESSEES }, by) =>
      withUnnotified(comments.edit(data.commentId, data, by.userId, addressees), addressees),
    ),
    COMMENT_EDIT: write("Comment updated", ({ data, addressees }) => editComment(content, data, addressees)),
    COMMENT_RESOLVE: write("Comment updated", ({ data }, by) => ({
      comment: comments.resolve(data.commentId, data.resolved, by.userId),
    })),
    COMMENT_REACT: write("Comment updated", ({ data }, by) => ({
      comment: comments.react(data.commentId, data.reaction, data.on, participantOf(by).userId),
    })),
    COMMENT_DELETE: write("Comment deleted", ({ data }, by) => ({
      comment: comments.delete(data.commentId, by.userId),
    })),

    TEXT_MENTION_CREATE: write("Mention created", ({ data, addressees = NO_ADDRESSEES }, by) => {
      if (addressees.readers.length === 0) return { unnotified: [data.userId] };
      threads.mentionInText(data, addressees, readerOf(by.connection));
      return {};
    }),
    TEXT_MENTION_DELETE: write("Mention deleted", ({ data, addressees }) => {
      // The version before does not look up readers who may not read the room any more.
      const { readers = [], others = [{ subject: data.userId, userId: null }] } = addressees ?? {};
      const [reader] = [...readers, ...others];
      if (reader !== undefined) threads.unmentionInText(data.mentionId, reader);
      return {};
    }),

    THREAD_LIST: passing("Threads retrieved", ({ data, reader }, by) => ({
      data: {
        ...threads.list(data, reader ?? readerOf(by.connection)),
        limit: data.limit,
        offset: data.offset,
      },
    })),
    THREAD_GET: passing("Thread retrieved", ({ data, reader }, by) => ({
      data: { thread: threads.get(data.threadId, reader ?? readerOf(by.connection)) },
    })),
    THREAD_PARTICIPANTS: read("Participants retrieved", ({ data }) => ({
      participants: threads.participants(data.threadId),
    })),
    THREAD_SUBSCRIBE: write("Subscription changed", ({ data, reader }, by) => ({
      thread: threads.subscribe(data.threadId, reader ?? readerOf(participantOf(by)), data.on),
    })),
    THREAD_READ: write("Thread read", ({ data, reader }, by) => ({
      thread: threads.read(data.threadId, reader ?? readerOf(participantOf(by)), data.seq),
    })),
    THREAD_RESOLVE: write("Thread updated", ({ data }) => ({
      thread: comments.resolveThread(data.threadId, data.resolved),
    })),
    THREAD_DELETE: write("Thread deleted", ({ data }) => ({ thread: comments.deleteThread(data.threadId) })),
    SUBSCRIPTION_SETTINGS: write("Settings retrieved", ({ data, reader }, by) => ({
      settings: threads.updateSettings(reader ?? readerOf(participantOf(by)), data),
    })),

    USER_FOLLOW: write("User followed", ({ data }, by) => {
      follows.follow(participantOf(by).userId, data.userId);
      return {};
    }),
    USER_UNFOLLOW: write("User unfollowed", ({ data }, by) => {
      follows.unfollow(participantOf(by).userId, data.userId);
      return {};
    }),

    USERS_ONLINE: read("Users online retrieved", ({ data }) =>
      onlinePage(sessions.open(), data.limit, data.after),
    ),
    USERS_SEEN: read("Users found", ({ data }) => findSeen(sessions, data)),
    IDENTITY_ONLINE: read("Identity looked up", ({ data }) => ({
      online: connections.ofIdentities(data.identityId).length > 0,
    })),
    PRESENCE_GET: read("Presence retrieved", () => JsonText.of({ presence: presence.states() })),
    PARTICIPANT_REMOVE: act("Participant removed", ({ data }) => restParticipants.remove(data.userId)),
    PRESENCE_UPDATE: act("Presence updated", ({ data }, by) => presence.update(participantOf(by), data)),
    PRESENCE_SUBSCRIBE: act("Subscription changed", ({ data }, by) =>
      presence.subscribe(participantOf(by), data),
    ),
    BROADCAST: passing("Broadcast sent", ({ requestId, data }, by) =>
      broadcasts.send(data, { requestId, sender: senderOf(by), socketId: by.connection?.id ?? null }),
    ),
  };
}

function readerOf(connection: Joined): Author;
function readerOf(connection: Joined | null): Author | null;
function readerOf(connection: Joined | null) {
  return connection && { subject: connection.identityId ?? connection.userId, userId: connection.userId };
}

const NO_ADDRESSEES: Addressees = { readers: [], groups: [], unnotified: [] };

/** `unnotified` is absent when everyone who is mentioned may read the comment. */
const withUnnotified = (comment: Comment, { unnotified }: Addressees) =>
  unnotified.length === 0 ? { comment } : { comment, unnotified };

const createComment = (
  { comments }: RoomContent,
  data: CommentCreation,
  author: Author,
  addressees = NO_ADDRESSEES,
) => withUnnotified(comments.create(data, author, addressees), addressees);

/** The organization edits text, mentions and resolution together. */
function editComment(
  { comments }: RoomContent,
  { commentId, resolved, ...content }: Extract<OrganizationRequest, { type: "COMMENT_EDIT" }>["data"],
  addressees = NO_ADDRESSEES,
) {
  const isEdited = Object.values(content).some((field) => field !== undefined);
  const edited = isEdited ? comments.edit(commentId, content, null, addressees) : null;
  const comment =
    edited !== null && resolved === undefined ? edited : comments.resolve(commentId, resolved ?? false, null);
  return withUnnotified(comment, addressees);
}
