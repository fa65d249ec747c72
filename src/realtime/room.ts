/** The room: frames and occurrences in, effects out. It never waits and knows nothing of the platform. */
import type { Change } from "../events/event.ts";
import { presentRoom, type RoomFigures } from "../rooms/schema.ts";
import { type Attendance, presentUser, type Role, type UserRecord } from "../users/schema.ts";
import type { Admitting, Joined, JoinRequest, Waiting } from "./connections.ts";
import { afterHibernation, findOverdue, needsSaving, type Overdue, planAlarm } from "./deadlines.ts";
import { type Admission, type Effect, type Refusal, refusal, type Verdict } from "./effects.ts";
import { Members, presentOnline, send } from "./members.ts";
import * as protocol from "./protocol.ts";
import { CLOSE } from "./protocol.ts";
import type { OpenSession, RoomRecord, RoomStorage, StoredSession } from "./storage.ts";

/** What the room needs of the world. */
export interface RoomPorts {
  readonly storage: RoomStorage;
  now(): number;
  newId(): string;
  /** When the socket's latest ping was answered without the room hearing of it (epoch ms); null for never. */
  lastPingAt(id: string): number | null;
}

const TOKEN_EXPIRED = refusal("Auth", "UNAUTHORIZED", "The token has expired", true);
const USER_DELETED = refusal("Auth", "UNAUTHORIZED", "The user was deleted", true);
const TOO_MANY_SOCKETS = refusal(
  "Rooms",
  "CONFLICT",
  `A user can have ${protocol.MAX_SOCKETS_PER_USER} connections at most`,
);
const JOINED_ALREADY = {
  module: "Rooms",
  code: "BAD_REQUEST",
  message: "This connection has joined already",
} as const;

const lowerRole = (a: Role, b: Role): Role => (a === "viewer" || b === "viewer" ? "viewer" : "editor");

export class Room {
  readonly #ports: RoomPorts;
  readonly #members: Members;

  constructor(ports: RoomPorts) {
    this.#ports = ports;
    this.#members = new Members(ports.storage, () => ports.now());
  }

  /** Null until somebody joins for the first time. */
  get record(): RoomRecord | null {
    return this.#members.sessions.record;
  }

  get figures(): RoomFigures {
    return this.#members.sessions.figures;
  }

  /** By user id, for those of `userIds` who ever joined. */
  attendance(userIds: readonly string[]): Record<string, Attendance> {
    return this.#members.sessions.findAttendance(userIds);
  }

  /** A user's sessions, newest first. */
  sessions(userId: string): StoredSession[] {
    return this.#members.sessions.list(userId);
  }

  /** Takes up the sockets that outlived hibernation. Sessions whose sockets did not are ended. */
  restore(connections: Iterable<Waiting | Joined>): Effect[] {
    for (const connection of connections) {
      const awake =
        connection.phase === "joined" ? this.#withPings(afterHibernation(connection)) : connection;
      this.#members.connections.put(awake);
    }
    return this.#members.heal();
  }

  /** A socket has connected. */
  open(id: string): Effect[] {
    if (this.#members.connections.waitingCount >= protocol.MAX_WAITING_SOCKETS) {
      return this.#members.dismiss([id], CLOSE.tooManySockets, "too many connections are waiting to join");
    }
    const connection: Waiting = { phase: "waiting", id, openedAt: this.#ports.now() };
    this.#members.connections.put(connection);
    return [{ type: "attach", connection }];
  }

  /** A socket has sent something. Those that the room has closed already are not listened to. */
  receive(id: string, data: string | ArrayBuffer): Effect[] {
    const connection = this.#members.connections.get(id);
    if (connection === undefined) return [];
    const frame = protocol.parseFrame(data);
    if (frame.kind === "tooLarge") return this.#members.dismiss([id], CLOSE.frameTooLarge, "frame too large");
    if (connection.phase === "joined") return [...this.#hear(connection), ...this.#answer(id, frame)];
    return this.#greet(connection, frame);
  }

  /** Before joining, one valid `JOIN_ROOM` is all that is listened to. */
  #greet(connection: Waiting | Admitting, frame: protocol.ReadableFrame): Effect[] {
    const { id, phase } = connection;
    if (phase === "waiting" && frame.kind === "message" && frame.message.type === "JOIN_ROOM") {
      const { data, requestId } = frame.message;
      return this.#askAdmission(connection, { ...data, requestId });
    }
    const tried = phase === "waiting" && frame.kind === "fault" && frame.attempted === "JOIN_ROOM";
    return [
      ...(tried ? [send([id], protocol.failure(frame.fault, frame.requestId))] : []),
      ...this.#members.dismiss([id], CLOSE.protocolBroken, "expected one valid JOIN_ROOM"),
    ];
  }

  #askAdmission({ id, openedAt }: Waiting | Admitting, request: JoinRequest): Effect[] {
    this.#members.connections.put({ phase: "admitting", id, openedAt, request, stale: false });
    return [{ type: "admit", id, request }];
  }

  /** Notes a sign of life: in memory each time, with the socket now and then. */
  #hear(connection: Joined): Effect[] {
    const heard: Joined = { ...connection, heardAt: this.#ports.now() };
    if (!needsSaving(heard)) {
      this.#members.connections.refresh(heard);
      return [];
    }
    const saved: Joined = { ...heard, savedHeardAt: heard.heardAt };
    this.#members.connections.refresh(saved);
    return [{ type: "attach", connection: saved }];
  }

