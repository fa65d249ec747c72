/** The room: frames and occurrences in, effects out. It never waits and knows nothing of the platform. */
import type { Change } from "../delivery/room-command.ts";
import { presentRoom, type RoomFigures } from "../rooms/schema.ts";
import type { RoomRow } from "../rooms/table.ts";
import { type Attendance, presentUser, type UserRecord } from "../users/schema.ts";
import { Admissions } from "./join/join-handshake.ts";
import { Members, send } from "./participants/participants.ts";
import { parseFrame, type ReadableFrame } from "./protocol/frame.ts";
import * as protocol from "./protocol/protocol.ts";
import { CLOSE } from "./protocol/protocol.ts";
import { type Outcome, type RequestPorts, Requests, type RoomRequest } from "./requests.ts";
import type { RoomRecord, StoredSession } from "./storage/storage.ts";
import type { Joined, Waiting } from "./transport/connections.ts";
import {
  afterHibernation,
  findOverdue,
  needsSaving,
  type Overdue,
  planAlarm,
} from "./transport/deadlines.ts";
import { type Effect, type Inquiry, refusal, type Verdict } from "./transport/effects.ts";
import { spend } from "./transport/rate-limit.ts";

/** What the room needs of the world. */
export interface RoomPorts extends RequestPorts {
  /** When the socket's latest ping was answered without the room hearing of it (epoch ms); null for never. */
  lastPingAt(id: string): number | null;
}

/** What the database has on the room or its users; null where it could not be read. */
export type Sight =
  | { readonly room: RoomRow }
  | { readonly users: readonly UserRecord[]; readonly total: number };

