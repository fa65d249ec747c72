/** Handles the requests of participants and the organization: one transaction each, and one response. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import { type InputOf, type OutputOf, operationOf, rightOf } from "@atrium/contract/operations/room.ts";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import { type Rights, refusalOf } from "@atrium/contract/resources/permissions.ts";
import type { EventCause } from "@atrium/contract/resources/present-event.ts";
import type { Author, MentionRecipients, Reader, Thread } from "@atrium/contract/resources/thread.ts";
import { failure, faultOf, JsonText, success } from "../protocol/frame.ts";
import { commentDataForGuest, readersForGuest } from "../protocol/guest-view.ts";
import type { Fault, Response, ServerEvent } from "../protocol/protocol.ts";
import type { RequestOf, RoomOperation, RoomRequest } from "../protocol/room-request.ts";
import type { Effect, Joined } from "../transport/connection.ts";
import { send } from "../transport/connections.ts";
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
  /** Guests do not see which identities outside of the room are mentioned. */
  readonly isGuest: boolean;
  /** The run that makes the request; null for anyone else. */
  readonly cause: EventCause | null;
}

/** The requester, with the people of its request. */
interface By extends Requester, Pick<RoomRequest, "requestId"> {
  /** The reader for whom the request is made; for a connection, its own user. */
  readonly reader: Reader | null;
  readonly recipients: MentionRecipients;
}

export interface RequestOutcome {
  readonly response: Response;
  /** Effects to run in order before the response is sent. */
  readonly effects: readonly Effect[];
}

/** The data of an answer, with the effects of the operation. */
class Effected<Data extends object> {
  readonly data: Data;
  readonly effects: readonly Effect[];

  constructor(data: Data, effects: readonly Effect[] = []) {
    this.data = data;
    this.effects = effects;
  }
}

/** Carries out an operation, and returns the data of its answer. */
type Handler<Type extends RoomOperation> = (
  input: InputOf<Type>,
  by: By,
) => OutputOf<Type> | JsonText | Effected<OutputOf<Type> | JsonText>;
type Handlers = { readonly [Type in RoomOperation]: Handler<Type> };

type PersonalEvent = Extract<ServerEvent, { readonly event: "threadUpdated" | "settingsUpdated" }>;

const isOfComments = ({ type }: RoomRequest): boolean => type.startsWith("COMMENT");

/** The parts of the room that requests use. */
interface RequestParts {
  readonly ports: Pick<RoomPorts, "report">;
  readonly participants: Participants;
  readonly restParticipants: RestParticipants;
  readonly content: RoomContent;
  readonly downloads: Downloads;
}

const WATCHES_ONLY = new AppError("Rooms", "FORBIDDEN", "A socket that watches changes nothing in the room");

/** The right that a request lacks, whatever it is about; null if it lacks none. */
export const missingRight = (
  { type, data }: RoomRequest,
  { rights, userId, connection }: Asking,
): AppError | null =>
  refusalOf(
    rightOf(type, data),
    { isOrganization: userId === null, rights, readsOnly: connection?.readsOnly === true },
    "Rooms",
  ) ?? (connection?.watches && operationOf(type).isLasting ? WATCHES_ONLY : null);
type Asking = Pick<Requester, "rights" | "userId" | "connection">;

/** The request without those whom the room has erased since the database was read for it. NOT_FOUND in the name of one. */
function withoutErased(request: RoomRequest, erased: ReadonlySet<string>): RoomRequest {
  if (erased.size === 0) return request;
  const isLeft = ({ subject, userId }: Reader) => !erased.has(subject) && !erased.has(userId ?? subject);
  if (request.reader !== undefined && !isLeft(request.reader)) throw notFound("Users", "User");
  if (request.recipients === undefined) return request;
  const { readers, others = [], agents = [] } = request.recipients;
  const recipients = {
    ...request.recipients,
    readers: readers.filter(isLeft),
    others: others.filter(isLeft),
    agents: agents.filter(({ identityId, mention }) => !erased.has(identityId) && !erased.has(mention)),
  };
  const { data } = request;
  const mentions =
    "mentions" in data
      ? data.mentions?.filter((each) => !erased.has(typeof each === "string" ? each : each.id))
      : undefined;
  return {
    ...request,
    recipients,
    data: mentions === undefined ? data : { ...data, mentions },
  } as RoomRequest;
}

export class RoomRequests {
  readonly #room: RequestParts;
  readonly #handlers: Handlers;

  constructor(room: RequestParts) {
    this.#room = room;
    this.#handlers = createHandlers(room);
  }

