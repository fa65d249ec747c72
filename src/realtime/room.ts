/** The room: frames and occurrences in, effects out. It never waits and knows nothing of the platform. */
import type { RoomCommand } from "../delivery/room-command.ts";
import { presentRoom, type RoomStats } from "../rooms/schema.ts";
import type { RoomRow } from "../rooms/table.ts";
import { type Attendance, presentUser, type UserRecord } from "../users/schema.ts";
import { JoinHandshake } from "./join/join-handshake.ts";
import { Participants, send } from "./participants/participants.ts";
import { parseFrame, type ReadableFrame } from "./protocol/frame.ts";
import * as protocol from "./protocol/protocol.ts";
import { CLOSE } from "./protocol/protocol.ts";
import { type RequestOutcome, type RequestPorts, Requests, type RoomRequest } from "./requests.ts";
import type { RoomRecord, StoredSession } from "./storage/storage.ts";
import type { Joined, Waiting } from "./transport/connections.ts";
import {
  afterHibernation,
  findOverdue,
  needsSaving,
  type Overdue,
  planAlarm,
} from "./transport/deadlines.ts";
import { type DatabaseQuery, type Effect, type JoinDecision, joinRefusal } from "./transport/effects.ts";
import { takeToken } from "./transport/rate-limit.ts";

/** What the room needs of the world. */
export interface RoomPorts extends RequestPorts {
  /** When the socket's latest ping was answered without the room hearing of it (epoch ms); null for never. */
  lastPingAt(id: string): number | null;
}

/** What the database has on the room or its users; null where it could not be read. */
export type QueryResult =
  | { readonly room: RoomRow }
  | { readonly users: readonly UserRecord[]; readonly total: number };

const TOKEN_EXPIRED = joinRefusal("Auth", "UNAUTHORIZED", "The token has expired", true);
const USER_DELETED = joinRefusal("Auth", "UNAUTHORIZED", "The user was deleted", true);
const JOINED_ALREADY = {
  module: "Rooms",
  code: "BAD_REQUEST",
  message: "This connection has joined already",
} as const;
const UNSEEN = {
  module: "Server",
  code: "INTERNAL_ERROR",
  message: "Something went wrong on our side",
} as const;

/** Answered only when asked to, or when they fail: nobody waits for them. */
const isQuiet = ({ type, requestId }: RoomRequest): boolean =>
  requestId === undefined && (type === "PRESENCE_UPDATE" || type === "BROADCAST");

export class Room {
  readonly #ports: RoomPorts;
  readonly #participants: Participants;
  readonly #requests: Requests;
  readonly #handshake: JoinHandshake;

