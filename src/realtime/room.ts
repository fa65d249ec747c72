/** The room: frames and other inputs in, effects out. Synchronous and pure: it knows nothing of the platform. */
import { presentRoom } from "../rooms/schema.ts";
import { presentUser } from "../users/schema.ts";
import { ORGANIZATION } from "./content/changes.ts";
import { type ContentPorts, openContent, type RoomContent } from "./content/content.ts";
import type { JoinDecision } from "./join/join-decision.ts";
import { JoinHandshake } from "./join/join-handshake.ts";
import { TokenRefresh } from "./join/token-refresh.ts";
import { Pacing } from "./pacing.ts";
import { type CloseReason, Participants } from "./participants/participants.ts";
import type { Attendance, RoomStats, StoredSession } from "./port/snapshots.ts";
import { failure, INTERNAL_FAULT, parseFrame, type ReadableFrame, success } from "./protocol/frame.ts";
import type { ClientMessage } from "./protocol/messages.ts";
import { CLOSE, type Fault, type Response, SILENCE_MS } from "./protocol/protocol.ts";
import type { DatabaseQuery, QueryResult, RoomRequest } from "./protocol/room-request.ts";
import { type RequestOutcome, type RequestPorts, Requests } from "./requests.ts";
import { RoomUpdates } from "./room-updates.ts";
import type { RoomIdentity, RoomRecord, RoomStorage } from "./storage/storage.ts";
import { type Joined, LAST_SEEN_GRANULARITY_MS, type Waiting } from "./transport/connection.ts";
import { send } from "./transport/connections.ts";
import { findOverdue, type Overdue, planAlarm } from "./transport/deadlines.ts";
import type { Effect } from "./transport/effects.ts";

/** What the room needs from its host. */
interface RoomPorts extends RequestPorts, ContentPorts {
  readonly storage: RoomStorage;
  now(): number;
  newId(): string;
  roomId(): string;
  /** When the runtime last answered the socket's ping, which does not reach the room (epoch ms); null if never. */
  lastPingAt(id: string): number | null;
  /** Milliseconds until the socket may be sent another large answer; null when its client has to read first. */
  answerableIn(id: string): number | null;
}

const TOKEN_EXPIRED: CloseReason = {
  code: "UNAUTHORIZED",
  message: "The token has expired",
  authFailed: true,
};
const ALREADY_JOINED: Fault = {
  module: "Rooms",
  code: "BAD_REQUEST",
  message: "This connection has already joined",
};

const TOO_MANY_WAIT = "too many connections are waiting to join";
const TOO_MUCH: Fault = {
  module: "Rooms",
  code: "RATE_LIMITED",
  message: "Too much is being asked of the room at once; wait for some answers, then send this again",
};
const NO_SUCH_USER: Fault = { module: "Users", code: "NOT_FOUND", message: "User not found" };
const ROOM_DELETED: Fault = { module: "Rooms", code: "NOT_FOUND", message: "Room not found" };

const deliveryOf = ({ type }: RoomRequest, userId: string): Effect => ({
  type: "countDelivery",
  userId,
  isBroadcast: type === "BROADCAST",
});

/** Frequent messages whose success is confirmed only if they have a request id. */
const isUnconfirmed = ({ type, requestId }: RoomRequest): boolean =>
  requestId === undefined && (type === "PRESENCE_UPDATE" || type === "BROADCAST");

export class Room {
  readonly #ports: RoomPorts;
  readonly #participants: Participants;
  readonly #content: RoomContent;
  readonly #requests: Requests;
  readonly #handshake: JoinHandshake;
  readonly #tokenRefresh: TokenRefresh;
  readonly #pacing: Pacing;
  #hasCheckedFollows = false;
  /** What REST changes. */
  readonly updates: RoomUpdates;

