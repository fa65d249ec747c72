/** Joins sockets: each sends one JOIN_ROOM, the database authorizes it, and the socket receives the room's state. */

import { LIMITS } from "@atrium/contract/limits.ts";
import type { MessageOf } from "@atrium/contract/operations/room.ts";
import { onlyRead, permissionsOf, rightsOfRole, roleOf } from "@atrium/contract/resources/permissions.ts";
import { presentRoom } from "@atrium/contract/resources/room.ts";
import { presentUser, type UserRecord } from "@atrium/contract/resources/user.ts";
import { failure, JsonText, success } from "../../protocol/frame.ts";
import type { ReadableFrame } from "../../protocol/frame-parser.ts";
import { changesForGuest } from "../../protocol/guest-view.ts";
import { CLOSE, type Fault, type JoinedRoom } from "../../protocol/protocol.ts";
import type { OpenSession } from "../../storage/storage.ts";
import type { Authorizing, Effect, Joined, JoinRequest, Waiting } from "../../transport/connection.ts";
import { send } from "../../transport/connections.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";
import type { RoomContent } from "../content/content.ts";
import { allOnline, firstOnlinePage, presentOnline } from "../participants/online-users.ts";
import type { Participants } from "../participants/participants.ts";
import {
  type JoinApproval,
  type JoinDecision,
  type JoinRefusal,
  joinRefusal,
  standingOf,
} from "./join-decision.ts";

const TOO_MANY_SOCKETS = joinRefusal(
  "Rooms",
  "CONFLICT",
  `A user can have at most ${LIMITS.socketsPerUser} connections to a room`,
);

/** {@link JoinedRoom} with presence and changes as JSON. */
type Joining = Omit<JoinedRoom, "next" | "presence" | "changes"> & {
  readonly next?: JoinedRoom["next"] | undefined;
  readonly presence: JsonText;
  readonly changes?: JsonText;
};

export class JoinHandshake {
  readonly #ports: RoomPorts;
  readonly #participants: Participants;
  readonly #content: RoomContent;
  /** The sockets whose next token is being verified. */
  readonly #refreshing = new Set<string>();

  constructor(ports: RoomPorts, participants: Participants, content: RoomContent) {
    this.#ports = ports;
    this.#participants = participants;
    this.#content = content;
  }

  /** Handles a frame from a socket that has not joined: it may send one valid `JOIN_ROOM`, and nothing else. */
  receive(connection: Waiting | Authorizing, frame: ReadableFrame): Effect[] {
    const { id, phase } = connection;
    if (phase === "waiting" && frame.kind === "message" && frame.message.type === "JOIN_ROOM") {
      const { data, requestId } = frame.message;
      return this.#authorize(connection, { ...data, requestId });
    }
    const isFaultyJoin = phase === "waiting" && frame.kind === "fault" && frame.attempted === "JOIN_ROOM";
    return [
      ...(isFaultyJoin ? [send([id], failure(frame.fault, frame.requestId))] : []),
      ...this.#participants.disconnect([id], CLOSE.protocolBroken, "expected one valid JOIN_ROOM"),
    ];
  }

  /** Begins to join a socket whose client sends its token otherwise than by JOIN_ROOM. */
  begin(connection: Waiting, token: string): Effect[] {
    const request = { token, role: "editor", batch: false, requestId: undefined } as const;
    return this.#authorize(connection, { ...request, usersLimit: 1 }); // the client receives no answer
  }

