/** How a socket becomes a member: one JOIN_ROOM, a question to the database, and what the answer leads to. */
import { presentRoom } from "../../rooms/schema.ts";
import type { Role, User } from "../../users/schema.ts";
import { type Members, presentOnline, send } from "../participants/participants.ts";
import type { ReadableFrame } from "../protocol/frame.ts";
import * as protocol from "../protocol/protocol.ts";
import { CLOSE } from "../protocol/protocol.ts";
import type { Requests } from "../requests.ts";
import type { OpenSession } from "../storage/storage.ts";
import type { Admitting, Joined, JoinRequest, Waiting } from "../transport/connections.ts";
import { type Admission, type Effect, type Refusal, refusal, type Verdict } from "../transport/effects.ts";
import { FULL_ALLOWANCE } from "../transport/rate-limit.ts";

const TOO_MANY_SOCKETS = refusal(
  "Rooms",
  "CONFLICT",
  `A user can have ${protocol.MAX_SOCKETS_PER_USER} connections at most`,
);

const lowerRole = (a: Role, b: Role): Role => (a === "viewer" || b === "viewer" ? "viewer" : "editor");

export interface AdmissionPorts {
  now(): number;
  newId(): string;
}

export class Admissions {
  readonly #ports: AdmissionPorts;
  readonly #members: Members;
  readonly #requests: Requests;

  constructor(ports: AdmissionPorts, members: Members, requests: Requests) {
    this.#ports = ports;
    this.#members = members;
    this.#requests = requests;
  }

  /** Before joining, one valid `JOIN_ROOM` is all that is listened to. */
  greet(connection: Waiting | Admitting, frame: ReadableFrame): Effect[] {
    const { id, phase } = connection;
    if (phase === "waiting" && frame.kind === "message" && frame.message.type === "JOIN_ROOM") {
      const { data, requestId } = frame.message;
      return this.#ask(connection, { ...data, requestId });
    }
    const tried = phase === "waiting" && frame.kind === "fault" && frame.attempted === "JOIN_ROOM";
    return [
      ...(tried ? [send([id], protocol.failure(frame.fault, frame.requestId))] : []),
      ...this.#members.dismiss([id], CLOSE.protocolBroken, "expected one valid JOIN_ROOM"),
    ];
  }

  #ask({ id, openedAt }: Waiting | Admitting, request: JoinRequest): Effect[] {
    this.#members.connections.put({ phase: "admitting", id, openedAt, request, stale: false });
    return [{ type: "admit", id, request }];
  }

  /** What the database said of those being admitted may be older than a change: it will be asked again. */
  question(): void {
    for (const connection of [...this.#members.connections.all()]) {
      if (connection.phase === "admitting") this.#members.connections.put({ ...connection, stale: true });
    }
  }

  /** The answer to an `admit` effect. The socket may be gone by now, or the answer out of date. */
  join(id: string, verdict: Verdict): Effect[] {
    const connection = this.#members.connections.get(id);
    if (connection?.phase !== "admitting") return [];
    if (!verdict.admitted) return this.#refuse(connection, verdict);
    if (connection.stale) return this.#ask(connection, connection.request);
    const tabs = this.#members.connections.tabsOf(verdict.user.id).length;
    if (tabs >= protocol.MAX_SOCKETS_PER_USER) return this.#refuse(connection, TOO_MANY_SOCKETS);
    return this.#admit(connection, verdict);
  }

  #refuse({ id, request }: Admitting, verdict: Refusal): Effect[] {
    const { module, code, message } = verdict;
    const answer = protocol.failure({ module, code, message }, request.requestId);
    return [send([id], answer), ...this.#members.dismissFor([id], verdict)];
  }

  #admit({ id, request }: Admitting, { room, user, tokenExpiresAt }: Admission): Effect[] {
    const now = this.#ports.now();
    const { sessions, connections } = this.#members;
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
      allowance: FULL_ALLOWANCE,
      allowanceAt: now,
    };
    connections.put(connection);
    const answer: protocol.JoinedRoom = {
      room: presentRoom(room, now, sessions.figures),
      user: presentOnline(session),
      role: connection.role,
      sessionId: session.id,
      users: sessions.open().map(presentOnline),
      follows: this.#requests.follows.all(),
      presence: this.#members.presence.states(),
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
    return [{ type: "announce" }, ...this.#members.tell("userJoined", user, user.id)];
  }

  #missed(since: number | undefined): Pick<protocol.JoinedRoom, "changes" | "reset"> {
    if (since === undefined) return {};
    const changes = this.#requests.changes.since(since);
    return changes === null ? { reset: true } : { changes };
  }
}
