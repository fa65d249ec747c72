/** Receives the frames of sockets, and runs their messages as fast as their users can afford. */

import { ALL_RIGHTS } from "@atrium/contract/resources/permissions.ts";
import type { DocumentSockets } from "../documents/sync/document-sockets.ts";
import type { OpenDocuments } from "../documents/sync/open-documents.ts";
import type { SocketMessage } from "../protocol/costs.ts";
import { failure, success, TOO_MUCH } from "../protocol/frame.ts";
import { parseFrame, type ReadableFrame } from "../protocol/frame-parser.ts";
import { CLOSE, type Fault, type Response } from "../protocol/protocol.ts";
import { mentionsOf, type RoomRequest } from "../protocol/room-request.ts";
import type { Connection, Effect, Joined } from "../transport/connection.ts";
import { isOfDocuments, send } from "../transport/connections.ts";
import type { RoomPorts } from "../transport/room-ports.ts";
import { ORGANIZATION } from "./content/changes.ts";
import type { DatabaseRequests } from "./database-requests.ts";
import type { JoinDecision } from "./join/join-decision.ts";
import type { JoinHandshake } from "./join/join-handshake.ts";
import type { MessageQueue } from "./message-queue.ts";
import type { Participants } from "./participants/participants.ts";
import type { Requester, RequestOutcome, RoomRequests } from "./requests.ts";

const LEAVING: SocketMessage = { type: "LEAVE_ROOM", requestId: undefined, data: {} };

const ALREADY_JOINED: Fault = {
  module: "Rooms",
  code: "BAD_REQUEST",
  message: "This connection has already joined",
};

const deliveryOf = ({ type }: RoomRequest, userId: string): Effect => ({
  type: "countDelivery",
  userId,
  isBroadcast: type === "BROADCAST",
});

const requestIdOf = (message: SocketMessage): string | undefined =>
  message.type === "DOCUMENT" ? undefined : message.requestId;

/** The pause of presence for a client that has to read first, before the room looks again. */
const LOOK_AGAIN_MS = 500;

/** Frequent messages whose success is confirmed only if they have a request id. */
const isUnconfirmed = ({ type, requestId }: RoomRequest): boolean =>
  requestId === undefined && (type === "PRESENCE_UPDATE" || type === "BROADCAST");

/** The parts of the room that messages reach. */
interface MessageParts {
  readonly ports: Pick<RoomPorts, "now" | "handling">;
  readonly participants: Participants;
  readonly queue: MessageQueue;
  readonly requests: RoomRequests;
  readonly handshake: JoinHandshake;
  readonly documentSockets: DocumentSockets;
  readonly openDocuments: OpenDocuments;
  readonly databaseRequests: DatabaseRequests;
}

export class RoomMessages {
  readonly #room: MessageParts;

  constructor(room: MessageParts) {
    this.#room = room;
  }

  /** A socket has sent a frame. Frames from sockets that the room has closed are ignored. */
  receive(id: string, data: string | ArrayBuffer): Effect[] {
    const { connections } = this.#room.participants;
    const connection = connections.get(id);
    if (connection === undefined) return [];
    const size = typeof data === "string" ? data.length : data.byteLength;
    if (connection.phase === "joined" && !this.#room.queue.countFrame(connection, size))
      return this.#disconnectFlooding(connection);
    const seen = connection.phase === "joined" ? this.#room.participants.seen(connection) : [];
    const effects = this.#receiveFrame(connection, data, size);
    return seen.length === 0 ? effects : [...seen, ...effects];
  }

  #receiveFrame(connection: Connection, data: string | ArrayBuffer, size: number): Effect[] {
    const isForDocuments = isOfDocuments(connection);
    if (connection.phase !== "joined" && isForDocuments)
      return this.#room.documentSockets.receive(connection, data);
    if (connection.phase === "joined" && typeof data !== "string")
      return this.#runOrWait(connection, { type: "DOCUMENT", bytes: new Uint8Array(data) }, size);
    if (isForDocuments) return []; // some clients add messages of their own
    const frame = parseFrame(data);
    if (frame.kind === "tooLarge")
      return this.#room.participants.disconnect([connection.id], CLOSE.frameTooLarge, "frame too large");
    if (connection.phase !== "joined") return this.#room.handshake.receive(connection, frame);
    return this.#admit(connection, frame, size);
  }

  /** Completes an `authorizeJoin` effect. */
  completeJoin(id: string, decision: JoinDecision): Effect[] {
    const { documentSockets: sockets } = this.#room;
    const asked = sockets.askAgain(id, decision);
    if (asked !== null) return asked;
    const refused = sockets.refuse(id, decision);
    return [...refused, ...this.#room.handshake.complete(id, decision), ...sockets.joined(id)];
  }

  #disconnectFlooding({ id, userId }: Joined): Effect[] {
    this.#room.queue.recordFlood(userId);
    return this.#room.participants.disconnect([id], CLOSE.flooding, "too many messages");
  }

