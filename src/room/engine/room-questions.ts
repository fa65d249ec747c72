/** The messages that need the database: what is asked of it, and what its answers become. */
import { presentRoom } from "../../wire/room.ts";
import { presentUser } from "../../wire/user.ts";
import { failure, INTERNAL_FAULT, success, TOO_MUCH } from "../protocol/frame.ts";
import type { Fault, Response } from "../protocol/protocol.ts";
import type { DatabaseQuery, QueryResult } from "../protocol/room-request.ts";
import type { Joined } from "../transport/connection.ts";
import { send } from "../transport/connections.ts";
import type { Effect } from "../transport/effects.ts";
import type { RoomContent } from "./content/content.ts";
import type { Participants } from "./participants/participants.ts";

const NO_SUCH_USER: Fault = { module: "Users", code: "NOT_FOUND", message: "User not found" };

type Follow = Extract<DatabaseQuery, { readonly type: "USER_FOLLOW" | "USER_UNFOLLOW" }>;

interface QuestionPorts {
  now(): number;
  /** Reports an unexpected failure to the service's log. */
  report(what: string, error: unknown): void;
  /** Handles a request of a joined socket that needs nothing more of the database. */
  handle(connection: Joined, request: Follow): Effect[];
}

export class RoomQuestions {
  readonly #ports: QuestionPorts;
  readonly #participants: Participants;
  readonly #content: RoomContent;

  constructor(ports: QuestionPorts, participants: Participants, content: RoomContent) {
    this.#ports = ports;
    this.#participants = participants;
    this.#content = content;
  }

  /** Asks the database, unless the room knows what a follow needs: these stay in the order in which they were sent. */
  ask(connection: Joined, query: DatabaseQuery): Effect[] {
    const { id, userId } = connection;
    return this.#guard(id, query, () =>
      isFollow(query) && this.#hasJoined(query.data.userId)
        ? this.#ports.handle(connection, query)
        : [{ type: "queryDatabase", id, userId, query }],
    );
  }

  /** A question that cannot be handled is answered as any request that fails because of the server. */
  #guard(id: string, { type, requestId }: DatabaseQuery, work: () => Effect[]): Effect[] {
    try {
      return work();
    } catch (error) {
      this.#ports.report(`A ${type} request failed`, error);
      return [send([id], failure(INTERNAL_FAULT, requestId))];
    }
  }

  #hasJoined(userId: string): boolean {
    return this.#participants.sessions.findAttendance([userId])[userId] !== undefined;
  }

  /** Completes a `queryDatabase` effect, unless the socket is gone. */
  answer(
    { id, query }: Omit<Extract<Effect, { type: "queryDatabase" }>, "type">,
    result: QueryResult | "failed" | "refused",
  ): Effect[] {
    const connection = this.#participants.connections.get(id);
    if (connection?.phase !== "joined") return [];
    return this.#guard(id, query, () => this.#answer(connection, query, result));
  }

  #answer(connection: Joined, query: DatabaseQuery, result: QueryResult | "failed" | "refused"): Effect[] {
    const { id, userId } = connection;
    if (typeof result === "object" && "userExists" in result)
      return isFollow(query) ? this.#answerFollow(connection, query, result.userExists) : [];
    const counted: Effect = { type: "countDelivery", userId, isBroadcast: false };
    return [send([id], this.#responseOf(result, query.requestId)), counted];
  }

  #responseOf(
    result: Exclude<QueryResult, { readonly userExists: boolean }> | "failed" | "refused",
    requestId: string | undefined,
  ): Response {
    if (result === "failed") return failure(INTERNAL_FAULT, requestId);
    if (result === "refused") return failure(TOO_MUCH, requestId);
    const { sessions } = this.#participants;
    if ("room" in result) {
      const room = presentRoom(result.room, this.#ports.now(), sessions.stats);
      return success("Room retrieved", { room }, requestId);
    }
    const userIds = result.users.map((user) => user.id);
    const attendance = sessions.findAttendance(userIds);
    const data = {
      users: result.users.map((user) => presentUser(user, attendance[user.id])),
      total: result.total,
      follows: this.#content.follows.of(userIds),
      seq: this.#content.changes.lastSeq,
    };
    return success("Users retrieved", data, requestId);
  }

  /** The user may have been deleted since the database was read; a user who does not exist can be unfollowed. */
  #answerFollow(connection: Joined, query: Follow, userExists: boolean): Effect[] {
    const isGone = !userExists || this.#content.changes.hasHappened("userDeleted", query.data.userId);
    if (isGone && query.type === "USER_FOLLOW")
      return [send([connection.id], failure(NO_SUCH_USER, query.requestId))];
    return this.#ports.handle(connection, query);
  }
}

const isFollow = (query: DatabaseQuery): query is Follow =>
  query.type === "USER_FOLLOW" || query.type === "USER_UNFOLLOW";