const TOKEN_EXPIRED = refusal("Auth", "UNAUTHORIZED", "The token has expired", true);
const USER_DELETED = refusal("Auth", "UNAUTHORIZED", "The user was deleted", true);
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
  readonly #members: Members;
  readonly #requests: Requests;
  readonly #admissions: Admissions;

  constructor(ports: RoomPorts) {
    this.#ports = ports;
    this.#members = new Members(ports.storage, {
      now: () => ports.now(),
      newId: () => ports.newId(),
    });
    this.#requests = new Requests(ports, this.#members);
    this.#admissions = new Admissions(ports, this.#members, this.#requests);
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
      if (awake.phase === "joined") this.#members.presence.restore(awake);
    }
    const effects = this.#members.heal();
    return this.#members.sessions.hasEvents ? [...effects, { type: "announce" }] : effects;
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
    const heard = connection.phase === "joined" ? spend(connection, this.#ports.now()) : connection;
    if (heard === null) return this.#members.dismiss([id], CLOSE.flooding, "too many messages");
    const frame = parseFrame(data);
    if (frame.kind === "tooLarge") return this.#members.dismiss([id], CLOSE.frameTooLarge, "frame too large");
    if (heard.phase !== "joined") return this.#admissions.greet(heard, frame);
    return [...this.#hear(heard), ...this.#answer(id, frame)];
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

  #answer(id: string, frame: ReadableFrame): Effect[] {
    if (frame.kind === "fault") return [send([id], protocol.failure(frame.fault, frame.requestId))];
    const { message } = frame;
    switch (message.type) {
      case "JOIN_ROOM":
        return [send([id], protocol.failure(JOINED_ALREADY, message.requestId))];
      case "LEAVE_ROOM":
        return [
          send([id], protocol.success("Room left", {}, message.requestId)),
          ...this.#members.dismiss([id], CLOSE.left, "left"),
        ];
      case "ROOM_GET":
      case "USERS_GET":
        return [{ type: "look", id, inquiry: message }];
      case "MARK":
        return [{ type: "noteRead", id, mark: message.data.mark }];
      default:
        return this.#fulfil(id, message);
    }
  }

  #fulfil(id: string, request: RoomRequest): Effect[] {
    const connection = this.#members.connections.get(id);
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
  ask(roomId: string, request: RoomRequest): Outcome {
    return this.#requests.handle(request, { roomId, role: "editor", connection: null });
  }

  /** The answer to a `look` effect: null when the database failed. */
  show(id: string, { requestId }: Inquiry, sight: Sight | null): Effect[] {
    if (this.#members.connections.get(id)?.phase !== "joined") return [];
    if (sight === null) return [send([id], protocol.failure(UNSEEN, requestId))];
    if ("room" in sight) {
      const room = presentRoom(sight.room, this.#ports.now(), this.figures);
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

  /** The answer to an `admit` effect. */
  join(id: string, verdict: Verdict): Effect[] {
    return this.#admissions.join(id, verdict);
  }

  /** A socket was closed by the other side, or broke. */
  close(id: string): Effect[] {
    return this.#members.drop([id]);
  }

  /** A socket reads more slowly than the room speaks. */
  cutOff(id: string): Effect[] {
    return this.#members.dismiss([id], CLOSE.readerTooSlow, "reader too slow");
  }

  /** Tells of presence what has changed since it was last told. */
  flush(): Effect[] {
    return this.#members.presence.flush();
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

  /** A room that nobody has used yet keeps no changes: nobody has missed any. */
  get #isUsed(): boolean {
    return this.record !== null || this.#requests.changes.lastSeq > 0;
  }

  /** Carries out a change that was made over REST. Doing so twice does no harm. */
  apply(change: Change): Effect[] {
    switch (change.type) {
      case "room.closed":
        this.#members.sessions.close();
        return this.#members.dismissAll(CLOSE.forbidden, "room closed");
      case "room.deleted":
        return this.#members.dismissAll(CLOSE.roomDeleted, "room deleted");
      case "user.deleted":
        this.#admissions.question();
        return this.#deleteUser(change.userId);
      case "user.created":
        return this.#isUsed ? [{ type: "refreshUser", userId: change.userId, event: "userCreated" }] : [];
      case "user.updated":
        this.#admissions.question();
        return this.#isUsed ? [{ type: "refreshUser", userId: change.userId, event: "userUpdated" }] : [];
      case "room.updated":
        return this.#isUsed ? [{ type: "refreshRoom" }] : [];
    }
  }

  /** Removes everything, once the events of a deleted room have been handed over. */
  clear(): Effect[] {
    const effects = this.#members.dismissAll(CLOSE.roomDeleted, "room deleted");
    this.#members.sessions.clear();
    this.#requests.changes.forget();
    return effects;
  }

  #deleteUser(userId: string): Effect[] {
    const tabs = this.#members.connections.tabsOf(userId);
    const effects = this.#members.dismissFor(tabs, USER_DELETED);
    if (!this.#isUsed) return effects;
    this.#requests.changes.transaction(() => {
      this.#members.sessions.forget(userId);
      this.#ports.storage.follows.deleteUser(userId);
      this.#requests.changes.appendOnce("userDeleted", userId, { userId });
    });
    return [...effects, ...this.#requests.tellChanges()];
  }

  /** The answer to a `refreshUser` effect: members see the user as it is now. */
  updateUser(user: UserRecord, event: "userCreated" | "userUpdated"): Effect[] {
    const presented = presentUser(user, this.attendance([user.id])[user.id]);
    this.#requests.changes.transaction(() => {
      this.#members.sessions.update(user);
      const data = { userId: user.id, user: presented };
      if (event === "userCreated") this.#requests.changes.appendOnce(event, user.id, data);
      else this.#requests.changes.append(event, () => data);
    });
    return this.#requests.tellChanges();
  }

  /** Notes the room's row as the database has it now. */
  know(row: RoomRow): void {
    this.#members.sessions.know(row);
  }

  /** The answer to a `refreshRoom` effect. */
  updateRoom(row: RoomRow): Effect[] {
    this.know(row);
    const room = presentRoom(row, this.#ports.now(), this.figures);
    this.#requests.changes.transaction(() => this.#requests.changes.append("roomUpdated", () => ({ room })));
    return this.#requests.tellChanges();
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