  #answer(id: string, frame: protocol.ReadableFrame): Effect[] {
    if (frame.kind === "fault") return [send([id], protocol.failure(frame.fault, frame.requestId))];
    const { type, requestId } = frame.message;
    switch (type) {
      case "JOIN_ROOM":
        return [send([id], protocol.failure(JOINED_ALREADY, requestId))];
      case "LEAVE_ROOM":
        return [
          send([id], protocol.success("Room left", {}, requestId)),
          ...this.#members.dismiss([id], CLOSE.left, "left"),
        ];
    }
  }

  /** The answer to an `admit` effect. The socket may be gone by now, or the answer out of date. */
  join(id: string, verdict: Verdict): Effect[] {
    const connection = this.#members.connections.get(id);
    if (connection?.phase !== "admitting") return [];
    if (!verdict.admitted) return this.#refuse(connection, verdict);
    if (connection.stale) return this.#askAdmission(connection, connection.request);
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
    const known = this.#members.sessions.get(user.id);
    const session: OpenSession = known ?? { id: this.#ports.newId(), joinedAt: now, user };
    if (known === undefined)
      this.#members.sessions.start({ accountId: room.accountId, roomId: room.id }, session);
    const role = lowerRole(request.role, user.role);
    const heard = { heardAt: now, savedHeardAt: now };
    const connection: Joined = { phase: "joined", id, userId: user.id, role, tokenExpiresAt, ...heard };
    this.#members.connections.put(connection);
    const answer: protocol.JoinedRoom = {
      room: presentRoom(room, now, this.figures),
      user: presentOnline(session),
      role,
      sessionId: session.id,
      users: this.#members.sessions.open().map(presentOnline),
    };
    return [
      { type: "attach", connection },
      send([id], protocol.success("Room joined", answer, request.requestId)),
      ...(known === undefined ? this.#members.tell("userJoined", answer.user, user.id) : []),
    ];
  }

  /** A socket was closed by the other side, or broke. */
  close(id: string): Effect[] {
    return this.#members.drop([id]);
  }

  /** Closes the sockets whose time is up, and notes that the room runs. */
  sweep(): Effect[] {
    const overdue = this.#findOverdue();
    const effects = [
      ...this.#members.dismiss(overdue.joinTimeout, CLOSE.joinTimeout, "no JOIN_ROOM in time"),
      ...this.#members.dismiss(overdue.silent, CLOSE.silent, `silent for ${protocol.SILENCE_MS / 1000} s`),
      ...this.#members.dismissFor(overdue.tokenExpired, TOKEN_EXPIRED),
    ];
    this.#members.sessions.beat(this.#ports.now());
    return effects;
  }

  #findOverdue(): Record<Overdue, string[]> {
    const overdue: Record<Overdue, string[]> = { joinTimeout: [], silent: [], tokenExpired: [] };
    for (const connection of this.#members.connections.all()) {
      const heard = connection.phase === "joined" ? this.#withPings(connection) : connection;
      if (heard.phase === "joined") this.#members.connections.refresh(heard);
      const reason = findOverdue(heard, this.#ports.now());
      if (reason !== null) overdue[reason].push(heard.id);
    }
    return overdue;
  }

  #withPings(connection: Joined): Joined {
    const pingedAt = this.#ports.lastPingAt(connection.id) ?? 0;
    return pingedAt > connection.heardAt ? { ...connection, heardAt: pingedAt } : connection;
  }

  /** Sets sessions and counter to the users who really have a live socket. */
  reconcile(): { readonly previous: number; readonly effects: Effect[] } {
    const previous = this.#ports.storage.readRecord()?.activeParticipants ?? 0;
    return { previous, effects: [...this.#members.heal(), ...this.sweep()] };
  }

  /** Carries out a change that was made over REST. Doing so twice does no harm. */
  apply(change: Change): Effect[] {
    switch (change.type) {
      case "room.closed":
        return this.#members.dismissAll(CLOSE.forbidden, "room closed");
      case "room.deleted": {
        const effects = this.#members.dismissAll(CLOSE.roomDeleted, "room deleted");
        this.#members.sessions.clear();
        return effects;
      }
      case "user.deleted": {
        this.#questionAdmissions();
        const tabs = this.#members.connections.tabsOf(change.userId);
        const effects = this.#members.dismissFor(tabs, USER_DELETED);
        this.#members.sessions.forget(change.userId);
        return effects;
      }
      case "user.updated":
        this.#questionAdmissions();
        return this.#members.connections.joinedIds().length === 0
          ? []
          : [{ type: "refresh", userId: change.userId }];
    }
  }

  /** The answer to a `refresh` effect: members see the user as it is now. */
  update(user: UserRecord): Effect[] {
    this.#members.sessions.update(user);
    return this.#members.tell("userUpdated", presentUser(user, this.attendance([user.id])[user.id]));
  }

  /** What the database said of those being admitted may be older than a change: it will be asked again. */
  #questionAdmissions(): void {
    for (const connection of [...this.#members.connections.all()]) {
      if (connection.phase === "admitting") this.#members.connections.put({ ...connection, stale: true });
    }
  }

  /** The database's copy of the figures has reached `version`. */
  figuresCopied(version: number): void {
    this.#members.sessions.copied(version);
  }

  /** When to sweep next, given when the figures' copy is due; null when nothing will be. */
  planAlarm(copyDueAt: number | null): number | null {
    return planAlarm(this.#ports.now(), this.#members.connections.all(), copyDueAt);
  }
}