  #admit(connection: Joined, frame: ReadableFrame, size: number): Effect[] {
    if (frame.kind === "fault") return this.#refuse(connection, size, failure(frame.fault, frame.requestId));
    return this.#runOrWait(connection, frame.message, size);
  }

  #runOrWait(connection: Joined, message: SocketMessage, size: number): Effect[] {
    const { id } = connection;
    switch (this.#room.queue.admit(connection, message, size)) {
      case "run":
        return this.#run(id, message);
      case "wait":
        return this.resumeSoon();
      case "refuse":
        return this.#refuse(connection, size, failure(TOO_MUCH, requestIdOf(message)));
      case "close":
        return this.#disconnectFlooding(connection);
    }
  }

  /** Answers a frame of `size` bytes that was read for nothing. */
  #refuse(connection: Joined, size: number, response: Response): Effect[] {
    this.#room.queue.countRefused(connection, size);
    return [send([connection.id], response)];
  }

  /** Runs the next message that waits, if its user can afford it by now. */
  resume(): Effect[] {
    const next = this.#room.queue.next();
    const { presence } = this.#room.participants;
    return [
      ...(next === null ? [] : this.#run(next.id, next.message)),
      ...presence.resume(),
      ...this.resumeSoon(),
    ];
  }

  /** Messages, or presence, wait. */
  resumeSoon(): Effect[] {
    const waits = [
      this.#room.queue.nextIn(),
      this.#room.participants.presence.hasLeft ? LOOK_AGAIN_MS : null,
    ];
    const ms = Math.min(...waits.map((wait) => wait ?? Number.POSITIVE_INFINITY));
    return Number.isFinite(ms) ? [{ type: "resumeIn", ms }] : [];
  }

  /** Handles a clean close. Messages that wait run before the user leaves. */
  leave(id: string): Effect[] {
    const connection = this.#room.participants.connections.get(id);
    const waits = connection?.phase === "joined" && this.#room.queue.admit(connection, LEAVING, 0) === "wait";
    return waits ? this.resumeSoon() : this.#room.participants.remove([id]);
  }

  /** Looks the connection up: it may have changed since the message began to wait. */
  #run(id: string, message: SocketMessage): Effect[] {
    const connection = this.#room.participants.connections.get(id);
    if (connection?.phase !== "joined") return [];
    this.#room.ports.handling?.(id, requestIdOf(message));
    switch (message.type) {
      case "DOCUMENT":
        return this.#room.openDocuments.receive(id, message.bytes);
      case "JOIN_ROOM":
        return [send([id], failure(ALREADY_JOINED, message.requestId))];
      case "LEAVE_ROOM":
        return [
          send([id], success("Room left", {}, message.requestId)),
          ...this.#room.participants.disconnect([id], CLOSE.left, "left"),
        ];
      case "TOKEN_REFRESH":
        return this.#room.handshake.refreshToken(id, message);
      case "ROOM_GET":
      case "USERS_GET":
      case "USER_FOLLOW":
      case "USER_UNFOLLOW":
        return this.#room.databaseRequests.ask(connection, message);
      case "COMMENT_CREATE":
      case "COMMENT_UPDATE":
      case "TEXT_MENTION_CREATE":
      case "TEXT_MENTION_DELETE":
        return mentionsOf(message).length === 0
          ? this.handle(connection, message)
          : this.#room.databaseRequests.ask(connection, message);
      case "MARK":
        return [
          { type: "acknowledgeRead", id, mark: message.data.mark },
          ...this.#room.participants.presence.resume(),
          ...this.resumeSoon(),
        ];
      default:
        return this.handle(connection, message);
    }
  }

  /** Handles a request of a joined socket. */
  handle(connection: Joined, request: RoomRequest): Effect[] {
    const { id, rights, userId } = connection;
    const by = { rights, userId, connection, isGuest: connection.isGuest === true, cause: null };
    const { response, effects } = this.#room.requests.handle(request, by);
    const answer = response.success && isUnconfirmed(request) ? [] : [send([id], response)];
    const { presence } = this.#room.participants;
    const isFollow = request.type === "USER_FOLLOW" && response.success;
    const seen = isFollow ? presence.followed(userId, request.data.userId) : [];
    return [...effects, ...answer, ...seen, deliveryOf(request, userId)];
  }

  /** Handles a request that came over REST. A user is charged for it, and it cannot wait. */
  request(request: RoomRequest, by: RestRequester): RequestOutcome {
    const sender = by.userId ?? ORGANIZATION;
    const { queue, requests } = this.#room;
    const isAffordable =
      request.type === "BROADCAST"
        ? queue.canBroadcast(sender)
        : by.userId === null || queue.charge(by.userId, request);
    if (!isAffordable) return { response: failure(TOO_MUCH, request.requestId), effects: [] };
    const { response, effects } = requests.handle(request, { ...by, rights: ALL_RIGHTS, connection: null });
    return { response, effects: [...effects, deliveryOf(request, sender)] };
  }
}

/** A requester over REST, whose right the database has confirmed. */
export type RestRequester = Pick<Requester, "userId" | "isGuest" | "cause">;