  constructor(ports: RoomPorts) {
    this.#ports = ports;
    this.#participants = new Participants(ports.storage, {
      now: () => ports.now(),
      newId: () => ports.newId(),
    });
    this.#requests = new Requests(ports, this.#participants);
    this.#handshake = new JoinHandshake(ports, this.#participants, this.#requests);
  }

  /** Null until somebody joins for the first time. */
  get record(): RoomRecord | null {
    return this.#participants.sessions.record;
  }

  get stats(): RoomStats {
    return this.#participants.sessions.stats;
  }

  /** By user id, for those of `userIds` who ever joined. */
  attendance(userIds: readonly string[]): Record<string, Attendance> {
    return this.#participants.sessions.findAttendance(userIds);
  }

  /** A user's sessions, newest first. */
  sessions(userId: string): StoredSession[] {
    return this.#participants.sessions.list(userId);
  }

  /** Takes up the sockets that outlived hibernation. Sessions whose sockets did not are ended. */
  restore(connections: Iterable<Waiting | Joined>): Effect[] {
    for (const connection of connections) {
      const awake =
        connection.phase === "joined" ? this.#withPings(afterHibernation(connection)) : connection;
      this.#participants.connections.put(awake);
      if (awake.phase === "joined") this.#participants.presence.restore(awake);
    }
    const effects = this.#participants.recover();
    return this.#participants.sessions.hasEvents ? [...effects, { type: "drainOutbox" }] : effects;
  }

  /** A socket has connected. */
  open(id: string): Effect[] {
    if (this.#participants.connections.waitingCount >= protocol.MAX_WAITING_SOCKETS) {
      return this.#participants.disconnect(
        [id],
        CLOSE.tooManySockets,
        "too many connections are waiting to join",
      );
    }
    const connection: Waiting = { phase: "waiting", id, openedAt: this.#ports.now() };
    this.#participants.connections.put(connection);
    return [{ type: "attach", connection }];
  }

  /** A socket has sent something. Those that the room has closed already are not listened to. */
  receive(id: string, data: string | ArrayBuffer): Effect[] {
    const connection = this.#participants.connections.get(id);
    if (connection === undefined) return [];
    const heard = connection.phase === "joined" ? takeToken(connection, this.#ports.now()) : connection;
    if (heard === null) return this.#participants.disconnect([id], CLOSE.flooding, "too many messages");
    const frame = parseFrame(data);
    if (frame.kind === "tooLarge")
      return this.#participants.disconnect([id], CLOSE.frameTooLarge, "frame too large");
    if (heard.phase !== "joined") return this.#handshake.receive(heard, frame);
    return [...this.#hear(heard), ...this.#answer(id, frame)];
  }

  /** Notes a sign of life: in memory each time, with the socket now and then. */
  #hear(connection: Joined): Effect[] {
    const heard: Joined = { ...connection, heardAt: this.#ports.now() };
    if (!needsSaving(heard)) {
      this.#participants.connections.refresh(heard);
      return [];
    }
    const saved: Joined = { ...heard, savedHeardAt: heard.heardAt };
    this.#participants.connections.refresh(saved);
    return [{ type: "attach", connection: saved }];
  }

  #answer(id: string, frame: ReadableFrame): Effect[] {
    if (frame.kind === "fault") return [send([id], protocol.failure(frame.fault, frame.requestId))];
    const { message } = frame;
    switch (message.type) {
      case "JOIN_ROOM":
        return [send([id], protocol.failure(JOINED_ALREADY, message.requestId))];
      case "LEAVE_ROOM":
        return [
          send([id], protocol.success("Room left", {}, message.requestId)),
          ...this.#participants.disconnect([id], CLOSE.left, "left"),
        ];
      case "ROOM_GET":
      case "USERS_GET":
        return [{ type: "queryDatabase", id, query: message }];
      case "MARK":
        return [{ type: "acknowledgeRead", id, mark: message.data.mark }];
      default:
        return this.#fulfil(id, message);
    }
  }

  #fulfil(id: string, request: RoomRequest): Effect[] {
    const connection = this.#participants.connections.get(id);
    if (connection?.phase !== "joined") return [];
    const roomId = this.record?.roomId ?? "";
    const { response, effects } = this.#requests.handle(request, {
      roomId,
      role: connection.role,
      connection,
    });
    return [...effects, ...(response.success && isQuiet(request) ? [] : [send([id], response)])];
  }

  /** Does what the organization asks. */
  request(roomId: string, request: RoomRequest): RequestOutcome {
    return this.#requests.handle(request, { roomId, role: "editor", connection: null });
  }

  /** The answer to a `queryDatabase` effect: null when the database failed. */
  answerQuery(id: string, { requestId }: DatabaseQuery, sight: QueryResult | null): Effect[] {
    if (this.#participants.connections.get(id)?.phase !== "joined") return [];
    if (sight === null) return [send([id], protocol.failure(UNSEEN, requestId))];
    if ("room" in sight) {
      const room = presentRoom(sight.room, this.#ports.now(), this.stats);
      return [send([id], protocol.success("Room retrieved", { room }, requestId))];
    }
    const attendance = this.attendance(sight.users.map((user) => user.id));
    const data = {
      users: sight.users.map((user) => presentUser(user, attendance[user.id])),
      total: sight.total,
      follows: this.#requests.follows.all(),
      seq: this.#requests.changes.lastSeq,
    };
    return [send([id], protocol.success("Users retrieved", data, requestId))];
  }

  /** The answer to an `authorizeJoin` effect. */
  join(id: string, verdict: JoinDecision): Effect[] {
    return this.#handshake.complete(id, verdict);
  }

  /** A socket was closed by the other side, or broke. */
  close(id: string): Effect[] {
    return this.#participants.drop([id]);
  }

  /** A socket reads more slowly than the room speaks. */
  disconnectSlowReader(id: string): Effect[] {
    return this.#participants.disconnect([id], CLOSE.readerTooSlow, "reader too slow");
  }

  /** Tells of presence what has changed since it was last told. */
  flush(): Effect[] {
    return this.#participants.presence.flush();
  }

  /** Closes the sockets whose time is up, and notes that the room runs. */
  sweep(): Effect[] {
    const overdue = this.#findOverdue();
    const effects = [
      ...this.#participants.disconnect(overdue.joinTimeout, CLOSE.joinTimeout, "no JOIN_ROOM in time"),
      ...this.#participants.disconnect(
        overdue.silent,
        CLOSE.silent,
        `silent for ${protocol.SILENCE_MS / 1000} s`,
      ),
      ...this.#participants.disconnectFor(overdue.tokenExpired, TOKEN_EXPIRED),
    ];
    this.#participants.sessions.recordAlive(this.#ports.now());
    return effects;
  }

  #findOverdue(): Record<Overdue, string[]> {
    const overdue: Record<Overdue, string[]> = { joinTimeout: [], silent: [], tokenExpired: [] };
    for (const connection of this.#participants.connections.all()) {
      const heard = connection.phase === "joined" ? this.#withPings(connection) : connection;
      if (heard.phase === "joined") this.#participants.connections.refresh(heard);
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
    return { previous, effects: [...this.#participants.recover(), ...this.sweep()] };
  }

  /** A room that nobody has used yet keeps no changes: nobody has missed any. */
  get #isUsed(): boolean {
    return this.record !== null || this.#requests.changes.lastSeq > 0;
  }

  /** Carries out a change that was made over REST. Doing so twice does no harm. */
  apply(change: RoomCommand): Effect[] {
    switch (change.type) {
      case "room.closed":
        this.#participants.sessions.close();
        return this.#participants.disconnectAll(CLOSE.forbidden, "room closed");
      case "room.deleted":
        return this.#participants.disconnectAll(CLOSE.roomDeleted, "room deleted");
      case "user.deleted":
        this.#handshake.markStale();
        return this.#deleteUser(change.userId);
      case "user.created":
        return this.#isUsed ? [{ type: "refreshUser", userId: change.userId, event: "userCreated" }] : [];
      case "user.updated":
        this.#handshake.markStale();
        return this.#isUsed ? [{ type: "refreshUser", userId: change.userId, event: "userUpdated" }] : [];
      case "room.updated":
        return this.#isUsed ? [{ type: "refreshRoom" }] : [];
    }
  }

  /** Removes everything, once the events of a deleted room have been handed over. */
  clear(): Effect[] {
    const effects = this.#participants.disconnectAll(CLOSE.roomDeleted, "room deleted");
    this.#participants.sessions.clear();
    this.#requests.changes.forget();
    return effects;
  }

  #deleteUser(userId: string): Effect[] {
    const tabs = this.#participants.connections.tabsOf(userId);
    const effects = this.#participants.disconnectFor(tabs, USER_DELETED);
    if (!this.#isUsed) return effects;
    this.#requests.changes.transaction(() => {
      this.#participants.sessions.deleteUser(userId);
      this.#ports.storage.follows.deleteUser(userId);
      this.#requests.changes.appendOnce("userDeleted", userId, { userId });
    });
    return [...effects, ...this.#requests.broadcastChanges()];
  }

  /** The answer to a `refreshUser` effect: members see the user as it is now. */
  updateUser(user: UserRecord, event: "userCreated" | "userUpdated"): Effect[] {
    const presented = presentUser(user, this.attendance([user.id])[user.id]);
    this.#requests.changes.transaction(() => {
      this.#participants.sessions.update(user);
      const data = { userId: user.id, user: presented };
      if (event === "userCreated") this.#requests.changes.appendOnce(event, user.id, data);
      else this.#requests.changes.append(event, () => data);
    });
    return this.#requests.broadcastChanges();
  }

  /** Notes the room's row as the database has it now. */
  recordRoom(row: RoomRow): void {
    this.#participants.sessions.updateRoom(row);
  }

  /** The answer to a `refreshRoom` effect. */
  updateRoom(row: RoomRow): Effect[] {
    this.recordRoom(row);
    const room = presentRoom(row, this.#ports.now(), this.stats);
    this.#requests.changes.transaction(() => this.#requests.changes.append("roomUpdated", () => ({ room })));
    return this.#requests.broadcastChanges();
  }

  /** The database's copy of the figures has reached `version`. */
  statsProjected(version: number): void {
    this.#participants.sessions.markProjected(version);
  }

  /** When to sweep next, given when the figures' copy is due; null when nothing will be. */
  planAlarm(copyDueAt: number | null): number | null {
    return planAlarm(this.#ports.now(), this.#participants.connections.all(), copyDueAt);
  }
}