  /** Handles a request completely or not at all. Never throws. */
  handle(request: RoomRequest, requester: Requester): RequestOutcome {
    const { participants, content } = this.#room;
    content.cause = requester.cause;
    try {
      const refusal = missingRight(request, requester);
      if (refusal !== null) throw refusal;
      const { data, effects } = this.#run(request, requester);
      const changes = participants.connections.sendToAll(content.changes.takeEvents());
      const shown = requester.isGuest && isOfComments(request) ? commentDataForGuest(data) : data;
      const response = success(operationOf(request.type).done, shown, request.requestId);
      return { response, effects: [...changes, ...effects] };
    } catch (error) {
      return { response: failure(this.#faultOf(request, error), request.requestId), effects: [] };
    } finally {
      content.cause = null;
    }
  }

  #run(request: RoomRequest, requester: Requester): Effected<object> {
    const { cause } = requester;
    // Erased people are removed here, within the work: the receipt keeps the original request, so that a
    // repetition finds it.
    const handle = () => this.#answer(withoutErased(request, this.#room.content.erased), requester);
    // A repeated run repeats its requests: none has an effect twice, not even a broadcast.
    const isOfRun = cause !== null && request.requestId !== undefined;
    if (!isOfRun && !operationOf(request.type).isLasting) return handle();
    let effects: readonly Effect[] = [];
    const work = () => {
      const result = handle();
      effects = result.effects;
      return result.data;
    };
    const sender = isOfRun ? `workflow:${cause.workflowId}` : senderOf(requester);
    const data = this.#room.content.changes.once(sender, request, work, isOfRun ? "always" : "ifChanged");
    return new Effected(data, effects);
  }

  #answer<Type extends RoomOperation>(request: RequestOf<Type>, requester: Requester): Effected<object> {
    const { type, data, requestId, recipients = NO_RECIPIENTS } = request;
    const reader = request.reader ?? readerOf(requester.connection);
    const handler: Handler<Type> = this.#handlers[type];
    const answer = handler(data, { ...requester, requestId, reader, recipients });
    return answer instanceof Effected ? answer : new Effected(answer);
  }

  #faultOf({ type }: RoomRequest, error: unknown): Fault {
    if (error instanceof AppError) return { module: error.module, code: error.code, message: error.message };
    this.#room.ports.report(`A ${type} request failed`, error);
    return faultOf(error);
  }
}

/** The sender whose receipts a request is looked up in. */
const senderOf = ({ userId }: Pick<Requester, "userId">): string => userId ?? ORGANIZATION;

/** The connection of a request that is about its sender. */
function participantOf({ connection }: By): Joined {
  if (connection === null) throw ofParticipants();
  return connection;
}

/** The reader of a request that is made for one. */
function ownReaderOf({ reader }: By): Reader {
  if (reader === null) throw ofParticipants();
  return reader;
}

/** The user of the room for whom a request writes. */
function authorOf({ reader }: By): Author {
  if (reader === null || reader.userId === null) throw ofParticipants();
  return { ...reader, userId: reader.userId };
}

const ofParticipants = () => new AppError("Rooms", "BAD_REQUEST", "Only participants can make this request");