  #authorize({ id, openedAt, address, documents }: Waiting | Authorizing, request: JoinRequest): Effect[] {
    this.#participants.connections.put({
      phase: "authorizing",
      id,
      openedAt,
      address,
      request,
      stale: false,
      ...(documents && { documents }),
    });
    return [{ type: "authorizeJoin", id, request }];
  }

  /** A user has changed: decisions in progress may be based on older data, and are made again. */
  markStale(): void {
    for (const connection of [...this.#participants.connections.all()]) {
      if (connection.phase === "authorizing")
        this.#participants.connections.put({ ...connection, stale: true });
    }
  }

  /** The token of a joining socket is valid: it takes no place among the waiting ones. */
  verified(id: string): void {
    const { connections } = this.#participants;
    const connection = connections.get(id);
    if (connection?.phase === "authorizing") connections.put({ ...connection, isVerified: true });
  }

  /** Completes an `authorizeJoin` effect. The socket may be gone by now, or the decision out of date. */
  complete(id: string, decision: JoinDecision): Effect[] {
    const { connections } = this.#participants;
    const connection = connections.get(id);
    if (connection?.phase !== "authorizing") return [];
    if (!decision.approved) return this.#refuse(connection, decision);
    if (connection.stale) return this.#authorize(connection, connection.request);
    const { id: userId } = decision.user;
    const open = decision.watches ? connections.watchersOf(userId) : connections.idsOf(userId).length;
    if (open + this.#ports.closingOf(userId) >= LIMITS.socketsPerUser)
      return this.#refuse(connection, TOO_MANY_SOCKETS);
    return this.#join(connection, decision);
  }

  #refuse({ id, request }: Authorizing, refusal: JoinRefusal): Effect[] {
    const { module, code, message } = refusal;
    const response = failure({ module, code, message }, request.requestId);
    return [send([id], response), ...this.#participants.disconnectFor([id], refusal)];
  }

  #join({ id, request, documents }: Authorizing, approval: JoinApproval): Effect[] {
    const { room, user, tokenExpiresAt, tokenEpochs, identityId, isGuest, watches, byCustomId } = approval;
    const ceiling = rightsOfRole(request.role) & approval.ceiling;
    const now = this.#ports.now();
    const { sessions, connections } = this.#participants;
    // Read first: a failure after the start of the session would show others a leave without a join.
    const content = {
      follows: this.#content.follows.shownTo(user.id),
      epoch: this.#content.changes.epoch,
      seq: this.#content.changes.lastSeq,
      ...this.#missedChanges(request, approval),
    };
    const running = sessions.get(user.id);
    const isNews = identityId !== undefined && running === undefined && this.#isUnknown(user);
    const standing = standingOfAdmitted(approval);
    const session: OpenSession = running ?? { id: this.#ports.newId(), joinedAt: now, user, standing };
    sessions.recordStanding(user.id, standing);
    const isBack = sessions.gracePeriods.end(user.id);
    if (isNews) this.#recordCreation(user);
    const isFirst = running === undefined && !watches;
    if (isFirst) sessions.start(room, session);
    const connection: Joined = {
      phase: "joined",
      id,
      userId: user.id,
      rights: ceiling & approval.rights,
      ceiling,
      ...(identityId !== undefined && { identityId }),
      ...(isGuest && { isGuest }),
      ...(watches && { watches }),
      ...(onlyRead(approval.ceiling) && { readsOnly: true }),
      ...(byCustomId && { byCustomId }),
      tokenExpiresAt,
      ...(tokenEpochs && { tokenEpochs }),
      lastSeenAt: now,
      savedLastSeenAt: now,
      batch: request.batch,
      subscriptions: [],
      presence: null,
      ...(documents && { documents }),
    };
    connections.put(connection);
    const inherited = isBack ? this.#participants.presence.inherit(connection) : [];
    const joined = {
      room: presentRoom(room, now, sessions.stats),
      user: presentOnline(session),
      role: roleOf(connection.rights),
      permissions: permissionsOf(connection.rights),
      sessionId: session.id,
      ...this.#online(watches ? null : session, request),
      presence: this.#participants.presence.states(LIMITS.joinPresenceBytes),
      ...content,
    } satisfies Joining;
    return [
      { type: "attach", connection },
      send([id], success("Room joined", JsonText.of(joined), request.requestId)),
      ...(isNews ? connections.sendToAll(this.#content.changes.takeEvents()) : []),
      ...(isFirst ? this.#participants.notifyJoined(joined.user) : []),
      ...inherited,
    ];
  }

  /** True for a user whom no participant has met. A room that has never been used tells no one. */
  #isUnknown({ id }: UserRecord): boolean {
    const { sessions } = this.#participants;
    return sessions.record !== null && sessions.findLastSeen([id])[id] === undefined;
  }

  /** The first join of an identity has created its user, also if an object was lost in between. */
  #recordCreation(user: UserRecord): void {
    const { changes } = this.#content;
    const data = { userId: user.id, user: presentUser(user) };
    changes.transaction(() => changes.appendOnce("userCreated", user.id, data));
  }

  /** A joined socket has sent `TOKEN_REFRESH`: one token at a time is verified. */
  refreshToken(id: string, { data, requestId }: MessageOf<"TOKEN_REFRESH">): Effect[] {
    if (this.#refreshing.has(id)) return [send([id], failure(IN_PROGRESS, requestId))];
    this.#refreshing.add(id);
    return [{ type: "authorizeRefresh", id, token: data.token, requestId }];
  }

  /** Completes an `authorizeRefresh` effect. The socket may be gone by now. */
  completeRefresh(id: string, decision: JoinDecision, requestId: string | undefined): Effect[] {
    this.#refreshing.delete(id);
    const { connections } = this.#participants;
    const connection = connections.get(id);
    if (connection?.phase !== "joined") return [];
    const next = nextToken(connection, decision);
    if ("refusal" in next) return [send([id], failure(next.refusal, requestId))];
    connections.update(next.connection);
    const expiresAt = new Date(next.connection.tokenExpiresAt).toISOString();
    return [
      { type: "attach", connection: next.connection },
      { type: "planAlarm" }, // the token may end sooner than the one before
      send([id], success("Token refreshed", { expiresAt }, requestId)),
    ];
  }

  /** Clients of earlier versions know no pages: they receive everyone. */
  #online(own: OpenSession | null, { usersLimit }: JoinRequest): Pick<Joining, "users" | "next"> {
    const online = this.#participants.sessions.open();
    return usersLimit === undefined ? { users: allOnline(online) } : firstOnlinePage(online, usersLimit, own);
  }

  #missedChanges(
    { since, epoch }: JoinRequest,
    { isGuest = false }: JoinApproval,
  ): Pick<Joining, "changes" | "reset"> {
    if (since === undefined) return {};
    const changes = this.#content.changes.since(since, epoch);
    if (changes === null) return { reset: true };
    return { changes: isGuest ? changesForGuest(changes) : changes };
  }
}

/** A token that opens the room is of the current epochs. */
const standingOfAdmitted = ({ rights, identityId, isGuest = false, tokenEpochs }: JoinApproval) =>
  standingOf({
    rights,
    isGuest,
    subject: {
      tokenEpoch: tokenEpochs?.user ?? 0,
      identityId: identityId ?? null,
      identityEpoch: identityId === undefined ? null : (tokenEpochs?.identity ?? 0),
    },
  });

const refusal = (code: "FORBIDDEN" | "CONFLICT", message: string): Fault => ({
  module: "Auth",
  code,
  message,
});

const ANOTHER_USER = refusal("FORBIDDEN", "token: must be of this connection's user");
const LOWER_ROLE = refusal("FORBIDDEN", "token: allows less than this connection may do; join again");
const IN_PROGRESS = refusal("CONFLICT", "Another token of this connection is being verified");

/** The connection with its next token, or the refusal. */
type NextToken = { readonly connection: Joined } | { readonly refusal: Fault };

export function nextToken(connection: Joined, decision: JoinDecision): NextToken {
  if (!decision.approved) return { refusal: decision };
  if (decision.user.id !== connection.userId) return { refusal: ANOTHER_USER };
  if ((decision.ceiling & connection.rights) !== connection.rights) return { refusal: LOWER_ROLE };
  return { connection: withToken(connection, decision) };
}

function withToken(
  { tokenEpochs: _, byCustomId: __, readsOnly: ___, ...connection }: Joined,
  { ceiling, tokenExpiresAt, tokenEpochs, byCustomId }: JoinApproval,
): Joined {
  return {
    ...connection,
    ...(byCustomId && { byCustomId }),
    ...(onlyRead(ceiling) && { readsOnly: true }),
    ceiling: ceiling & connection.ceiling,
    tokenExpiresAt,
    ...(tokenEpochs && { tokenEpochs }),
  };
}