  constructor(ports: RoomPorts) {
    this.#ports = ports;
    this.#participants = new Participants(ports);
    this.#content = openContent(ports);
    this.#requests = new Requests(ports, this.#participants, this.#content);
    this.#pacing = new Pacing(ports, this.#participants.connections);
    this.#handshake = new JoinHandshake(ports, this.#participants, this.#content);
    this.#tokenRefresh = new TokenRefresh(this.#participants.connections);
    this.updates = new RoomUpdates(ports, this.#participants, this.#content, this.#handshake);
  }

  /** Null until the first join. */
  get record(): RoomRecord | null {
    return this.#participants.sessions.record;
  }

  /** Which room this is, from its record. */
  get identity(): RoomIdentity | null {
    return this.record && { accountId: this.record.accountId, roomId: this.record.roomId };
  }

  get stats(): RoomStats {
    return this.#participants.sessions.stats;
  }

  /** By user id, for those of `userIds` who have ever joined. */
  attendance(userIds: readonly string[]): Record<string, Attendance> {
    return this.#participants.sessions.findAttendance(userIds);
  }

  /** A user's sessions, newest first. */
  sessions(userId: string): StoredSession[] {
    return this.#participants.sessions.list(userId);
  }

  /** Restores the sockets that survived hibernation, and ends the sessions of those that did not. */
  restore(connections: Iterable<Waiting | Joined>): Effect[] {
    for (const connection of connections) {
      const restored = connection.phase === "joined" ? this.#restoreLastSeen(connection) : connection;
      this.#participants.connections.put(restored);
      if (restored.phase === "joined") this.#participants.presence.restore(restored);
    }
    const effects = this.#participants.recover();
    const hasEvents = this.#ports.storage.events.list(1).length > 0;
    return hasEvents ? [...effects, { type: "drainOutbox" }] : effects;
  }

  /** A socket has connected, from this address. When too many wait to join, one that has sent nothing gives way. */
  open(id: string, address: string): Effect[] {
    const leaving = this.#participants.connections.waiting.giveWayTo(address);
    if (leaving === "none") return this.#participants.disconnect([id], CLOSE.tooManySockets, TOO_MANY_WAIT);
    const connection: Waiting = { phase: "waiting", id, openedAt: this.#ports.now(), address };
    this.#participants.connections.put(connection);
    return [
      { type: "attach", connection },
      ...(leaving === null
        ? []
        : this.#participants.disconnect([leaving], CLOSE.tooManySockets, TOO_MANY_WAIT)),
    ];
  }

  /** A socket has sent a frame. Frames from sockets that the room has closed are ignored. */
  receive(id: string, data: string | ArrayBuffer): Effect[] {
    const { connections } = this.#participants;
    const connection = connections.get(id);
    if (connection === undefined) return [];
    const size = typeof data === "string" ? data.length : data.byteLength;
    if (connection.phase === "joined" && !this.#pacing.countFrame(connection, size))
      return this.#disconnectFlooding(id);
    const frame = parseFrame(data);
    if (frame.kind === "tooLarge")
      return this.#participants.disconnect([id], CLOSE.frameTooLarge, "frame too large");
    if (connection.phase !== "joined") return this.#handshake.receive(connection, frame);
    const seen = connections.recordSeen(connection, this.#ports.now());
    return [...seen, ...this.#handle(connection, frame, size)];
  }

  #disconnectFlooding(id: string): Effect[] {
    return this.#participants.disconnect([id], CLOSE.flooding, "too many messages");
  }

  #handle(connection: Joined, frame: ReadableFrame, size: number): Effect[] {
    const { id } = connection;
    if (frame.kind === "fault") return [send([id], failure(frame.fault, frame.requestId))];
    switch (this.#pacing.admit(connection, frame.message, size)) {
      case "run":
        return this.#run(id, frame.message);
      case "wait":
        return this.#resumeSoon();
      case "refuse":
        return [send([id], failure(TOO_MUCH, frame.message.requestId))];
      case "close":
        return this.#disconnectFlooding(id);
    }
  }

  /** Runs the next message that waits, if its user can afford it by now. */
  resume(): Effect[] {
    const next = this.#pacing.next();
    return [...(next === null ? [] : this.#run(next.id, next.message)), ...this.#resumeSoon()];
  }

  #resumeSoon(): Effect[] {
    const ms = this.#pacing.nextIn();
    return ms === null ? [] : [{ type: "resumeIn", ms }];
  }

  /** Counts what was sent for a user, or for the organization: as points (`costs`). */
  countDelivery(userId: string, points: number, isBroadcast: boolean): void {
    this.#pacing.countDelivery(userId, points, isBroadcast);
  }

  #run(id: string, message: ClientMessage): Effect[] {
    switch (message.type) {
      case "JOIN_ROOM":
        return [send([id], failure(ALREADY_JOINED, message.requestId))];
      case "LEAVE_ROOM":
        return [
          send([id], success("Room left", {}, message.requestId)),
          ...this.#participants.disconnect([id], CLOSE.left, "left"),
        ];
      case "TOKEN_REFRESH":
        return this.#tokenRefresh.receive(id, message);
      case "ROOM_GET":
      case "USERS_GET":
        return this.#queryDatabase(id, message);
      case "USER_FOLLOW":
      case "USER_UNFOLLOW": // in the order in which the user sent them
        return this.#hasJoined(message.data.userId)
          ? this.#handleRequest(id, message)
          : this.#queryDatabase(id, message);
      case "MARK":
        return [{ type: "acknowledgeRead", id, mark: message.data.mark }, ...this.#resumeSoon()];
      default:
        return this.#handleRequest(id, message);
    }
  }

  #hasJoined(userId: string): boolean {
    return this.attendance([userId])[userId] !== undefined;
  }

  #queryDatabase(id: string, query: DatabaseQuery): Effect[] {
    const connection = this.#participants.connections.get(id);
    if (connection?.phase !== "joined") return [];
    return [{ type: "queryDatabase", id, userId: connection.userId, query }];
  }

  #handleRequest(id: string, request: RoomRequest): Effect[] {
    const connection = this.#participants.connections.get(id);
    if (connection?.phase !== "joined") return [];
    const { role, userId } = connection;
    const { response, effects } = this.#requests.handle(request, { role, userId, connection });
    const answer = response.success && isUnconfirmed(request) ? [] : [send([id], response)];
    return [...effects, ...answer, deliveryOf(request, userId)];
  }

  /** Handles a request that came over REST: of the organization or, with `userId`, of an editor. */
  request(request: RoomRequest, userId: string | null = null): RequestOutcome {
    if (this.updates.isDeleted) return { response: failure(ROOM_DELETED, request.requestId), effects: [] };
    const sender = userId ?? ORGANIZATION;
    if (request.type === "BROADCAST" && !this.#pacing.canBroadcast(sender))
      return { response: failure(TOO_MUCH, request.requestId), effects: [] };
    const { response, effects } = this.#requests.handle(request, {
      role: "editor",
      userId,
      connection: null,
    });
    return { response, effects: [...effects, deliveryOf(request, sender)] };
  }

  /** False once a socket is gone: nothing has to be read for it. */
  isOpen(id: string): boolean {
    return this.#participants.connections.get(id) !== undefined;
  }

  /** Completes a `queryDatabase` effect, unless the socket is gone. */
  answerQuery(
    { id, userId, query }: Omit<Extract<Effect, { type: "queryDatabase" }>, "type">,
    result: QueryResult | "failed" | "refused",
  ): Effect[] {
    if (!this.isOpen(id)) return [];
    if (typeof result === "object" && "userExists" in result)
      return this.#answerFollow(id, query, result.userExists);
    const counted: Effect = { type: "countDelivery", userId, isBroadcast: false };
    return [send([id], this.#answerOf(result, query.requestId)), counted];
  }

  #answerOf(
    result: Exclude<QueryResult, { readonly userExists: boolean }> | "failed" | "refused",
    requestId: string | undefined,
  ): Response {
    if (result === "failed") return failure(INTERNAL_FAULT, requestId);
    if (result === "refused") return failure(TOO_MUCH, requestId);
    if ("room" in result) {
      const room = presentRoom(result.room, this.#ports.now(), this.stats);
      return success("Room retrieved", { room }, requestId);
    }
    const attendance = this.attendance(result.users.map((user) => user.id));
    const data = {
      users: result.users.map((user) => presentUser(user, attendance[user.id])),
      total: result.total,
      follows: this.#content.follows.of(result.users.map((user) => user.id)),
      seq: this.#content.changes.lastSeq,
    };
    return success("Users retrieved", data, requestId);
  }

  /** The user may have been deleted since the database was read; a user who does not exist can be unfollowed. */
  #answerFollow(id: string, query: DatabaseQuery, userExists: boolean): Effect[] {
    if (query.type !== "USER_FOLLOW" && query.type !== "USER_UNFOLLOW") return [];
    const isGone = !userExists || this.#content.changes.hasHappened("userDeleted", query.data.userId);
    if (isGone && query.type === "USER_FOLLOW") return [send([id], failure(NO_SUCH_USER, query.requestId))];
    return this.#handleRequest(id, query);
  }

  /** Completes an `authorizeJoin` effect. */
  join(id: string, decision: JoinDecision): Effect[] {
    const effects = this.#handshake.complete(id, decision);
    return decision.approved ? [...effects, ...this.#checkFollows()] : effects;
  }

  /** Once after it has started, the room checks that the users exist whom it has never seen and who are followed. */
  #checkFollows(): Effect[] {
    if (this.#hasCheckedFollows) return [];
    this.#hasCheckedFollows = true;
    const followed = [...this.#content.follows.allFollowed()];
    const known = this.attendance(followed);
    const userIds = followed.filter((userId) => known[userId] === undefined);
    return userIds.length === 0 ? [] : [{ type: "checkUsers", userIds }];
  }

  /** Completes an `authorizeRefresh` effect. */
  refreshToken(id: string, decision: JoinDecision, requestId: string | undefined): Effect[] {
    return this.#tokenRefresh.complete(id, decision, requestId);
  }

  /** A socket was closed by its client, or broke. */
  close(id: string): Effect[] {
    return this.#participants.remove([id]);
  }

  /** Closes a socket whose client reads more slowly than the room sends. */
  disconnectSlowReader(id: string): Effect[] {
    return this.#participants.disconnect([id], CLOSE.readerTooSlow, "reader too slow");
  }

  /** Closes sockets that the service has failed: their clients connect again, and miss nothing. */
  disconnectFailed(ids: readonly string[]): Effect[] {
    return this.#participants.disconnect(ids, CLOSE.failed, "the server failed");
  }

  /** Sends the presence that has changed since the last flush. */
  flush(): Effect[] {
    return this.#participants.presence.flush();
  }

  /** Closes the sockets that have missed a deadline, and records that the room is running. */
  sweep(): Effect[] {
    const { joinTimeout, silent, tokenExpired } = this.#findOverdue();
    const silence = `silent for ${SILENCE_MS / 1000} s`;
    const effects = [
      ...this.#participants.disconnect(joinTimeout, CLOSE.joinTimeout, "no JOIN_ROOM in time"),
      ...this.#participants.disconnect(silent, CLOSE.silent, silence),
      ...this.#participants.disconnectFor(tokenExpired, TOKEN_EXPIRED),
    ];
    this.#participants.sessions.recordAlive(this.#ports.now());
    return effects;
  }

  #findOverdue(): Record<Overdue, string[]> {
    const overdue: Record<Overdue, string[]> = { joinTimeout: [], silent: [], tokenExpired: [] };
    const { connections } = this.#participants;
    for (const connection of connections.all()) {
      const current = connection.phase === "joined" ? this.#withPings(connection) : connection;
      if (current.phase === "joined") connections.update(current);
      const reason = findOverdue(current, this.#ports.now());
      if (reason !== null) overdue[reason].push(current.id);
    }
    return overdue;
  }

  /** The socket may have been seen until shortly before its attachment was due for a rewrite. */
  #restoreLastSeen(connection: Joined): Joined {
    const lastSeenAt = connection.savedLastSeenAt + LAST_SEEN_GRANULARITY_MS;
    return this.#withPings({ ...connection, lastSeenAt });
  }

  #withPings(connection: Joined): Joined {
    const pingedAt = this.#ports.lastPingAt(connection.id) ?? 0;
    return pingedAt > connection.lastSeenAt ? { ...connection, lastSeenAt: pingedAt } : connection;
  }

  /** Makes sessions and stats match the live sockets. */
  reconcile(): { readonly previous: number; readonly effects: Effect[] } {
    const previous = this.#ports.storage.readRecord()?.activeParticipants ?? 0;
    return { previous, effects: [...this.#participants.recover(), ...this.sweep()] };
  }

  /** The database has the stats of `version`. */
  statsProjected(version: number): void {
    this.#participants.sessions.markProjected(version);
  }

  /** When to call {@link sweep} next (epoch ms); null without sockets. */
  sweepAt(): number | null {
    return planAlarm(this.#ports.now(), this.#participants.connections.all());
  }
}