function createHandlers({ participants, restParticipants, content, downloads }: RequestParts): Handlers {
  const { presence, connections, sessions } = participants;
  const { stores, comments, threads, wakes, follows } = content;
  const broadcasts = new Broadcasts(connections);
  /** Answers with a reader's own state, and sends it to all sockets of the reader. */
  const personal = <Event extends PersonalEvent>(event: Event, by: By): Effected<Event["data"]> => {
    const to = connections.idsOfReader(ownReaderOf(by));
    return new Effected(event.data, to.length === 0 ? [] : [send(to, event)]);
  };
  const threadUpdated = (thread: Thread, by: By) =>
    personal({ type: "event", event: "threadUpdated", data: { thread } }, by);
  /** Wakes mentioned agents. `unnotified` is absent when everyone who is mentioned was notified. */
  const notifying = (comment: Comment, { recipients }: Pick<By, "recipients">) => {
    const unnotified = new Set([...recipients.unnotified, ...wakes.wake(comment, recipients)]);
    return unnotified.size === 0 ? { comment } : { comment, unnotified: [...unnotified] };
  };
  return {
    STORE_LIST: () => ({ stores: [...stores.list()] }),
    STORE_SYNC: (input, { connection }) => {
      const { store, download: isWanted, lines } = input;
      const download =
        isWanted === true && connection !== null ? downloads.open(store, connection, lines) : null;
      if (download === null) return stores.page(input);
      const lineBytes = lines === true ? LIMITS.minLineBytes : undefined;
      return { entries: {}, seq: content.changes.lastSeq, download, lineBytes };
    },
    STORE_GET: ({ store, key }) => stores.get(store, key),
    STORE_SET: (input, { userId }) => stores.apply({ type: "STORE_SET", ...input }, userId),
    STORE_UPDATE: (input, { userId }) => stores.apply({ type: "STORE_UPDATE", ...input }, userId),
    STORE_DELETE: (input, { userId }) => stores.apply({ type: "STORE_DELETE", ...input }, userId),
    STORE_BATCH: (input, { userId }) => stores.applyAll(input, userId),

    COMMENT_LIST: (input) => ({ ...comments.list(input), limit: input.limit, offset: input.offset }),
    COMMENT_SEARCH: (input) => comments.search(input),
    COMMENTS_GET: ({ commentIds }) => ({ comments: comments.find(commentIds) }),
    COMMENT_CREATE: (input, by) => notifying(comments.create(input, authorOf(by), by.recipients), by),
    COMMENT_UPDATE: ({ commentId, resolved, ...fields }, by) => {
      const edit = () => notifying(comments.edit(commentId, fields, by.userId, by.recipients), by);
      if (resolved === undefined) return edit();
      const isEdit = Object.values(fields).some((field) => field !== undefined);
      const edited = isEdit ? edit() : {};
      return { ...edited, comment: comments.resolve(commentId, resolved, by.userId) };
    },
    COMMENT_RESOLVE: ({ commentId, resolved }, { userId }) => ({
      comment: comments.resolve(commentId, resolved, userId),
    }),
    COMMENT_REACT: ({ commentId, reaction, on }, by) => ({
      comment: comments.react(commentId, reaction, on, authorOf(by).userId),
    }),
    COMMENT_DELETE: ({ commentId }, { userId }) => ({ comment: comments.delete(commentId, userId) }),

    TEXT_MENTION_CREATE: (input, by) => {
      const { recipients, userId } = by;
      if (recipients.readers.length === 0) return { unnotified: [input.userId] };
      threads.mentionInText(input, recipients, userId === null ? null : authorOf(by));
      return {};
    },
    TEXT_MENTION_DELETE: ({ mentionId, userId }, { recipients: { readers, others } }) => {
      // The version before does not look up readers who may not read the room any more.
      const [reader] = [...readers, ...(others ?? [{ subject: userId, userId: null }])];
      if (reader !== undefined) threads.unmentionInText(mentionId, reader);
      return {};
    },

    THREAD_LIST: (input, { reader }) => ({
      ...threads.list(input, reader),
      limit: input.limit,
      offset: input.offset,
    }),
    THREAD_GET: ({ threadId }, { reader }) => ({ thread: threads.get(threadId, reader) }),
    THREAD_PARTICIPANTS: ({ threadId }, { isGuest }) => {
      const participants = threads.participants(threadId);
      return { participants: isGuest ? readersForGuest(participants) : participants };
    },
    THREAD_SUBSCRIBE: ({ threadId, on }, by) =>
      threadUpdated(threads.subscribe(threadId, ownReaderOf(by), on), by),
    THREAD_READ: ({ threadId, seq }, by) => threadUpdated(threads.read(threadId, ownReaderOf(by), seq), by),
    THREAD_RESOLVE: ({ threadId, resolved }, { userId }) => ({
      thread: comments.resolveThread(threadId, resolved, userId),
    }),
    THREAD_DELETE: ({ threadId }) => ({ thread: comments.deleteThread(threadId) }),
    SUBSCRIPTION_SETTINGS: (input, by) => {
      const data = { settings: threads.updateSettings(ownReaderOf(by), input) };
      const isRead = rightOf("SUBSCRIPTION_SETTINGS", input) === "read";
      return isRead ? data : personal({ type: "event", event: "settingsUpdated", data }, by);
    },

    USER_FOLLOW: ({ userId }, by) => {
      follows.follow(authorOf(by).userId, userId);
      return {};
    },
    USER_UNFOLLOW: ({ userId }, by) => {
      follows.unfollow(authorOf(by).userId, userId);
      return {};
    },

    USERS_ONLINE: ({ limit, after }) => onlinePage(sessions.open(), limit, after),
    USERS_SEEN: (input) => findSeen(sessions, input),
    IDENTITY_ONLINE: ({ identityId }) => ({ online: connections.ofIdentities(identityId).length > 0 }),
    PRESENCE_GET: () => JsonText.of({ presence: presence.states() }),
    PARTICIPANT_REMOVE: ({ userId }) => new Effected({}, restParticipants.remove(userId)),
    PRESENCE_UPDATE: (input, by) => new Effected({}, presence.update(participantOf(by), input)),
    PRESENCE_SUBSCRIBE: (input, by) => new Effected({}, presence.subscribe(participantOf(by), input)),
    BROADCAST: (input, { requestId, userId, connection }) => {
      const sender = senderOf({ userId });
      const { data, effects } = broadcasts.send(input, {
        requestId,
        sender,
        socketId: connection?.id ?? null,
      });
      return new Effected(data, effects);
    },
  };
}

const readerOf = (connection: Joined | null): Author | null =>
  connection && { subject: connection.identityId ?? connection.userId, userId: connection.userId };

const NO_RECIPIENTS: MentionRecipients = { readers: [], groups: [], unnotified: [] };
