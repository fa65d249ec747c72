/** How a socket becomes a member: one JOIN_ROOM, a question to the database, and what the answer leads to. */
import { presentRoom } from "../../rooms/schema.ts";
import type { Role, User } from "../../users/schema.ts";
import { type Participants, presentOnline, send } from "../participants/participants.ts";
import type { ReadableFrame } from "../protocol/frame.ts";
import * as protocol from "../protocol/protocol.ts";
import { CLOSE } from "../protocol/protocol.ts";
import type { Requests } from "../requests.ts";
import type { OpenSession } from "../storage/storage.ts";
import type { Authorizing, Joined, JoinRequest, Waiting } from "../transport/connections.ts";
import {
  type Effect,
  type JoinApproval,
  type JoinDecision,
  type JoinRefusal,
  joinRefusal,
} from "../transport/effects.ts";
import { FULL_BUCKET } from "../transport/rate-limit.ts";

const TOO_MANY_SOCKETS = joinRefusal(
  "Rooms",
  "CONFLICT",
  `A user can have ${protocol.MAX_SOCKETS_PER_USER} connections at most`,
);

const lowerRole = (a: Role, b: Role): Role => (a === "viewer" || b === "viewer" ? "viewer" : "editor");

export interface JoinPorts {
  now(): number;
  newId(): string;
}

export class JoinHandshake {
  readonly #ports: JoinPorts;
  readonly #participants: Participants;
  readonly #requests: Requests;

  constructor(ports: JoinPorts, members: Participants, requests: Requests) {
    this.#ports = ports;
    this.#participants = members;
    this.#requests = requests;
  }

  /** Before joining, one valid `JOIN_ROOM` is all that is listened to. */
  receive(connection: Waiting | Authorizing, frame: ReadableFrame): Effect[] {
    const { id, phase } = connection;
    if (phase === "waiting" && frame.kind === "message" && frame.message.type === "JOIN_ROOM") {
      const { data, requestId } = frame.message;
      return this.#ask(connection, { ...data, requestId });
    }
    const tried = phase === "waiting" && frame.kind === "fault" && frame.attempted === "JOIN_ROOM";
    return [
      ...(tried ? [send([id], protocol.failure(frame.fault, frame.requestId))] : []),
      ...this.#participants.disconnect([id], CLOSE.protocolBroken, "expected one valid JOIN_ROOM"),
    ];
  }

  #ask({ id, openedAt }: Waiting | Authorizing, request: JoinRequest): Effect[] {
    this.#participants.connections.put({ phase: "authorizing", id, openedAt, request, stale: false });
    return [{ type: "authorizeJoin", id, request }];
  }

  /** What the database said of those being approved may be older than a change: it will be asked again. */
  markStale(): void {
    for (const connection of [...this.#participants.connections.all()]) {
      if (connection.phase === "authorizing")
        this.#participants.connections.put({ ...connection, stale: true });
    }
  }

  /** The answer to an `authorizeJoin` effect. The socket may be gone by now, or the answer out of date. */
  complete(id: string, verdict: JoinDecision): Effect[] {
    const connection = this.#participants.connections.get(id);
    if (connection?.phase !== "authorizing") return [];
    if (!verdict.approved) return this.#refuse(connection, verdict);
    if (connection.stale) return this.#ask(connection, connection.request);
    const tabs = this.#participants.connections.tabsOf(verdict.user.id).length;
    if (tabs >= protocol.MAX_SOCKETS_PER_USER) return this.#refuse(connection, TOO_MANY_SOCKETS);
    return this.#admit(connection, verdict);
  }

  #refuse({ id, request }: Authorizing, verdict: JoinRefusal): Effect[] {
    const { module, code, message } = verdict;
    const answer = protocol.failure({ module, code, message }, request.requestId);
    return [send([id], answer), ...this.#participants.disconnectFor([id], verdict)];
  }

  #admit({ id, request }: Authorizing, { room, user, tokenExpiresAt }: JoinApproval): Effect[] {
    const now = this.#ports.now();
    const { sessions, connections } = this.#participants;
    const known = sessions.get(user.id);
    const session: OpenSession = known ?? { id: this.#ports.newId(), joinedAt: now, user };
    if (known === undefined) sessions.start(room, session);
    const connection: Joined = {
      phase: "joined",
      id,
      userId: user.id,
      role: lowerRole(request.role, user.role),
      tokenExpiresAt,
      heardAt: now,
      savedHeardAt: now,
      batch: request.batch,
      subscriptions: [],
      presence: null,
      frameTokens: FULL_BUCKET,
      frameTokensAt: now,
    };
    connections.put(connection);
    const answer: protocol.JoinedRoom = {
      room: presentRoom(room, now, sessions.stats),
      user: presentOnline(session),
      role: connection.role,
      sessionId: session.id,
      users: sessions.open().map(presentOnline),
      follows: this.#requests.follows.all(),
      presence: this.#participants.presence.states(),
      seq: this.#requests.changes.lastSeq,
      ...this.#missed(request.since),
    };
    return [
      { type: "attach", connection },
      send([id], protocol.success("Room joined", answer, request.requestId)),
      ...(known === undefined ? this.#announce(answer.user) : []),
    ];
  }

  #announce(user: User): Effect[] {
    return [{ type: "drainOutbox" }, ...this.#participants.notify("userJoined", user, user.id)];
  }

  #missed(since: number | undefined): Pick<protocol.JoinedRoom, "changes" | "reset"> {
    if (since === undefined) return {};
    const changes = this.#requests.changes.since(since);
    return changes === null ? { reset: true } : { changes };
  }
}
